// What a server answers that is busy, or that stops.
import { once } from 'node:events'
import { request } from 'node:http'
import { connect } from 'node:net'
import { afterEach, expect, test, vi } from 'vitest'
import { BusyWatch } from '../src/event-loop.ts'
import { type Answer, httpKit, startSite } from './kit.ts'

afterEach(() => {
  vi.restoreAllMocks()
})

test('a busy server lets permits wait, and still takes reports', async () => {
  const { call } = await httpKit()
  const isBusy = vi.spyOn(BusyWatch.prototype, 'isBusy', 'get').mockReturnValue(true)
  const requests = [{ id: '1', url: 'x', ticket: 't.1' }, { url: 'y' }]
  expect(await call('/v1/permits', { hold_ms: 1_000, requests })).toEqual({
    status: 200,
    body: {
      held_ms: 0,
      results: [
        { id: '1', state: 'wait', wait_ms: 1_000, because: 'server-busy', ticket: 't.1' },
        { state: 'wait', wait_ms: 1_000, because: 'server-busy' },
      ].map((result) => expect.objectContaining(result)),
    },
  })
  const answers = await Promise.all([
    call('/v1/reports', { reports: [{ permit: 'p' }] }),
    call('/v1/renewals', { permits: ['p'] }),
    ...['/livez', '/readyz', '/metrics', '/openapi.json'].map((path) => call(path)),
  ])
  expect(answers.map(({ status }) => status)).toEqual(Array(6).fill(200))
  expect((await call('/metrics')).body).toMatch(/politely_server_permits_total\{state="server-busy".*\} 2\n/)
  isBusy.mockReturnValue(false)
  expect((await call('/v1/permits', { requests: [{ url: 'y' }] })).body.results[0].state).toBe('refused')
})

test('a busy server answers 503 to calls that need no permit', async () => {
  const { origin } = await httpKit({ fetch: true })
  vi.spyOn(BusyWatch.prototype, 'isBusy', 'get').mockReturnValue(true)
  const post = (path: string, type: string, body: string) =>
    fetch(`${origin}${path}`, { method: 'POST', headers: { 'content-type': `application/${type}` }, body })
  const responses = await Promise.all([
    post('/v1/check', 'x-ndjson', '{"url":"http://site.example/"}'),
    post('/v1/fetch', 'json', '{"url":"http://site.example/"}'),
    fetch(`${origin}/v1/robots?url=http://site.example/`),
  ])
  const seen = responses.map(({ status, headers }) => `${status} ${headers.get('retry-after')}`)
  expect(seen).toEqual(['503 1', '503 1', '503 1'])
})

test('a server that is closed first answers the calls that it holds, and ends their connections', async () => {
  const site = await startSite('User-agent: *\nCrawl-delay: 30')
  const { call, origin, server } = await httpKit({ allowPrivate: true })
  const requests = [{ url: `${site.origin}/a` }]
  await vi.waitFor(
    async () => {
      const { results } = (await call('/v1/permits', { requests })).body
      expect(results[0].because).not.toBe('robots-txt')
    },
    { timeout: 20_000, interval: 20 },
  )
  const held = request(`${origin}/v1/permits`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', connection: 'keep-alive' },
  })
  held.end(JSON.stringify({ hold_ms: 20_000, requests: Array(40).fill(requests[0]) }))
  const answered = once(held, 'response')
  await vi.waitFor(async () => expect((await call('/metrics')).body).toMatch(/politely_server_waiting\S* [1-9]/), {
    timeout: 20_000,
    interval: 20,
  })
  await server.close()
  const [response] = await answered
  const { results }: Answer = JSON.parse(Buffer.concat(await response.toArray()).toString())
  expect(response.headers.connection).toBe('close')
  expect(results).toHaveLength(40)
  expect(results.at(-1)).toMatchObject({ state: 'wait', because: 'draining' })
  const late = connect(Number(new URL(origin).port))
  await expect(once(late, 'connect')).rejects.toThrow(/ECONNREFUSED/)
})

test.each([
  ['connection', 'close'],
  ['Transfer-Encoding', 'chunked'],
  ['content-length', '3'],
  ['keep-alive', '5'],
  ['TE', 'trailers'],
  ['upgrade', 'h2c'],
  ['user-agent', 'Other/1.0'],
  ['a name', 'x'],
  ['x-line', 'a\nb'],
  ['x-character', 'ł'],
])('POST /v1/fetch refuses the header %s, and spends no slot', async (name, value) => {
  const site = await startSite('')
  const { call } = await httpKit({ fetch: true, allowPrivate: true })
  const answer = await call('/v1/fetch', { url: `${site.origin}/a`, headers: { accept: '*/*', [name]: value } })
  expect(answer).toMatchObject({ status: 400, body: { detail: expect.stringContaining(`headers: "${name}"`) } })
  expect(site.requests).toEqual([])
})

test.each([
  ['/v1/permits', `{"requests":${'['.repeat(9)}${']'.repeat(9)}}`, /^the body has more than 8 levels/],
  ['/v1/reports', `[${'{},'.repeat(5_000)}{}]`, /^the body has more than 5000 arrays and objects/],
  ['/v1/permits', '{"__proto__":{"requests":[]}}', /JSON/],
  ['/v1/permits', '{"requests":[{"url":"\\\\\\"[[[[[[[[[["}],"x":1}', /^body\.x is unknown/],
  ['/v1/check', `{"url":"x"}\n${'['.repeat(9)}`, /^line 2 has more than 8 levels/],
])('%s refuses %s', async (path, body, detail) => {
  const { origin } = await httpKit()
  const type = path === '/v1/check' ? 'x-ndjson' : 'json'
  const headers = { 'content-type': `application/${type}` }
  const response = await fetch(`${origin}${path}`, { method: 'POST', headers, body })
  expect(await response.json()).toMatchObject({ status: 400, detail: expect.stringMatching(detail) })
})
