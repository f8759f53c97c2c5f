// @module-tag nodes
// The server over HTTP: the callers that it admits, its answers, and its faults.
import { createHash } from 'node:crypto'
import { statSync } from 'node:fs'
import { mkdtemp } from 'node:fs/promises'
import { request } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { newToken, PolitelyServer, TokenFileError } from '../src/index.ts'
import { type Answer, gateFor, httpKit, startSite } from './kit.ts'

const RULES = 'User-agent: *\nDisallow: /private\nSitemap: /sitemap.xml\nContent-Usage: train-ai=n'

/** Asks until the robots.txt of the site is known. */
async function permits(call: Awaited<ReturnType<typeof httpKit>>['call'], body: object, headers = {}) {
  return vi.waitFor(
    async () => {
      const { status, body: answer } = await call('/v1/permits', body, headers)
      if (status !== 200 || answer.results.some((one: { because?: string }) => one.because === 'robots-txt'))
        throw new Error(JSON.stringify(answer))
      return answer.results as readonly Answer[]
    },
    { timeout: 20_000, interval: 20 },
  )
}

describe('a client', () => {
  test('gets a permit, sends its request, and reports', async () => {
    const site = await startSite(RULES)
    const { call } = await httpKit({ allowPrivate: true })
    const requests = [{ id: 'a', url: `${site.origin}/a` }, { url: `${site.origin}/private` }]
    const [go, refused] = await permits(call, { client: 'test', requests })
    expect(go).toEqual({
      id: 'a',
      state: 'go',
      message: 'may be requested now, within 100 ms',
      permit: expect.stringMatching(/^p2\./),
      url: `${site.origin}/a`,
      start_within_ms: 100,
      lease_ms: 60_000,
      user_agent: 'ExampleBot/1.0',
    })
    expect(refused).toMatchObject({ state: 'refused', because: 'rule', verdict: { rule: { line: 2 } } })
    expect(refused?.message).toBe('disallowed: line 2 of robots.txt says "Disallow: /private" to *')
    const report = { permit: go?.permit, status: 200, sent_after_ms: 3, took_ms: 10 }
    expect((await call('/v1/renewals', { permits: [go?.permit] })).body).toMatchObject({ results: [{ state: 'done' }] })
    expect((await call('/v1/reports', { reports: [report] })).body).toMatchObject({ results: [{ state: 'done' }] })
    const { body: metrics } = await call('/metrics')
    expect(metrics).toMatch(/politely_server_permits_total\{state="go".*\} 1\n/)
    expect(metrics).toMatch(/politely_server_reports_total\{status_class="2xx".*\} 1\n/)
    expect(metrics).toMatch(/politely_server_expires_total\S* 0\n/)
  })

  test('reads what robots.txt says', async () => {
    const { origin } = await startSite(RULES)
    const { call, origin: server } = await httpKit({ allowPrivate: true })
    const get = async (path: string, page: string) => (await call(`/v1/${path}?url=${origin}${page}`)).body
    expect(await get('robots', '/')).toMatchObject({ origin, text: RULES, access: { outcome: 'success' } })
    expect(await get('explain', '/private/x')).toMatchObject({ verdict: { allowed: false }, explanation: {} })
    expect(await get('sitemaps', '/')).toMatchObject({ sitemaps: [`${origin}/sitemap.xml`] })
    expect(JSON.stringify(await get('usage', '/a'))).toContain('train-ai')
    expect(await get('forecast', '/a')).toMatchObject({ allowed: true, waitMs: 0 })
    const lines = `{"url":"${origin}/a","id":"1"}\n\n{"url":"${origin}/private"}\n{"url":"x"}\n`
    const headers = { 'content-type': 'application/x-ndjson' }
    const response = await fetch(`${server}/v1/check`, { method: 'POST', body: lines, headers })
    const verdicts = (await response.text())
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line))
    expect(verdicts.map(({ id, verdict }) => [id, verdict.because])).toEqual([
      ['1', 'no-rule-matched'],
      [undefined, 'rule'],
      [undefined, 'invalid-url'],
    ])
  })
})

describe('a fault', () => {
  test.each([
    ['/v1/permits', { requests: [] }, 400, 'body.requests: a list of 0 items is not a list of 1 to 500 items'],
    [
      '/v1/permits',
      { holdMs: 1, requests: [{ url: 'x' }] },
      400,
      'body.holdMs is unknown; did you mean hold_ms? The fields are client, start_within_ms, hold_ms, lease_ms and requests',
    ],
    [
      '/v1/permits',
      { requests: [{ url: 'x' }, { url: 'x', method: 'y' }] },
      400,
      'body.requests[1].method is unknown; the fields are id, url and ticket',
    ],
    ['/v1/permits', { requests: Array(501).fill({ url: 'x' }) }, 400, /a list of 501 items is not a list of 1 to 500/],
    ['/v1/permits', { hold_ms: 20_001, requests: [{ url: 'x' }] }, 400, /hold_ms: 20001 is not an integer from 0 to/],
    ['/v1/permits', { hold_ms: '1', requests: [{ url: 'x' }] }, 400, /body\.hold_ms: "1" is not an integer from 0 to/],
    ['/v1/permits', { requests: [{ url: 'x'.repeat(9_000) }] }, 400, /a text of 9000 characters is not a text of at/],
    ['/v1/permits', { requests: ['x'] }, 400, 'body.requests[0]: "x" is not an object with id, url and ticket'],
    ['/v1/permits', {}, 400, 'body.requests is missing; expected a list of 1 to 500 items'],
    ['/v1/reports', { reports: [{ permit: 'p', status: 99 }] }, 400, /\[0\]\.status: 99 is not an integer from 100/],
    [
      '/v1/reports',
      { reports: [{ permit: 'p', outcome: 'ok' }] },
      400,
      'body.reports[0].outcome: "ok" is not "failed", "rate-limited" or "not-sent"',
    ],
    ['/v1/reports', { reports: [{ permit: 'p', retry_after: -1 }] }, 400, /-1 is not a text .* or a number from 0/],
    ['/v1/robots', undefined, 400, 'query.url is missing; expected a text of at most 8192 characters'],
    ['/v1/robots?url=file:///etc/passwd', undefined, 400, /not an absolute http/],
    ['/v1/permits', undefined, 405, /\/v1\/permits has no GET; send POST/],
    ['/v1/nothing', undefined, 404, /does not exist/],
    ['/v1/fetch', { url: 'http://example.com' }, 404, /--fetch/],
  ])('of %s with %j is a problem', async (path, body, status, detail) => {
    const { call } = await httpKit()
    const answer = await call(path, body)
    expect(answer).toMatchObject({
      status,
      body: {
        status,
        title: expect.any(String),
        detail: typeof detail === 'string' ? detail : expect.stringMatching(detail),
      },
    })
    expect(answer.body.type).toMatch(/^urn:politely:problem:[a-z-]+$/)
  })
})

test('a call with another method is told the methods of its path', async () => {
  const { origin } = await httpKit()
  const allowed = async (method: string, path: string) => {
    const { status, headers } = await fetch(`${origin}${path}`, { method })
    return [status, headers.get('allow'), headers.get('politely-api')]
  }
  expect(await allowed('GET', '/v1/permits?x')).toEqual([405, 'POST', '1.1.0'])
  expect(await allowed('DELETE', '/v1/robots')).toEqual([405, 'GET, HEAD', '1.1.0'])
  expect(await allowed('GET', '/v2/permits')).toEqual([404, null, '1.1.0'])
})

describe('who may call', () => {
  test.each([
    ['a page of another site', { origin: 'https://evil.example' }],
    ['a page of this machine', { origin: 'http://localhost:3000' }],
    ['a host name that was rebound', { host: 'evil.example' }],
    ['a form', { 'content-type': 'text/plain' }],
    ['an image of a page', { 'sec-fetch-site': 'cross-site' }],
  ])('not %s', async (_, headers) => {
    const { origin } = await httpKit()
    const { port } = new URL(origin)
    const sent = request({
      port,
      path: '/v1/permits',
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
    })
    sent.end('{"requests":[{"url":"http://site.example/"}]}')
    const status = await new Promise((resolve) =>
      sent.on('response', (response) => resolve(response.resume().statusCode)),
    )
    expect(status).toBe(403)
  })

  test('those with a token, once there are tokens', async () => {
    const [one, two] = [newToken('one'), newToken('two')]
    const { call, server } = await httpKit({ tokens: `# callers\n${one.line} permits=5 share=0.5\n` })
    const body = { requests: [{ url: 'x' }] }
    const bearer = ({ token }: { token: string }) => ({ authorization: `Bearer ${token}` })
    expect((await call('/v1/permits', body)).status).toBe(401)
    expect((await call('/metrics')).status).toBe(401)
    expect((await call('/v1/permits', body, bearer(two))).body).toMatchObject({ status: 401, detail: /Bearer TOKEN/ })
    expect((await call('/v1/permits', body, bearer(one))).status).toBe(200)
    expect((await call('/livez')).status).toBe(200)
    expect((await call('/readyz')).status).toBe(200)
    for (const empty of ['', '# none\n']) expect(() => server.loadTokens(empty)).toThrow(/there is no token in it/)
    expect((await call('/metrics')).status).toBe(401)
    server.loadTokens(two.line)
    expect((await call('/v1/permits', body, bearer(one))).status).toBe(401)
    expect((await call('/v1/permits', body, bearer(two))).status).toBe(200)
    expect(() => server.loadTokens('three nonsense')).toThrow(TokenFileError)
    expect((await call('/v1/permits', body, bearer(two))).status).toBe(200)
  })

  test('a token is 256 bits, and the file has its SHA-256 only', () => {
    const { token, line } = newToken('name')
    expect(Buffer.from(token.replace('politely_', ''), 'base64url')).toHaveLength(32)
    expect(line).toBe(`name sha256:${createHash('sha256').update(token).digest('hex')}`)
  })

  test.each([
    ['one sha256:00', /line 1 of the token file: "sha256:00" is not a hash/],
    [`\n!! sha256:${'0'.repeat(64)}`, /line 2 .*"!!" is not a name/],
    [`one sha256:${'0'.repeat(64)} speed=1`, /"speed=1" is not a quota; write one of permits, per-second/],
    [`one sha256:${'0'.repeat(64)} share=2`, /"share=2" is not a quota/],
    [`one sha256:${'0'.repeat(64)}\ntwo sha256:${'0'.repeat(64)}`, /line 2 .*token of an earlier line/],
  ])('a token file %j is refused', (tokens, message) => {
    const gate = gateFor()
    expect(() => new PolitelyServer({ gate, tokens })).toThrow(message)
  })

  test('an address that others can reach needs tokens and TLS', async () => {
    const { server } = await httpKit()
    await expect(server.listen({ port: 0, host: '0.0.0.0' })).rejects.toThrow(/^tokens: is missing/)
    const guarded = await httpKit({ tokens: newToken('a').line })
    await expect(guarded.server.listen({ port: 0, host: '0.0.0.0' })).rejects.toThrow(/^tls: is missing/)
    await expect(guarded.server.listen({ port: 0, host: '0.0.0.0', behindTls: true })).resolves.toMatch(/^http:/)
  })

  test('over a UNIX socket, this user only, and for private hosts too', async () => {
    const site = await startSite('')
    const folder = await mkdtemp(join(tmpdir(), 'politely-server-'))
    const socketPath = join(folder, 'gate.sock')
    const { server } = await httpKit({ tokens: newToken('a').line })
    expect(await server.listen({ socket: socketPath })).toBe(socketPath)
    expect(statSync(socketPath).mode & 0o777).toBe(0o600)
    const ask = () =>
      new Promise<{ results: { state: string }[] }>((resolve, reject) => {
        const sent = request({
          socketPath,
          path: '/v1/permits',
          method: 'POST',
          headers: { 'content-type': 'application/json' },
        })
        sent.on('error', reject)
        sent.on('response', async (response) => resolve(JSON.parse(Buffer.concat(await response.toArray()).toString())))
        sent.end(JSON.stringify({ requests: [{ url: `${site.origin}/` }] }))
      })
    await vi.waitFor(async () => expect(await ask()).toMatchObject({ results: [{ state: 'go' }] }), { interval: 20 })
  })
})

describe('private hosts', () => {
  test.each([
    'http://127.0.0.1:PORT/',
    'http://localhost:PORT/',
    'http://[::ffff:127.0.0.1]:PORT/',
    'http://[::1]:PORT/',
    'http://0x7f.1:PORT/',
    'http://169.254.169.254/latest/meta-data',
    'http://10.0.0.1/',
    'http://metadata.internal/',
  ])('%s is refused to callers over TCP, and gets no request', async (text) => {
    const site = await startSite('')
    const url = text.replace('PORT', new URL(site.origin).port)
    const { call } = await httpKit({ fetch: true })
    const [result] = await permits(call, { requests: [{ url }] })
    expect(result).toMatchObject({ state: 'refused', because: 'unreachable' })
    expect(JSON.stringify(result)).not.toMatch(/allowAddresses|network:/)
    const { body: check } = await call(`/v1/explain?url=${encodeURIComponent(url)}`)
    expect(check.verdict.allowed).toBe(false)
    expect((await call('/v1/fetch', { url })).body).toContain('"state":"refused"')
    expect(site.requests).toEqual([])
  })

  test.each([
    ['http://127.0.0.1:1/', 'with --allow-address 127.0.0.1, or with --allow-private'],
    ['http://localhost:1/', 'with --allow-address 127.0.0.1, or with --allow-private'],
    ['http://198.18.0.1/', 'with --allow-address 198.18.0.0/15, or with --allow-private'],
  ])('the refusal of %s names flags of the server', async (url, flags) => {
    const { call } = await httpKit()
    const [result] = await permits(call, { requests: [{ url }] })
    expect(result?.message).toContain(`start the server ${flags}`)
    for (const path of ['robots', 'explain', 'sitemaps', 'usage', 'forecast']) {
      const { body } = await call(`/v1/${path}?url=${encodeURIComponent(url)}`)
      expect(JSON.stringify(body), path).toContain(`start the server ${flags}`)
      expect(JSON.stringify(body), path).not.toContain('allowAddresses')
    }
  })

  test('a name that leads to one is refused', async () => {
    const site = await startSite('')
    const lookup = ((_: string, options: { all?: boolean }, done: (...args: unknown[]) => void) =>
      options.all ? done(null, [{ address: '127.0.0.1', family: 4 }]) : done(null, '127.0.0.1', 4)) as never
    const { RobotsClient } = await import('@politely/fetcher')
    const { PoliteGate } = await import('@politely/gate')
    const robots = new RobotsClient({ userAgent: 'ExampleBot/1.0', lookup, retries: 0 })
    const gate = new PoliteGate({ robots })
    const server = new PolitelyServer({ gate })
    onTestFinished(async () => {
      await server.close()
      gate.close()
      await robots.close()
    })
    const origin = await server.listen({ port: 0 })
    const ask = async () => {
      const body = JSON.stringify({ requests: [{ url: `http://rebound.example.com:${new URL(site.origin).port}/` }] })
      const headers = { 'content-type': 'application/json' }
      return (await (await fetch(`${origin}/v1/permits`, { method: 'POST', body, headers })).json()) as Answer
    }
    await vi.waitFor(async () => expect((await ask()).results[0]).toMatchObject({ state: 'refused' }), {
      interval: 20,
      timeout: 20_000,
    })
    expect(site.requests).toEqual([])
  })
})

test('POST /v1/fetch requests a page: its head in a line, and then its bytes', async () => {
  const site = await startSite(RULES)
  const { call } = await httpKit({ fetch: true, allowPrivate: true })
  const { body } = await call('/v1/fetch', { url: `${site.origin}/a` })
  const [head, ...rest] = (body as string).split('\n')
  expect(JSON.parse(head as string)).toMatchObject({ state: 'page', status: 200, url: `${site.origin}/a` })
  expect(rest.join('\n')).toBe('page /a')
  expect(JSON.parse((await call('/v1/fetch', { url: `${site.origin}/private` })).body)).toMatchObject({
    state: 'refused',
    because: 'rule',
  })
  await expect(call('/v1/fetch', { url: `${site.origin}/a`, max_bytes: 3 })).rejects.toThrow(/terminated|fetch failed/)
  expect((await call('/v1/fetch', { url: `${site.origin}/a`, headers: { 'User-Agent': 'Other' } })).status).toBe(400)
  const unreachable = await call('/v1/fetch', { url: 'http://127.0.0.1:1/' })
  expect(unreachable).toMatchObject({ status: 200, body: expect.stringContaining('"state":"refused"') })
})
