// `PoliteGate.when`: estimates when a request could start.
import { describe, expect, test } from 'vitest'
import { simulate } from './simulation.ts'

describe('when', () => {
  test('estimates no wait if nothing delays the request', async () => {
    const { gate, site, start } = await simulate({ 'a.test': '' })
    expect(await gate.when(site.at('a.test', '/page'))).toMatchObject({
      allowed: true,
      at: start,
      waitMs: 0,
      because: 'none',
      ahead: 0,
      verdict: { allowed: true, url: site.at('a.test', '/page') },
    })
  })

  test.each([
    ['own-delay', '', {}, 1_000, 'own-delay'],
    ['crawl-delay', 'Crawl-delay: 7', {}, 7_000, 'crawl-delay'],
    ['request-rate', 'Request-rate: 1/9', {}, 9_000, 'request-rate'],
    ['cap', 'Crawl-delay: 7', { maxDelayMs: 3_000 }, 3_000, 'cap'],
  ] as const)('estimates the delay after another request: %s', async (_, lines, options, waitMs, because) => {
    const { gate, site, enter, advance } = await simulate({ 'a.test': lines }, options)
    void enter('first', 'a.test')
    await advance()
    expect(await gate.when(site.at('a.test'))).toMatchObject({ waitMs, because })
  })

  test.each([
    ['retry-after', '60', 60_000],
    ['backoff', undefined, 5_000],
  ] as const)('estimates the delay after a 429: %s', async (because, retryAfter, waitMs) => {
    const { gate, site, enter } = await simulate({ 'a.test': '' })
    ;(await enter('first', 'a.test')).release({
      status: 429,
      headers: { ...(retryAfter && { 'retry-after': retryAfter }) },
    })
    expect(await gate.when(site.at('a.test'))).toMatchObject({ waitMs, because })
  })

  test('adds one delay for each request ahead', async () => {
    const { gate, site, enter, advance, starts } = await simulate(
      { 'a.test': 'Crawl-delay: 2' },
      { maxConcurrentPerKey: 100 },
    )
    for (let n = 0; n < 6; n++) void enter(String(n), 'a.test')
    await advance(500)
    expect(await gate.when(site.at('a.test'))).toMatchObject({ waitMs: 11_500, because: 'crawl-delay', ahead: 5 })
    await advance(12_000)
    expect(starts.at(-1)).toEqual(['5', 10_000])
  })

  test('says concurrency if a concurrency limit is reached', async () => {
    const { gate, site, enter } = await simulate({ 'a.test': '', 'b.test': '' }, { minDelayMs: 0, maxConcurrent: 1 })
    const first = await enter('first', 'a.test')
    for (const host of ['a.test', 'b.test']) {
      expect(await gate.when(site.at(host))).toMatchObject({ waitMs: 0, because: 'concurrency' })
    }
    first.release()
    expect(await gate.when(site.at('b.test'))).toMatchObject({ waitMs: 0, because: 'none' })
  })

  test('returns a refusal with the rule', async () => {
    const { gate, site } = await simulate({ 'a.test': 'Disallow: /private' })
    expect(await gate.when(site.at('a.test', '/private'))).toMatchObject({
      allowed: false,
      retryAt: undefined,
      verdict: { because: 'rule', rule: { line: 2 } },
    })
    expect(await gate.when('no URL')).toMatchObject({ allowed: false, verdict: { because: 'invalid-url' } })
  })

  test('returns retryAt if robots.txt is unreachable', async () => {
    const { gate, site } = await simulate({})
    site.robots.set('down.test', (_, response) => void response.writeHead(503, { 'retry-after': '120' }).end())
    const forecast = await gate.when(site.at('down.test'))
    expect(forecast).toMatchObject({ allowed: false, verdict: { because: 'unreachable' } })
    if (!forecast.allowed) expect(forecast.retryAt).toBeGreaterThan(Date.now() + 100_000)
  })

  test('reserves no slot, and creates no queue', async () => {
    const { gate, site, enter, starts } = await simulate({ 'a.test': '' })
    for (let n = 0; n < 5; n++) await gate.when(site.at('a.test'))
    await enter('first', 'a.test')
    expect(starts).toEqual([['first', 0]])
    expect(gate.counters.started).toBe(1)
  })

  test('returns a JSON-safe object', async () => {
    const { gate, site } = await simulate({ 'a.test': 'Request-rate: 1/9' })
    const forecast = await gate.when(site.at('a.test'))
    expect(JSON.parse(JSON.stringify(forecast))).toEqual(forecast)
  })

  test('rejects after close, and for an aborted signal', async () => {
    const { gate, site } = await simulate({ 'a.test': '' })
    const reason = new Error('enough')
    await expect(gate.when(site.at('a.test'), { signal: AbortSignal.abort(reason) })).rejects.toBe(reason)
    gate.close()
    await expect(gate.when(site.at('a.test'))).rejects.toMatchObject({ code: 'ERR_POLITELY_GATE_CLOSED' })
  })
})
