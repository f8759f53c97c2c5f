// Refusals: `RobotsDisallowedError`, and `check`. RFC 9309 sections 2.2.2 and 2.3.1.4. The messages
// are our choice.
import { RobotsClient } from '@politely/fetcher'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type GateMessages, PoliteGate, politely, RobotsDisallowedError } from '../src/index.ts'
import { listenTo } from './listen.ts'
import { lookup, Site } from './site.ts'

let site: Site
let robots: RobotsClient
beforeAll(async () => {
  site = await Site.open({
    'rules.test': 'User-agent: *\nCrawl-delay: 3600\nDisallow: /private\n',
    'busy.test': (_, response) => void response.writeHead(503, { 'retry-after': '120' }).end(),
    'broken.test': (request) => void request.socket.destroy(),
  })
  robots = new RobotsClient({ userAgent: 'ExampleBot/1.0', lookup, network: 'any', retries: 0 })
})
afterAll(async () => {
  await robots.close()
  await site.close()
})

/** Returns the error that `enter` throws. */
async function refusalOf(gate: PoliteGate, url: string): Promise<RobotsDisallowedError> {
  const error = await gate.enter(url).then(
    () => new Error('the request was admitted'),
    (reason: unknown) => reason,
  )
  if (error instanceof RobotsDisallowedError) return error
  throw error
}

describe('RobotsDisallowedError', () => {
  test('names the rule and its line, in the verdict and in the message', async () => {
    const error = await refusalOf(new PoliteGate({ robots }), site.at('rules.test', '/private/page?q=1'))
    expect(error).toMatchObject({
      name: 'RobotsDisallowedError',
      code: 'ERR_POLITELY_DISALLOWED',
      retryAt: undefined,
      verdict: {
        allowed: false,
        because: 'rule',
        rule: { directive: 'disallow', text: '/private', line: 3 },
        group: { agents: ['*'], line: 1 },
        url: site.at('rules.test', '/private/page?q=1'),
      },
    })
    expect(error).toBeInstanceOf(Error)
    expect(error.message).toBe(
      `${site.at('rules.test', '/private/page?q=1')} is disallowed: line 3 of robots.txt says "Disallow: /private" to *`,
    )
  })

  test('has a message without the credentials of the URL', async () => {
    const url = site.at('rules.test', '/private')
    const error = await refusalOf(new PoliteGate({ robots }), url.replace('://', '://me:secret@'))
    expect(error.message).toBe(`${url} is disallowed: line 3 of robots.txt says "Disallow: /private" to *`)
  })

  test('has a message without control characters of the URL', async () => {
    const url = site.at('rules.test', '/private')
    const error = await refusalOf(new PoliteGate({ robots }), `${url}\n\x1b[2J`)
    expect(error.message).toMatch(/^http:\/\/rules\.test:\d+\/private\\u\{a\}\\u\{1b\}\[2J is disallowed/)
  })

  test('has retryAt if robots.txt is unreachable', async () => {
    const before = Date.now()
    const error = await refusalOf(new PoliteGate({ robots }), site.at('busy.test'))
    expect(error.verdict.because).toBe('unreachable')
    expect(error.retryAt).toBeGreaterThanOrEqual(before + 120_000)
    // The verdict says it in the same word.
    const verdict = await robots.check(site.at('busy.test'))
    expect(verdict).toMatchObject({ retryAt: error.retryAt, access: { nextAttemptAt: error.retryAt } })
    expect(await robots.check(site.at('rules.test', '/private'))).not.toHaveProperty('retryAt')
    expect(error.message).toMatch(
      `${site.at('busy.test')} is disallowed: robots.txt is unreachable (status 503); the server asked to wait 120 s, until 20`,
    )
  })

  test.each([
    ['a connection that breaks', () => site.at('broken.test'), 'unreachable'],
    ['a host that has no address', () => 'http://nowhere.example/', 'unreachable'],
    ['an empty string', () => '', 'invalid-url'],
    ['a path', () => '/page', 'invalid-url'],
    ['another scheme', () => 'mailto:bot@example.com', 'invalid-url'],
  ])('has a message of one line: %s', async (_, url, because) => {
    const error = await refusalOf(new PoliteGate({ robots }), url())
    expect(error.verdict.because).toBe(because)
    expect(error.message).toMatch(/^\S.* is disallowed: .*\w.*$/)
    expect(error.message).not.toContain('\n')
    if (because === 'unreachable') expect(error.retryAt).toBeGreaterThan(Date.now())
    else expect(error.retryAt).toBeUndefined()
  })

  test('is thrown at once, before requests that wait', async () => {
    const gate = new PoliteGate({ robots, now: Date.now })
    ;(await gate.enter(site.at('rules.test', '/page'))).release() // from now on requests wait for an hour
    const waiting = expect(gate.enter(site.at('rules.test', '/page'))).rejects.toMatchObject({
      code: 'ERR_POLITELY_GATE_CLOSED',
    })
    await refusalOf(gate, site.at('rules.test', '/private'))
    gate.close()
    await waiting
  })

  test('uses no slot, so it does not delay the next request', async () => {
    const gate = new PoliteGate({ robots, now: Date.now })
    await refusalOf(gate, site.at('rules.test', '/private'))
    expect((await gate.enter(site.at('rules.test', '/page'))).waitedMs).toBeLessThan(3_600_000)
  })

  test('is thrown by politely(fetch) before anything is sent', async () => {
    const fetch = politely(globalThis.fetch, { userAgent: 'ExampleBot/1.0', lookup, network: 'any', retries: 0 })
    const before = site.seen.length
    for (const host of ['busy.test', 'broken.test']) {
      await expect(fetch(site.at(host))).rejects.toBeInstanceOf(RobotsDisallowedError)
    }
    await expect(fetch(site.at('rules.test', '/private'))).rejects.toBeInstanceOf(RobotsDisallowedError)
    expect(site.seen.length).toBe(before)
    await fetch.close()
  })

  test('is JSON-safe', async () => {
    const { verdict } = await refusalOf(new PoliteGate({ robots }), site.at('rules.test', '/private'))
    expect(JSON.parse(JSON.stringify(verdict))).toMatchObject({ because: 'rule', crawlDelayMs: 3_600_000 })
  })
})

test('always admits /robots.txt itself (RFC 9309 section 2.2.2)', async () => {
  const gate = new PoliteGate({ robots })
  const permit = await gate.enter(site.at('broken.test', '/robots.txt'))
  expect(permit.verdict.because).toBe('robots-txt-itself')
  permit.release()
  // It waits for the Retry-After like any other request.
  expect(await gate.when(site.at('busy.test', '/robots.txt'))).toMatchObject({ allowed: true, because: 'retry-after' })
})

describe('check', () => {
  test('counts and publishes a refusal like enter, and does not throw', async () => {
    const gate = new PoliteGate({ robots, now: () => 1_000_000 })
    const published: GateMessages['politely:gate:refuse'][] = []
    const unsubscribe = listenTo('politely:gate:refuse', gate, (message) => published.push(message))
    const [inside, busy] = [site.at('rules.test', '/private/image'), site.at('busy.test', '/image')]
    const verdicts = [await gate.check(inside), await gate.check(new URL(busy))]
    unsubscribe()
    expect(verdicts.map(({ because }) => because)).toEqual(['rule', 'unreachable'])
    expect(published).toMatchObject(verdicts.map((verdict) => ({ gate, at: 1_000_000, url: verdict.url, verdict })))
    expect(gate.counters.refusals).toEqual({ rule: 1, unreachable: 1 })
  })

  test('does not wait for a slot; an allowed request is neither counted nor published', async () => {
    const gate = new PoliteGate({ robots })
    const before = gate.counters
    for (const path of ['/1', '/2']) expect((await gate.check(site.at('rules.test', path))).allowed).toBe(true)
    expect(gate.counters).toEqual(before)
    ;(await gate.enter(site.at('rules.test', '/page'))).release()
    expect((await gate.check(site.at('rules.test', '/3'))).allowed).toBe(true) // the next slot is an hour away
    expect(gate.queues()).toEqual([])
  })

  test('rejects with the reason of its signal, and after close', async () => {
    const gate = new PoliteGate({ robots })
    const reason = new Error('enough')
    await expect(gate.check(site.at('rules.test'), { signal: AbortSignal.abort(reason) })).rejects.toBe(reason)
    gate.close()
    await expect(gate.check(site.at('rules.test'))).rejects.toMatchObject({ code: 'ERR_POLITELY_GATE_CLOSED' })
    expect(gate.counters.refusals).toEqual({})
  })
})
