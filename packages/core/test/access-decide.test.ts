// The verdict for a URL, from an entry and the rules of its copy.
import { expect, test } from 'vitest'
import type { Copy } from '../src/access/copy.ts'
import { ENTRY_VERSION, type Entry } from '../src/access/entry.ts'
import { defaultAccessPolicy } from '../src/access/policy.ts'
import { allows, decide } from '../src/decide.ts'
import { parseRobots } from '../src/parse-robots.ts'

const NOW = Date.UTC(2026, 0, 1)
const DAY = 86_400_000

const copy: Copy = {
  bytes: 'User-agent: *\nDisallow: /page\nDisallow: /robots.txt\n',
  truncated: true,
  confirmedAt: NOW - DAY,
  url: 'https://a.test/robots.txt',
  etag: undefined,
  lastModified: undefined,
  lifetimeMs: undefined,
}
const entryOf = (kind: Entry['latest']['kind'], given: Partial<Entry>): Entry => ({
  version: ENTRY_VERSION,
  origin: 'https://a.test',
  latest: {
    kind,
    reason: 'status',
    status: 200,
    detail: undefined,
    at: NOW - 1_000,
    hops: [],
    url: 'https://a.test/robots.txt',
  },
  earlier: [],
  nextAttemptAt: NOW + 1_000,
  copy: undefined,
  unreachableSince: undefined,
  failures: 0,
  unreachableForMs: 0,
  held: undefined,
  ...given,
})
const fresh = entryOf('success', { copy })
const stale = entryOf('unreachable', { copy, unreachableSince: NOW - DAY, failures: 1 })
const missing = entryOf('unavailable', {})
const unknown = entryOf('unreachable', { unreachableSince: NOW - DAY, failures: 1 })
const unknownForLong = entryOf('unreachable', {
  unreachableSince: NOW - 30 * DAY,
  failures: 99,
  unreachableForMs: 30 * DAY,
})

const blockedAttempt = { ...unknown.latest, reason: 'blocked-address', status: undefined } as const
const blocked = { ...unknown, latest: blockedAttempt }
const blockedWithCopy = { ...stale, latest: blockedAttempt }
const blockedForLong = { ...unknownForLong, latest: blockedAttempt }
const blockedLater = { ...blockedWithCopy, held: { attempt: fresh.latest, until: NOW + 1_000 } }

const rules = parseRobots(copy.bytes).forCrawler('ExampleBot')
const blockedVerdict = { allowed: false, because: 'unreachable' }
const noRules = parseRobots('').forCrawler('ExampleBot')
const PAGE = 'https://a.test/page'
const ITSELF = 'https://a.test/robots.txt'

test.each([
  ['RFC 9309 §2.3.1.1, a rule', fresh, PAGE, { allowed: false, because: 'rule' }],
  ['RFC 9309 §2.2.2, no rule', fresh, 'https://a.test/other', { allowed: true, because: 'no-rule-matched' }],
  ['RFC 9309 §2.4, a rule of a stale copy', stale, PAGE, { allowed: false, because: 'rule' }],
  ['RFC 9309 §2.3.1.3, unavailable', missing, PAGE, { allowed: true, because: 'unavailable' }],
  ['RFC 9309 §2.3.1.4, unreachable', unknown, PAGE, { allowed: false, because: 'unreachable' }],
  [
    'RFC 9309 §2.3.1.4, unreachable for 30 days',
    unknownForLong,
    PAGE,
    { allowed: true, because: 'unreachable-too-long' },
  ],
  [
    'RFC 9309 §2.2.2, robots.txt itself, in spite of a rule',
    fresh,
    ITSELF,
    { allowed: true, because: 'robots-txt-itself' },
  ],
  ['RFC 9309 §2.2.2, robots.txt itself, unavailable', missing, ITSELF, { allowed: true, because: 'robots-txt-itself' }],
  ['RFC 9309 §2.2.2, robots.txt itself, unreachable', unknown, ITSELF, { allowed: true, because: 'robots-txt-itself' }],
  ['our choice, a blocked address, robots.txt itself', blocked, ITSELF, blockedVerdict],
  ['our choice, a blocked address, a page', blocked, PAGE, blockedVerdict],
  ['our choice, a blocked address, robots.txt itself, with a copy', blockedWithCopy, ITSELF, blockedVerdict],
  ['our choice, a blocked address, a page that a copy allows', blockedWithCopy, 'https://a.test/other', blockedVerdict],
  ['our choice, an address that was blocked for 30 days, robots.txt itself', blockedForLong, ITSELF, blockedVerdict],
  ['our choice, an address that was blocked for 30 days, a page', blockedForLong, PAGE, blockedVerdict],
  [
    'our choice, an early refresh that the network guard blocked',
    blockedLater,
    ITSELF,
    { allowed: true, because: 'robots-txt-itself' },
  ],
  [
    'our choice, an invalid URL, at a blocked address',
    blocked,
    'mailto:a@a.test',
    { allowed: false, because: 'invalid-url', url: 'mailto:a@a.test', problem: 'scheme' },
  ],
  [
    'our choice, an invalid URL, unavailable',
    missing,
    'mailto:a@a.test',
    { allowed: false, because: 'invalid-url', url: 'mailto:a@a.test', problem: 'scheme' },
  ],
  [
    'our choice, an invalid URL, unreachable for 30 days',
    unknownForLong,
    '',
    { allowed: false, because: 'invalid-url', url: '', problem: 'empty' },
  ],
] as const)('%s', (_, entry, url, expected) => {
  const own = entry.copy === undefined ? noRules : rules
  const { verdict } = decide(entry, own, url, NOW, defaultAccessPolicy)
  expect(verdict).toMatchObject(expected)
  expect(allows(entry, own, url, NOW, defaultAccessPolicy)).toBe(expected.allowed)
})

test.each([
  ['fresh', fresh, { freshness: 'fresh', ageMs: DAY, bytes: 52, truncated: true }],
  ['stale', stale, { freshness: 'stale', ageMs: DAY, bytes: 52, truncated: true }],
  ['none, unavailable', missing, undefined],
  ['none, unreachable', unknown, undefined],
] as const)('our choice, access names the copy that was obeyed: %s', (_, entry, expected) => {
  const { access } = decide(entry, noRules, PAGE, NOW, defaultAccessPolicy)
  expect(access.copy).toEqual(expected)
})

test('our choice, access does not name a copy that was not obeyed', () => {
  const { access } = decide(stale, rules, PAGE, NOW, { ...defaultAccessPolicy, whenUnreachable: 'disallow' })
  expect(access.copy).toBeUndefined()
})

test('our choice, the age of a copy is never negative, also after the clock was set back', () => {
  const { access } = decide(fresh, rules, PAGE, NOW - 2 * DAY, defaultAccessPolicy)
  expect(access.copy).toMatchObject({ ageMs: 0 })
})

test('our choice, access has the times of the last and the next attempt', () => {
  const { access } = decide(fresh, rules, PAGE, NOW, defaultAccessPolicy)
  expect(access).toMatchObject({
    outcome: 'success',
    checkedAt: NOW - 1_000,
    nextAttemptAt: NOW + 1_000,
    url: ITSELF,
    hops: [],
  })
})
