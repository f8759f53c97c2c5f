// What a user sees of a long wait: log lines, and the error of an abort.
import { RobotsClient } from '@politely/fetcher'
import { describe, expect, onTestFinished, test } from 'vitest'
import { AbortedWaitError, LocalPacer, PoliteGate, type PoliteGateOptions, politely } from '../src/index.ts'
import { simulate } from './simulation.ts'
import { lookup, Site } from './site.ts'

/** A simulation whose log is recorded. */
async function logged(lines: string, options: Omit<PoliteGateOptions, 'robots'> = {}) {
  const log: string[] = []
  const logger = { info: (line: string) => log.push(`info ${line}`), warn: (line: string) => log.push(`warn ${line}`) }
  const simulation = await simulate({ 'a.test': lines }, { logger, ...options })
  const origin = simulation.site.at('a.test', '')
  const visit = async (name: string) => (await simulation.enter(name, 'a.test')).release()
  return { ...simulation, visit, log: () => log.splice(0).map((line) => line.replaceAll(origin, 'ORIGIN')) }
}

describe('a long wait is logged', () => {
  test('once for many requests', async () => {
    const { visit, advance, log } = await logged('Crawl-delay: 30')
    await visit('1')
    const all = ['2', '3', '4', '5'].map(visit)
    await advance()
    expect(log()).toEqual([
      'info ORIGIN/2 waits 30 s, until about 2026-01-01T00:00:30Z (crawl-delay, origin); requests that wait before it: 0',
    ])
    await advance(120_000)
    await Promise.all(all)
    expect(log()).toEqual([])
  })

  test('when the queue makes it long', async () => {
    const { visit, advance, log } = await logged('Crawl-delay: 2')
    const all = Array.from({ length: 10 }, (_, n) => visit(`${n}`))
    await advance(20_000)
    await Promise.all(all)
    expect(log()).toEqual([
      'info ORIGIN/6 waits 12 s, until about 2026-01-01T00:00:12Z (crawl-delay, origin); requests that wait before it: 5',
    ])
  })

  test('again when its cause changes, and after an hour', async () => {
    const { visit, enter, advance, log } = await logged('Crawl-delay: 30')
    const first = await enter('1', 'a.test')
    const second = visit('2')
    await advance()
    expect(log()).toHaveLength(1)
    first.release({ status: 429, headers: { 'retry-after': '7200' } })
    await advance(30_000)
    expect(log().filter((line) => line.startsWith('info'))).toEqual([
      'info ORIGIN/2 waits 120 min, until about 2026-01-01T02:00:00Z (retry-after, origin); requests that wait before it: 0',
    ])
    await advance(3_600_000)
    expect(log()).toEqual([expect.stringContaining('ORIGIN/2 waits 60 min, until about 2026-01-01T02:00:00Z')])
    await advance(3_600_000)
    await second
  })

  test('outside of the Visit-time', async () => {
    const { visit, advance, log } = await logged('Visit-time: 0600-0845')
    const visited = visit('1')
    await advance()
    expect(log()).toEqual([
      'info ORIGIN/1 waits 6 h, until about 2026-01-01T06:00:00Z (visit-time, origin); requests that wait before it: 0',
    ])
    await advance(6 * 3_600_000)
    await visited
  })

  test('for the delay of a domain', async () => {
    const { visit, advance, log } = await logged('', { minDelayMs: 0, minDelayPerDomainMs: 20_000 })
    await visit('1')
    const visited = visit('2')
    await advance(20_000)
    await visited
    expect(log()).toEqual([
      expect.stringContaining('ORIGIN/2 waits 20 s, until about 2026-01-01T00:00:20Z (own-delay, domain)'),
    ])
  })

  test('while the pacer fails, however short each wait is', async () => {
    const local = new LocalPacer(() => Date.now())
    let isAway = true
    const pacer: LocalPacer = Object.assign(Object.create(local), {
      reserve: (...args: Parameters<LocalPacer['reserve']>) =>
        isAway ? { kind: 'wait', ticket: undefined, waitMs: 500, because: 'pacer-failure' } : local.reserve(...args),
      cancel: () => undefined,
      started: () => undefined,
      end: () => undefined,
      estimate: () => ({ waitMs: 0, because: 'none' }),
    })
    const { visit, advance, log } = await logged('', { pacer })
    const visited = visit('1')
    await advance(2_000)
    expect(log()).toEqual([
      'info ORIGIN/1 waits for the pacer (pacer-failure, origin); requests that wait before it: 0',
    ])
    isAway = false
    await advance(1_000)
    await visited
  })

  test('but a short one is not, and without a logger none is', async () => {
    const { visit, advance, log, site } = await logged('Crawl-delay: 9')
    await visit('1')
    const visited = visit('2')
    await advance(9_000)
    await visited
    expect(log()).toEqual([])
    expect(site.robotsFetches).toBe(1)
  })
})

describe('a 429 or 503 is logged', () => {
  test.each<[status: number, headers: Record<string, string>, line: string]>([
    [
      429,
      { 'retry-after': '60' },
      'status 429, Retry-After "60"; requests to ORIGIN pause for 60 s, until about 2026-01-01T00:01:00Z (retry-after)',
    ],
    [
      503,
      {},
      'status 503, no Retry-After; requests to ORIGIN pause for 5 s, until about 2026-01-01T00:00:05Z (backoff)',
    ],
    [
      503,
      { 'retry-after': 'soon\u0007' },
      String.raw`status 503, Retry-After "soon\u0007"; requests to ORIGIN pause for 5 s, until about 2026-01-01T00:00:05Z (backoff)`,
    ],
  ])('%i %o', async (status, headers, line) => {
    const { enter, log } = await logged('')
    ;(await enter('1', 'a.test')).release({ status, headers })
    expect(log()).toEqual([`warn ORIGIN/1: ${line}`])
  })

  const LIMIT = { 'x-ratelimit-remaining': '0', 'x-ratelimit-reset': '1800' }
  const SENT = 'x-ratelimit-remaining "0", x-ratelimit-reset "1800"'
  const HINT = 'to obey its rate limit headers, which ask for a pause of 30 min, write rateLimitHeaders: true'
  const HALF_HOUR = 'requests to ORIGIN pause for 30 min, until about 2026-01-01T00:30:00Z (rate-limit)'
  const FIVE_SECONDS = 'requests to ORIGIN pause for 5 s, until about 2026-01-01T00:00:05Z (backoff)'
  test.each<[isObeyed: boolean, status: number, headers: Record<string, string>, waitMs: number, lines: string[]]>([
    [true, 429, LIMIT, 1_800_000, [`status 429, no Retry-After, ${SENT}; ${HALF_HOUR}`]],
    [true, 503, { ...LIMIT, 'retry-after': '7' }, 1_800_000, [`status 503, Retry-After "7", ${SENT}; ${HALF_HOUR}`]],
    [
      true,
      429,
      { 'retry-after-ms': '1500' },
      5_000,
      [`status 429, no Retry-After, retry-after-ms "1500"; ${FIVE_SECONDS}`],
    ],
    [true, 200, LIMIT, 1_800_000, []],
    [false, 429, LIMIT, 5_000, [`status 429, no Retry-After, ${SENT}; ${FIVE_SECONDS}; ${HINT}`]],
    [
      false,
      429,
      { 'retry-after-ms': '1800000' },
      5_000,
      [`status 429, no Retry-After, retry-after-ms "1800000"; ${FIVE_SECONDS}; ${HINT}`],
    ],
    [
      false,
      429,
      { 'retry-after-ms': '1500' },
      5_000,
      [`status 429, no Retry-After, retry-after-ms "1500"; ${FIVE_SECONDS}`],
    ],
    [false, 200, LIMIT, 1_000, [`status 200, no Retry-After, ${SENT}; ${HINT}`]],
    [false, 200, { ratelimit: '"a";r=9;t=30' }, 1_000, []],
  ])('with the end that when() has: rateLimitHeaders: %s, %i %o', async (isObeyed, status, headers, waitMs, lines) => {
    const { gate, site, enter, log } = await logged('', { rateLimitHeaders: isObeyed })
    ;(await enter('1', 'a.test')).release({ status, headers })
    expect(await gate.when(site.at('a.test', '/2'))).toMatchObject({ waitMs })
    expect(log()).toEqual(lines.map((line) => `warn ORIGIN/1: ${line}`))
  })

  test('once for each pace key if rate limit headers of other responses are not obeyed', async () => {
    const { enter, log } = await logged('', { minDelayMs: 0 })
    for (const name of ['1', '2']) (await enter(name, 'a.test')).release({ status: 200, headers: LIMIT })
    expect(log()).toHaveLength(1)
  })

  test('again when the text of the page names a later end', async () => {
    const { gate, site, enter, log } = await logged('')
    const permit = await enter('1', 'a.test')
    permit.report({ status: 429, headers: {} })
    permit.report({ rateLimited: true, retryAfterMs: 60_000 })
    permit.report({ rateLimited: true })
    permit.release()
    expect(await gate.when(site.at('a.test', '/2'))).toMatchObject({ waitMs: 60_000, because: 'retry-after' })
    expect(log()).toEqual([
      `warn ORIGIN/1: status 429, no Retry-After; ${FIVE_SECONDS}`,
      'warn ORIGIN/1: status 429, no Retry-After; requests to ORIGIN pause for 60 s, until about 2026-01-01T00:01:00Z (retry-after)',
    ])
  })

  test('without credentials, and without the pause if the pacer cannot tell it', async () => {
    const pacer = Object.assign(new LocalPacer(() => Date.now()), { estimate: () => Promise.reject(new Error('away')) })
    const { gate, site, advance, log } = await logged('', { pacer })
    const permit = await gate.enter(site.at('a.test', '/1').replace('//', '//user:password@'))
    permit.release({ status: 429, headers: {} })
    await advance()
    expect(log()).toEqual(['warn ORIGIN/1: status 429, no Retry-After'])
  })
})

describe('a delay of over five minutes is logged once', () => {
  test.each<[lines: string, options: Omit<PoliteGateOptions, 'robots'>, expected: string[]]>([
    ['Crawl-delay: 301', {}, ['robots.txt asks for a delay of 6 min between requests (crawl-delay)']],
    ['Request-rate: 1/3600', {}, ['robots.txt asks for a delay of 60 min between requests (request-rate)']],
    ['Crawl-delay: 300', {}, []],
    ['Crawl-delay: 3600', { maxDelayMs: 60_000 }, []],
    ['Crawl-delay: 3600', { minDelayMs: 7_200_000 }, []],
  ])('%s, %o', async (lines, options, expected) => {
    const { enter, log } = await logged(lines, options)
    ;(await enter('1', 'a.test')).release()
    void enter('2', 'a.test').catch(() => undefined)
    expect(log().filter((line) => line.startsWith('warn'))).toEqual(
      expected.map(
        (text) => `warn ORIGIN: ${text}; if that is too long, write the option maxDelayMs, such as maxDelayMs: 60_000`,
      ),
    )
  })
})

describe('the logger', () => {
  const lineOf = async (make: (client: RobotsClient, logger: { warn(line: string): void }) => PoliteGate) => {
    const site = await Site.open({ '*': 'User-agent: *\nCrawl-delay: 3600\n' })
    onTestFinished(() => site.close())
    const lines: string[] = []
    const logger = { warn: (line: string) => lines.push(line) }
    const userAgent = 'ExampleBot/1.0'
    await using robots = new RobotsClient({ userAgent, network: 'any', lookup, logger })
    await using gate = make(robots, { warn: (line) => lines.push(`own: ${line}`) })
    ;(await gate.enter(site.at('a.test'))).release()
    return lines.map((line) => line.slice(0, 12))
  }

  test('of the client serves the gate', async () => {
    expect(await lineOf((robots) => new PoliteGate({ robots }))).toEqual(['http://a.tes'])
  })

  test('of the gate replaces it', async () => {
    expect(await lineOf((robots, logger) => new PoliteGate({ robots, logger }))).toEqual(['own: http://'])
    expect(await lineOf((robots, logger) => politely(fetch, { robots, logger }).gate)).toEqual(['own: http://'])
  })
})

describe('an abort in the queue', () => {
  /** Aborts the second request after 100 ms. Returns its error. */
  const errorOf = async (abort: (controller: AbortController) => void) => {
    const { enter, visit, advance, site } = await logged('Crawl-delay: 3600')
    await visit('1')
    const controller = new AbortController()
    const outcome = enter('2', 'a.test', controller.signal).catch((error: unknown) => error)
    await advance(100)
    abort(controller)
    return { error: await outcome, reason: controller.signal.reason, url: site.at('a.test', '/2') }
  }

  test.each<[name: string, abort: (controller: AbortController) => void]>([
    ['AbortError', (controller) => controller.abort()],
    [
      'TimeoutError',
      (controller) => controller.abort(new DOMException('The operation was aborted due to timeout', 'TimeoutError')),
    ],
  ])('by the platform keeps the name %s, and says what the request waited for', async (name, abort) => {
    const { error, reason, url } = await errorOf(abort)
    expect(error).toBeInstanceOf(AbortedWaitError)
    expect(error).toBeInstanceOf(DOMException)
    expect(error).toBeInstanceOf(Error)
    const { message, code, cause, ...fields } = error as AbortedWaitError
    expect((error as Error).name).toBe(name)
    expect(code).toBe(reason.code)
    expect(cause).toBe(reason)
    expect(message).toBe(
      `${reason.message}; ${url} had waited 100 ms (crawl-delay, origin), and would have waited at least 60 min more`,
    )
    expect(fields).toEqual({ url, waitedMs: 100, waitedFor: 'crawl-delay', waitedLevel: 'origin', waitMs: 3_599_900 })
  })

  test.each<[what: string, reason: unknown]>([
    ['an error', new Error('enough')],
    ['a DOMException of another name', new DOMException('enough', 'DataError')],
    ['a string', 'enough'],
  ])('with a reason of the caller (%s) rejects with that reason', async (_, given) => {
    const { error } = await errorOf((controller) => controller.abort(given))
    expect(error).toBe(given)
  })

  test('of politely(fetch) rejects with the same error', async () => {
    const site = await Site.open()
    onTestFinished(() => site.close())
    await using polite = politely(fetch, { userAgent: 'ExampleBot/1.0', network: 'any', minDelayMs: 60_000 })
    await polite(`${site.origin}/1`)
    const signal = AbortSignal.timeout(20)
    const error = await polite(`${site.origin}/2`, { signal }).catch((error: unknown) => error)
    expect(error).toMatchObject({ name: 'TimeoutError', waitedFor: 'own-delay', cause: signal.reason })
  })
})
