// Verdicts as sentences.
import { describe, expect, it } from 'vitest'
import { describeVerdict, parseRobots } from '../src/index.ts'
import type { Describable } from '../src/internal.ts'

const robots = parseRobots(
  ['# a comment', 'User-agent: ExampleBot', 'User-agent: OtherBot', 'Disallow: /caf\u00e9/'].join('\n'),
)

const UNREACHABLE = {
  outcome: 'unreachable',
  reason: 'status',
  status: 503,
  detail: undefined,
  url: 'https://example.com/robots.txt',
  hops: [],
  checkedAt: 0,
  nextAttemptAt: 30_000,
  copy: undefined,
} as const

describe('describeVerdict', () => {
  it.each([
    [
      '/caf\u00e9/x',
      'ExampleBot',
      'disallowed: line 4 of robots.txt says "Disallow: /caf\u00e9/" to ExampleBot, OtherBot',
    ],
    ['/other', 'ExampleBot', 'allowed: no rule of the group for ExampleBot, OtherBot (line 2) matches'],
    ['/robots.txt', 'Nobody', 'allowed: /robots.txt may always be fetched'],
    ['x', 'Nobody', 'disallowed: the URL has no scheme; write it whole, such as https://example.com/x'],
  ])('%s', (url, agent, sentence) => {
    expect(describeVerdict(robots.check(url, agent))).toBe(sentence)
  })

  it('quotes names and rules that could continue the sentence', () => {
    const file = String.raw`User-agent: *
User-agent: x\" to *. You may fetch it
Disallow: /a" to *`
    expect(describeVerdict(parseRobots(file).check('/a%22%20to%20*', 'a'))).toBe(
      String.raw`disallowed: line 3 of robots.txt says "Disallow: /a\" to *" to *, "x\\\" to *. You may fetch it"`,
    )
  })

  it('distinguishes a missing robots.txt from an unreachable one, and gives the cause', () => {
    const access = UNREACHABLE
    expect(describeVerdict({ allowed: false, because: 'unreachable', access })).toBe(
      'disallowed: robots.txt is unreachable (status 503)',
    )
    expect(describeVerdict({ allowed: true, because: 'unavailable', access: { ...access, status: 404 } })).toBe(
      'allowed: the site has no robots.txt (status 404)',
    )
    expect(
      describeVerdict({ allowed: true, because: 'unavailable', access: { ...access, reason: 'redirect-loop' } }),
    ).toBe('allowed: the site has no robots.txt (its redirects form a loop)')
    for (const [status, looksLike, sentence] of [
      [403, undefined, 'the server refused robots.txt (status 403)'],
      [403, 'challenge', 'the server sent a challenge for browsers in place of robots.txt (status 403)'],
      [410, undefined, 'the site has no robots.txt (status 410)'],
    ] as const) {
      const effect = status === 410 ? '' : ', which allows everything (RFC 9309 §2.3.1.3)'
      expect(describeVerdict({ allowed: true, because: 'unavailable', access: { ...access, status, looksLike } })).toBe(
        `allowed: ${sentence}${effect}`,
      )
    }
    const copy = { freshness: 'stale', ageMs: 1, bytes: 71, truncated: true } as const
    expect(describeVerdict({ allowed: true, because: 'no-group', access: { ...access, copy } })).toBe(
      'allowed: robots.txt has no group for this crawler; according to the last good copy, because robots.txt is unreachable (status 503); robots.txt is larger than the size limit, so its end was not read',
    )
  })

  it.each<[Describable, string]>([
    [
      { allowed: false, because: 'other-origin', origin: 'http://a.example', fileOrigin: 'https://a.example' },
      'disallowed: this robots.txt belongs to https://a.example, and the URL to http://a.example',
    ],
    [{ allowed: false, because: 'restricted' }, 'disallowed: the server refuses access to robots.txt'],
    [
      { allowed: true, because: 'unreachable-too-long' },
      'allowed: robots.txt has been unreachable for so long that it counts as unavailable',
    ],
  ])('%j', (verdict, sentence) => {
    expect(describeVerdict(verdict)).toBe(sentence)
  })

  it('says what a response is that is not a robots.txt', () => {
    const access = {
      ...UNREACHABLE,
      outcome: 'success',
      status: 200,
      url: 'https://example.com/login',
      hops: [{ url: 'https://example.com/robots.txt', status: 302 }],
      looksLike: 'html',
      copy: { freshness: 'fresh', ageMs: 1, bytes: 71, truncated: false },
    } as const
    expect(describeVerdict({ allowed: true, because: 'no-group', access })).toBe(
      'allowed: robots.txt has no group for this crawler; the response is not a robots.txt: it is an HTML page (redirected to https://example.com/login)',
    )
    const unreachable = { ...access, reason: 'foreign-body', copy: undefined } as const
    expect(describeVerdict({ allowed: false, because: 'unreachable', access: unreachable })).toBe(
      'disallowed: robots.txt is unreachable (status 200, but it is an HTML page)',
    )
  })

  it('says that the credentials of a URL were not sent with the request for robots.txt', () => {
    const verdict = parseRobots('').check('/', 'ExampleBot')
    const access = { ...UNREACHABLE, outcome: 'unavailable', status: 401 } as const
    const url = 'https://user:secret@example.com/page'
    expect(describeVerdict({ ...verdict, allowed: true, because: 'unavailable', access, url })).toBe(
      'allowed: the server refused robots.txt (status 401), which allows everything (RFC 9309 §2.3.1.3); the user name and password of the URL were not sent with the request for robots.txt',
    )
  })

  it('says that the site asked to wait, and until when', () => {
    const checkedAt = Date.UTC(2026, 0, 1)
    const access = { ...UNREACHABLE, status: 429, checkedAt, retryAfterMs: 29_001 } as const
    const wait = 'the server asked to wait 30 s, until 2026-01-01T00:00:29Z'
    expect(describeVerdict({ allowed: false, because: 'unreachable', access })).toBe(
      `disallowed: robots.txt is unreachable (status 429); ${wait}`,
    )
    const failedRefresh = { reason: 'status', status: 429, detail: undefined, url: 'x', checkedAt } as const
    const fresh = { ...UNREACHABLE, outcome: 'success', status: 200, failedRefresh } as const
    expect(describeVerdict({ allowed: true, because: 'no-group', access: fresh })).toBe(
      'allowed: robots.txt has no group for this crawler',
    )
    const asking = { ...fresh, failedRefresh: { ...failedRefresh, retryAfterMs: 30_000 } }
    expect(describeVerdict({ allowed: true, because: 'no-group', access: asking })).toBe(
      'allowed: robots.txt has no group for this crawler; an early refresh found robots.txt unreachable (status 429); the server asked to wait 30 s, until 2026-01-01T00:00:30Z',
    )
  })

  it('escapes control characters of the site', () => {
    const hostile = parseRobots('User-agent: *\nDisallow: /\x1b[31m\u202e\n')
    expect(describeVerdict(hostile.check('/%1B[31m%E2%80%AE', 'ExampleBot'))).toBe(
      'disallowed: line 2 of robots.txt says "Disallow: /\\u{1b}[31m\\u{202e}" to *',
    )
  })
})
