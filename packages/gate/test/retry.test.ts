// `retry`: requests that fail are sent again, each time through the gate. The pauses take real time,
// so the tests run at the same time.
import { firstInShortRun } from '@politely/testkit/scope'
import { afterAll, describe, expect, test } from 'vitest'
import { type PolitelyOptions, politely, usageOf } from '../src/index.ts'
import { kits } from './kits.ts'
import { type Page, Site } from './site.ts'

const status =
  (code: number, headers: Readonly<Record<string, string>> = {}): Page =>
  (_, response) =>
    response.writeHead(code, headers).end(`status ${code}`)
const reset: Page = (request) => request.socket.destroy()
const brokenBody: Page = (_, response) => {
  response.writeHead(200, { 'content-length': '100' }).write('the beginning', () => response.destroy())
}
const ok: Page = (_, response) => response.writeHead(200, { 'x-page': 'yes' }).end('the page')

const opened: { close(): Promise<void> }[] = []
afterAll(async () => {
  for (const each of opened) await each.close()
})

describe.each(firstInShortRun(kits))('politely($name, { retry })', ({ fetch, Request }) => {
  /** A site whose `/page` answers in turn as the list says; the last answer stays. */
  async function open(answers: readonly Page[], options: Partial<PolitelyOptions> = {}) {
    const site = await Site.open()
    let next = 0
    site.pages.set('/page', (...args) => answers[Math.min(next++, answers.length - 1)]?.(...args))
    const politeFetch = politely(fetch, {
      userAgent: 'ExampleBot/1.0',
      minDelayMs: 0,
      backoff: { firstMs: 1 },
      retry: { attempts: 3 },
      ...options,
    } as PolitelyOptions)
    opened.push(politeFetch, site)
    return { site, politeFetch, url: `${site.origin}/page` }
  }

  test.concurrent('sends a request again after a reset and a 503, and resolves with the page', async () => {
    const { site, politeFetch, url } = await open([reset, status(503), ok])
    const response = await politeFetch(new Request(url))
    expect([response.status, await response.text()]).toEqual([200, 'the page'])
    expect(site.lines).toEqual(['GET /page', 'GET /page', 'GET /page'])
    expect(politeFetch.gate.counters).toMatchObject({ started: 3, done: 3 })
    expect(politeFetch.gate.queues()).toEqual([])
  })

  test.concurrent('returns the last response unchanged', async () => {
    const { politeFetch, url } = await open([status(500), status(502)], { retry: { attempts: 2 } })
    const response = await politeFetch(url)
    expect([response.status, response.url, await response.text()]).toEqual([502, url, 'status 502'])
  })

  test.concurrent('rejects with the last error unchanged', async () => {
    const { site, politeFetch, url } = await open([reset], { retry: { attempts: 2 } })
    await expect(politeFetch(url)).rejects.toMatchObject({ message: 'fetch failed' })
    expect(site.seen).toHaveLength(2)
  })

  test.concurrent('waits for as long as the site asks', async () => {
    const { site, politeFetch, url } = await open([status(429, { 'retry-after': '3' }), ok])
    expect((await politeFetch(url)).status).toBe(200)
    const [first, second] = site.seen
    expect(Number(second?.at) - Number(first?.at)).toBeGreaterThan(2_990)
  })

  test.concurrent.each<[string, RequestInit]>([
    ['a POST', { method: 'POST', body: 'text' }],
    ['a stream as the body', { method: 'PUT', body: new Blob(['text']).stream(), duplex: 'half' } as RequestInit],
  ])('does not send %s twice', async (_, init) => {
    const { site, politeFetch, url } = await open([status(503)])
    expect((await politeFetch(url, init)).status).toBe(503)
    expect(site.seen).toHaveLength(1)
  })

  test.concurrent('sends a PUT with a text again', async () => {
    const { site, politeFetch, url } = await open([status(503), ok])
    expect((await politeFetch(url, { method: 'PUT', body: 'text' })).status).toBe(200)
    expect(site.seen.map(({ body }) => body)).toEqual(['text', 'text'])
  })

  test.concurrent('repeats the hop of a redirect that fails, and not the one before', async () => {
    const { site, politeFetch } = await open([status(503), ok])
    site.pages.set('/old', (_, response) => response.writeHead(301, { location: '/page' }).end())
    const response = await politeFetch(`${site.origin}/old`)
    expect([response.status, response.redirected]).toEqual([200, true])
    expect(site.lines).toEqual(['GET /old', 'GET /page', 'GET /page'])
  })

  test.concurrent('requests a body again that breaks off, and reads it before the call resolves', async () => {
    const { site, politeFetch, url } = await open([brokenBody, ok], { retry: { attempts: 3, bufferBytes: 1_000 } })
    const response = await politeFetch(url)
    expect([response.status, response.url, response.headers.get('x-page')]).toEqual([200, url, 'yes'])
    expect((await usageOf(response)).url).toBe(url)
    expect(await response.text()).toBe('the page')
    expect(site.lines.filter((line) => line === 'GET /page')).toHaveLength(2)
  })

  test.concurrent('passes a longer body on as it arrives', async () => {
    const text = 'x'.repeat(300_000)
    const long: Page = (_, response) => response.end(text)
    const { politeFetch, url } = await open([long], { retry: { attempts: 3, bufferBytes: 1_000 } })
    expect(await (await politeFetch(url)).text()).toBe(text)
    const cancelled = await politeFetch(url)
    await cancelled.body?.cancel()
  })

  test.concurrent('stops at an abort, with its reason', async () => {
    const aborting = new AbortController()
    const busy: Page = (_, response) => {
      response.writeHead(503).end('busy')
      setTimeout(() => aborting.abort(new Error('enough')), 100)
    }
    const { site, politeFetch, url } = await open([busy], { retry: { attempts: 10 } })
    const call = politeFetch(url, { signal: aborting.signal })
    await expect(call).rejects.toThrow('enough')
    expect(site.seen).toHaveLength(1)
  })

  test.concurrent('keeps the response before it if the gate refuses the next attempt', async () => {
    const { site, politeFetch, url } = await open([status(503)], { budget: 1 })
    const response = await politeFetch(url)
    expect([response.status, await response.text()]).toEqual([503, 'status 503'])
    expect(site.seen).toHaveLength(1)
  })

  test.concurrent('repeats only the outcomes that the option names', async () => {
    const { site, politeFetch, url } = await open([status(503), ok], {
      retry: { attempts: 3, outcomes: ['connection'] },
    })
    expect((await politeFetch(url)).status).toBe(503)
    expect(site.seen).toHaveLength(1)
  })
})

test('an invalid option is named, with what to write', () => {
  const wrong = (retry: unknown) => () => politely(globalThis.fetch, { userAgent: 'ExampleBot/1.0', retry } as never)
  expect(wrong(3)).toThrow('retry: 3 is not an object of options; expected one such as { attempts: 3 }')
  expect(wrong({})).toThrow('retry.attempts')
  expect(wrong({ attempts: 1 })).toThrow('retry.attempts: 1 is out of range')
  expect(wrong({ attempts: 2, limit: 3 })).toThrow('retry.limit')
  expect(wrong({ attempts: 2, outcomes: ['served'] })).toThrow('retry.outcomes[0]')
  expect(wrong({ attempts: 2, bufferBytes: -1 })).toThrow('retry.bufferBytes')
})
