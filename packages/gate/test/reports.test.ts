// What the caller reports about a request: a response, a rate limit that only its text shows, or a
// failure; and how the options `backoff`, `rateLimitHeaders` and `isRateLimited` read it.
import { Agent, get } from 'node:http'
import { Readable } from 'node:stream'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import {
  type PacingOptions,
  type PoliteGate,
  politeHttpAgent,
  politely,
  type RequestReport,
  resolveGate,
} from '../src/index.ts'
import { politeAgent } from '../src/undici/index.ts'
import { kits } from './kits.ts'
import { lookup, Site } from './site.ts'

let site: Site
beforeEach(async () => {
  site = await Site.open({ '*': '' })
  site.pages.set('/limit', (_, response) => void response.writeHead(200).end('<p>Too many requests: wait.</p>'))
  site.pages.set('/reset', (request) => void request.socket.destroy())
})
afterEach(() => site.close())

const client = () => ({ userAgent: 'ExampleBot/1.0', minDelayMs: 0, lookup, network: 'any' as const, retries: 0 })

/** Reports one request, and returns how long the next one has to wait. Seconds. */
async function pauseAfter(options: PacingOptions, ...reports: RequestReport[]): Promise<number> {
  const { gate, close } = resolveGate({ ...client(), ...options })
  const permit = await gate.enter(`${site.origin}/1`)
  for (const report of reports) permit.report(report)
  permit.release()
  const forecast = await gate.when(`${site.origin}/2`)
  await close()
  return forecast.allowed ? Math.round(forecast.waitMs / 1_000) : Number.NaN
}

const saying = (status: number, headers: Readonly<Record<string, string>> = {}) => ({ status, headers })

test.for<readonly [string, PacingOptions, readonly RequestReport[], number]>([
  ['429', {}, [saying(429)], 5],
  ['any status with Retry-After', {}, [saying(200, { 'retry-after': '7' })], 7],
  ['403', {}, [saying(403)], 0],
  ['403 in backoff.statuses', { backoff: { statuses: [403] } }, [saying(403)], 5],
  ['429 that is not in backoff.statuses', { backoff: { statuses: [403] } }, [saying(429)], 0],
  ['429 with backoff.firstMs', { backoff: { firstMs: 60_000 } }, [saying(429)], 60],
  ['a rate limit', {}, [{ rateLimited: true }], 5],
  ['a rate limit for 90 s', {}, [{ rateLimited: true, retryAfterMs: 90_000 }], 90],
  ['a rate limit with Retry-After', {}, [{ rateLimited: true, ...saying(200, { 'retry-after': '30' }) }], 30],
  ['a rate limit after a report', {}, [saying(200), { rateLimited: true, retryAfterMs: 90_000 }], 90],
  ['a rate limit without a time after a report', {}, [saying(200), { rateLimited: true, retryAfterMs: 0 }], 5],
  ['a rate limit after a pushback', {}, [saying(429, { 'retry-after': '2' }), { rateLimited: true }], 2],
  ['a longer one after a pushback', {}, [saying(429), { rateLimited: true, retryAfterMs: 90_000 }], 90],
  ['a second response', {}, [saying(200), saying(429)], 0],
  ['a failure', {}, [{ failed: true }], 0],
  ['a failure that counts', { backoff: { failures: true } }, [{ failed: true }], 5],
  ['RateLimit headers', {}, [saying(200, { ratelimit: '"default";r=0;t=40' })], 0],
  [
    'RateLimit headers that are read',
    { rateLimitHeaders: true },
    [saying(200, { ratelimit: '"default";r=0;t=40' })],
    40,
  ],
  [
    'RateLimit headers of a rate limit',
    { rateLimitHeaders: true },
    [{ rateLimited: true, ...saying(403, { ratelimit: '"default";r=0;t=40' }) }],
    40,
  ],
  ['half of a quota', { rateLimitHeaders: true }, [saying(200, { ratelimit: '"default";r=2;t=40' })], 20],
])('the pause after %s', async ([, options, reports, seconds]) => {
  expect(await pauseAfter(options, ...reports)).toBe(seconds)
})

test('counts a rate limit, and names its reason', async () => {
  const { gate, close } = resolveGate({ ...client(), rateLimitHeaders: true })
  ;(await gate.enter(`${site.origin}/1`)).release(
    saying(200, { 'x-ratelimit-remaining': '0', 'x-ratelimit-reset': '9' }),
  )
  expect(await gate.when(`${site.origin}/2`)).toMatchObject({ because: 'rate-limit' })
  ;(await gate.enter('http://127.0.0.2:9/', { maxWaitMs: 0 }).catch(() => undefined))?.release()
  expect(gate.counters.pushbacks).toBe(0)
  await close()
})

test('rejects a report that is none', async () => {
  const { gate, close } = resolveGate(client())
  const permit = await gate.enter(`${site.origin}/1`)
  expect(() => permit.report({ rateLimited: true, retryAfterMs: -1 })).toThrow(
    '`retryAfterMs` is -1; expected milliseconds, such as 60_000, or nothing',
  )
  permit.release()
  await close()
})

test('backoff.jitter makes a pause longer, never shorter', async () => {
  for (let n = 0; n < 20; n++) {
    const seconds = await pauseAfter({ backoff: { firstMs: 100_000, jitter: 0.5 } }, saying(429))
    expect(seconds).toBeGreaterThanOrEqual(100)
    expect(seconds).toBeLessThanOrEqual(150)
  }
})

test.each(kits)('$name: isRateLimited reads the text of a page, and the caller can read it too', async ({ fetch }) => {
  await using polite = politely(fetch, {
    ...client(),
    isRateLimited: async (response) =>
      (await response.text()).includes('Too many requests') && { retryAfterMs: 60_000 },
  })
  expect(await (await polite(`${site.origin}/page`)).text()).toBeTypeOf('string')
  expect(await polite.gate.when(`${site.origin}/2`)).toMatchObject({ waitMs: 0 })
  expect(await (await polite(`${site.origin}/limit`)).text()).toBe('<p>Too many requests: wait.</p>')
  expect(await polite.gate.when(`${site.origin}/2`)).toMatchObject({ because: 'retry-after' })
  expect(polite.gate.counters.pushbacks).toBe(1)
})

test('isRateLimited by status alone lets a pause grow', async () => {
  await using polite = politely(globalThis.fetch, {
    ...client(),
    backoff: { firstMs: 20 },
    isRateLimited: ({ status }) => status === 200,
  })
  for (let n = 0; n < 4; n++) await (await polite(`${site.origin}/limit`)).text()
  const forecast = await polite.gate.when(`${site.origin}/2`)
  expect(forecast).toMatchObject({ because: 'backoff' })
  expect(forecast.allowed && forecast.waitMs).toBeGreaterThan(100) // the fourth pause: 160 ms
})

test('isRateLimited that throws, or returns something else, rejects the call and releases the permit', async () => {
  const error = new Error('not readable')
  const answers = [() => Promise.reject(error), () => 'yes' as unknown as boolean, () => ({ retryAfterMs: -1 })]
  for (const isRateLimited of answers) {
    await using polite = politely(globalThis.fetch, { ...client(), isRateLimited, backoff: { failures: true } })
    await expect(polite(`${site.origin}/page`)).rejects.toThrow(
      /not readable|isRateLimited: returned ("yes"|{ retryAfterMs: -1 }); expected true/,
    )
    expect(polite.gate.gauges.underWay).toBe(0)
    expect(polite.gate.counters.pushbacks).toBe(0) // the site has sent a response
  }
})

test('isRateLimited that throws does not hide the pause that the response asks for', async () => {
  site.pages.set('/busy', (_, response) => void response.writeHead(429, { 'retry-after': '60' }).end('busy'))
  const abort = new AbortController()
  const isRateLimited = async (response: Response) => {
    abort.abort()
    return (await response.text()) === 'wait'
  }
  await using polite = politely(globalThis.fetch, { ...client(), isRateLimited })
  await expect(polite(`${site.origin}/busy`, { signal: abort.signal })).rejects.toThrow('abort')
  expect(await polite.gate.when(`${site.origin}/2`)).toMatchObject({ because: 'retry-after' })
})

test('a pushback counts before isRateLimited has read its body', async () => {
  site.pages.set('/busy', (_, response) => void response.writeHead(429, { 'retry-after': '60' }).write('busy'))
  const isReading = Promise.withResolvers<void>()
  const abort = new AbortController()
  const isRateLimited = (response: Response) => {
    isReading.resolve()
    return response.text().then(() => true)
  }
  await using polite = politely(globalThis.fetch, { ...client(), isRateLimited })
  const busy = polite(`${site.origin}/busy`, { signal: abort.signal }).catch((error: Error) => error.name)
  await isReading.promise
  expect(await polite.gate.when(`${site.origin}/2`)).toMatchObject({ because: 'retry-after' })
  abort.abort()
  expect(await busy).toBe('AbortError')
  expect(polite.gate.counters.pushbacks).toBe(1)
})

const readSome = async ({ body }: Response) => {
  const reader = body?.getReader()
  await reader?.read()
  reader?.releaseLock()
  return false
}
const fail = () => Promise.reject(new Error('not readable'))

test.each([
  ['reads nothing', () => false],
  ['reads a part', readSome],
  ['throws', fail],
] as const)('if isRateLimited %s, the body can be cancelled', async (_, isRateLimited) => {
  const cancel = vi.fn()
  const endless = async (_url: string) => {
    const pull = (controller: ReadableStreamDefaultController) => controller.enqueue(new Uint8Array(1_000))
    return new Response(new ReadableStream({ pull, cancel }))
  }
  await using polite = politely(endless, { ...client(), robotsVia: 'own', isRateLimited })
  const response = await polite(`${site.origin}/page`).catch(() => undefined)
  await response?.body?.cancel()
  await expect.poll(() => cancel).toHaveBeenCalled()
})

test('isRateLimited gets a copy of a response whose body is a stream of Node', async () => {
  const bodies: Readable[] = []
  const nodeFetch = async (_url: string) => {
    const copy = () => {
      const body = Readable.from(['page'])
      bodies.push(body)
      return { status: 200, headers: new Headers(), body, clone: copy }
    }
    return copy() as unknown as Response
  }
  await using polite = politely(nodeFetch, { ...client(), robotsVia: 'own', isRateLimited: () => false })
  await polite(`${site.origin}/page`)
  expect(bodies.map(({ destroyed }) => destroyed)).toEqual([false, true])
})

/** Fetches a URL in each of three ways. */
const ways: Readonly<
  Record<string, (options: PacingOptions, url: string, signal?: AbortSignal) => Promise<PoliteGate>>
> = {
  async politely(options, url, signal) {
    const fetch = politely(globalThis.fetch, { ...client(), ...options })
    await fetch(url, { ...(signal && { signal }) }).catch(() => undefined)
    return fetch.gate
  },
  async politeAgent(options, url, signal) {
    const agent = politeAgent({ ...client(), ...options })
    await agent
      .request({ origin: site.origin, path: new URL(url).pathname, method: 'GET', ...(signal && { signal }) })
      .catch(() => undefined)
    return agent.gate
  },
  async politeHttpAgent(options, url, signal) {
    const { gate } = resolveGate({ ...client(), ...options })
    await new Promise<void>((resolve) => {
      get(url, { agent: politeHttpAgent(new Agent(), gate), ...(signal && { signal }) }, (response) =>
        response.resume(),
      )
        .on('error', () => undefined) // `close` follows
        .on('close', resolve)
    })
    return gate
  },
}

test.each(Object.entries(ways))(
  '%s: a reset counts with backoff.failures, and the abort of the caller does not',
  async (_, way) => {
    const failures = { backoff: { failures: true } }
    const waits = async (gate: PoliteGate) => {
      const forecast = await gate.when(`${site.origin}/2`)
      await gate.robots.close()
      return forecast.allowed && forecast.waitMs > 0
    }
    expect(await waits(await way(failures, `${site.origin}/reset`))).toBe(true)
    expect(await waits(await way({}, `${site.origin}/reset`))).toBe(false)
    site.pages.set('/slow', () => undefined)
    const abort = new AbortController()
    setTimeout(() => abort.abort(), 100)
    expect(await waits(await way(failures, `${site.origin}/slow`, abort.signal))).toBe(false)
    expect(await waits(await way(failures, `${site.origin}/slow`, AbortSignal.timeout(1_000)))).toBe(true)
  },
)
