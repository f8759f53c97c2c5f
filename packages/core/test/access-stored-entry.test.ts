// Entries from a store, which is not trusted: each is either valid or rejected.

import { pick, seededRandom } from '@politely/testkit/random-robots'
import { sampled } from '@politely/testkit/scope'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import {
  type AccessPolicy,
  decide,
  ENTRY_VERSION,
  type Entry,
  entryFrom,
  entryText,
  holdsUntil,
  keepUntil,
  type Outcome,
  plan,
  type State,
  settle,
  stateOf,
} from '../src/engine.ts'
import { parseRobots } from '../src/index.ts'
import { defaultAccessPolicy, describeState } from '../src/internal.ts'

const DAY = 86_400_000
const START = Date.UTC(2026, 0, 1)
const ORIGIN = 'https://a.test'
const URL = `${ORIGIN}/robots.txt`
const policy: AccessPolicy = { ...defaultAccessPolicy, refreshAheadMs: DAY }

const success: Outcome = {
  kind: 'success',
  status: 200,
  headers: { etag: '"1"', 'last-modified': 'Thu, 01 Jan 2026 00:00:00 GMT', 'cache-control': 'max-age=86400' },
  body: { bytes: 'User-agent: *\nDisallow: /caf\u00e9\u0000\n', truncated: false },
  url: 'https://b.test/robots.txt',
  hops: [{ url: URL, status: 301 }],
}
const failure: Outcome = { kind: 'unreachable', reason: 'tls', detail: 'the message', url: URL, hops: [] }
const busy: Outcome = {
  kind: 'unreachable',
  reason: 'status',
  status: 429,
  headers: { 'retry-after': '30' },
  url: URL,
  hops: [],
}

const answered = settle(undefined, ORIGIN, success, START, policy)
/** An entry with every field. */
const held = settle(answered, ORIGIN, failure, START + DAY - 1, policy)
const lost = settle(held, ORIGIN, failure, START + 2 * DAY, policy)
const pushedBack = settle(answered, ORIGIN, busy, START + 2 * DAY, policy)
const entries: readonly Entry[] = [answered, held, lost, pushedBack]

type Json = Record<string, unknown>
const json = (entry: Entry) => JSON.parse(JSON.stringify(entry)) as Json
/** The text of a value that may not be a valid entry, with its checksum. */
const textOf = (value: unknown) => entryText(value as Entry)

/** Runs every operation on an entry, at times in the year 2026. */
function use(entry: Entry): void {
  for (const now of [START, START + DAY, START + 300 * DAY]) {
    expect(['answer', 'answer-and-refresh', 'obtain']).toContain(plan(entry, now, policy))
    const rules = parseRobots(entry.copy?.bytes ?? '').forCrawler('ExampleBot')
    const { verdict, access } = decide(entry, rules, `${ORIGIN}/page`, now, policy)
    expect(JSON.parse(JSON.stringify({ verdict, access }))).toEqual({ verdict, access })
    expect(describeState(entry, now, policy)).toMatch(/^\P{Cc}+$/u)
    for (const outcome of [success, failure]) {
      const next = settle(entry, ORIGIN, outcome, now, policy)
      expect(next.nextAttemptAt).toBeGreaterThan(now)
      expect(next.nextAttemptAt).toBeLessThanOrEqual(now + policy.maxTtlMs)
    }
  }
  expect(plan(entry, START + 300 * DAY, policy), 'fetched again some day').toBe('obtain')
}

describe('entryFrom (our choice)', () => {
  test.each(entries)('returns an unchanged entry: $latest.kind', (entry) => {
    expect(entryFrom(entryText(entry), ORIGIN)).toEqual(entry)
    expect(entryFrom(entryText(entry))).toEqual(entry)
    use(entry)
  })

  test.each([
    ['an empty text', ''],
    ['invalid JSON', '{'],
    ['a number', '42'],
    ['null', 'null'],
    ['a list', '[]'],
    ['a truncated entry', entryText(lost).slice(0, -1)],
    ['an entry of another version', textOf({ ...lost, version: ENTRY_VERSION - 1 })],
    ['an entry without a checksum', JSON.stringify(lost)],
    ['an entry with another checksum', entryText(lost).replace(/\d+/, '1')],
    ['an entry with one letter of its robots.txt changed', entryText(lost).replace('Disallow: /caf', 'Disallow: /cat')],
    ['a checksum alone', entryText(lost).replace(/,.*/, ',')],
    ['deeply nested JSON', '['.repeat(1_000_000)],
    ['a huge text', `"${'x'.repeat(5_000_000)}"`],
  ])('rejects %s', (_, text) => {
    expect(entryFrom(text)).toBeUndefined()
  })

  test.each([
    ['an entry of another origin', entryText(lost), 'https://b.test'],
    ['an entry with an invalid origin', entryText({ ...lost, origin: 'a.test' }), undefined],
    ['an entry with an origin in another spelling', entryText({ ...lost, origin: 'https://A.test' }), undefined],
  ])('rejects %s', (_, text, of) => {
    expect(entryFrom(text, of)).toBeUndefined()
  })

  const one = (changes: Json, entry = lost) => ({ ...json(entry), ...changes })
  const askingToWait = (retryAfterMs: unknown) =>
    one({ latest: { ...(json(pushedBack).latest as Json), retryAfterMs } }, pushedBack)
  test.each([
    ['a success without a copy', one({ copy: undefined }, answered)],
    ['a failure without unreachableSince', one({ unreachableSince: undefined })],
    ['a failure with a count of 0', one({ failures: 0 })],
    ['a result with a count of failures', one({ failures: 1 }, answered)],
    ['a negative count of failures', one({ failures: -1 })],
    ['a fractional count of failures', one({ failures: 0.5 })],
    ['a result with unreachableForMs', one({ unreachableForMs: 1 }, answered)],
    ['a negative unreachableForMs', one({ unreachableForMs: -1 })],
    ['more time than this number of failures can show', one({ unreachableForMs: 5 * DAY + 1, unreachableSince: 0 })],
    ['more time than since the first failure', one({ unreachableForMs: DAY + 2 })],
    ['a first failure after the last', one({ unreachableSince: START + 9 * DAY })],
    ['a held result after a result', one({ held: json(held).held }, answered)],
    ['a held failure', one({ held: { attempt: json(lost).latest, until: START } })],
    ['a held success without a copy', one({ copy: undefined }, held)],
    ['too many earlier attempts', one({ earlier: Array.from({ length: 5 }, () => json(lost).latest) })],
    ['a copy that looks like an unknown format', one({ copy: { ...(json(lost).copy as Json), looksLike: 'x' } })],
    ['an attempt that looks like an unknown format', one({ latest: { ...(json(lost).latest as Json), looksLike: 1 } })],
    ['an attempt whose kind is a list', one({ latest: { ...(json(lost).latest as Json), kind: ['unreachable'] } })],
    ['an attempt whose kind is an object', one({ latest: { ...(json(lost).latest as Json), kind: { toString: 1 } } })],
    ['an attempt that asks to wait 0 ms', askingToWait(0)],
    ['an attempt that asks to wait -1 ms', askingToWait(-1)],
    ['an attempt that asks to wait longer than a day', askingToWait(DAY + 1)],
    ['an attempt that asks to wait for a text', askingToWait('30')],
    ['a copy with characters that are not bytes', one({ copy: { ...(json(lost).copy as Json), bytes: 'caf\u0113' } })],
    [
      'an ETag that is not a valid header value',
      one({ copy: { ...(json(lost).copy as Json), etag: '"1"\r\nCookie: x' } }),
    ],
    [
      'a Last-Modified that is not a valid header value',
      one({ copy: { ...(json(lost).copy as Json), lastModified: '\u0113' } }),
    ],
  ])('rejects %s', (_, value) => {
    expect(entryFrom(textOf(value))).toBeUndefined()
  })

  const unavailable = { kind: 'unavailable', headers: {}, url: URL, hops: [] } as const
  test.each<readonly [string, Outcome, writer: Partial<AccessPolicy>, reader: Partial<AccessPolicy>]>([
    ['403 as unavailable', { ...unavailable, reason: 'status', status: 403 }, {}, { forbidden: 'restricted' }],
    [
      '401 as restricted',
      { ...unavailable, kind: 'restricted', reason: 'status', status: 401 },
      { forbidden: 'restricted' },
      {},
    ],
    [
      'a 500 that says "not found" as unavailable',
      { ...unavailable, reason: 'not-found-page', status: 500 },
      { notFoundPages: 'unavailable' },
      {},
    ],
    [
      'a challenge as unavailable',
      { ...unavailable, reason: 'status', status: 403, looksLike: 'challenge' },
      {},
      { foreignBodies: 'unreachable' },
    ],
    [
      'more redirects than the writer followed',
      { ...unavailable, reason: 'too-many-redirects', status: 301, hops: [{ url: URL, status: 301 }] },
      { maxRedirects: 1 },
      { maxRedirects: 2 },
    ],
  ])('rejects an outcome that the reader’s policy does not give: %s', (_, outcome, writer, reader) => {
    const entry = settle(undefined, ORIGIN, outcome, START, policy)
    const early = settle(entry, ORIGIN, failure, START + DAY - 1, policy)
    expect(early.held).toBeDefined()
    for (const text of [entry, early].map(entryText)) {
      expect(entryFrom(text, ORIGIN, { ...policy, ...writer })).toBeDefined()
      expect(entryFrom(text, ORIGIN, { ...policy, ...reader })).toBeUndefined()
    }
  })

  test('rejects a copy that is not a robots.txt, after a failure, for a reader that does not obey it', () => {
    const page = { kind: 'success', status: 200, headers: {}, url: URL, hops: [], looksLike: 'html' } as const
    const first = settle(undefined, ORIGIN, { ...page, body: { bytes: '<html>', truncated: false } }, START, policy)
    const text = entryText(settle(first, ORIGIN, failure, START + 2 * DAY, policy))
    expect(entryFrom(text, ORIGIN, policy)).toBeDefined()
    expect(entryFrom(text, ORIGIN, { ...policy, foreignBodies: 'unreachable' })).toBeUndefined()
  })

  test('rejects a 503 that says "not found" as unavailable, which no policy gives', () => {
    const outcome = { ...unavailable, reason: 'not-found-page', status: 503 } as const
    const text = entryText(settle(undefined, ORIGIN, outcome, START, policy))
    expect(entryFrom(text, ORIGIN, { ...policy, notFoundPages: 'unavailable' })).toBeUndefined()
  })

  test('drops unknown fields', () => {
    const copy = { ...(json(lost).copy as Json), more: 1 }
    const latest = { ...(json(lost).latest as Json), more: 1 }
    expect(entryFrom(textOf(one({ copy, latest, more: 1 })))).toEqual(lost)
  })
})

/** The paths of all fields, such as ['copy', 'etag']. */
function pathsIn(value: unknown, path: readonly string[] = []): (readonly string[])[] {
  if (typeof value !== 'object' || value === null) return []
  return Object.entries(value).flatMap(([name, field]) => {
    const fieldPath = [...path, name]
    return [fieldPath, ...pathsIn(field, fieldPath)]
  })
}

function changed(value: Json, path: readonly string[], to: unknown): Json {
  const whole = structuredClone(value)
  const [name = '', ...outer] = [...path].reverse()
  const parent = outer.reverse().reduce((at, key) => at[key] as Json, whole)
  if (to === undefined) delete parent[name]
  else parent[name] = to
  return whole
}

describe('every field of an entry (our choice)', () => {
  const others = [undefined, null, '', 'x', 0, -1, 1.5, 1e300, true, [], {}, [null], '\u0000', '\u0113']
  const rows = entries.flatMap((entry) => pathsIn(json(entry)).map((path) => [path.join('.'), entry, path] as const))
  const optional = /(^|\.)(detail|status|etag|lastModified|lifetimeMs|retryAfterMs)$|^copy$|^held$/

  test.each(rows)('%s: a missing or different value gives a valid entry or none', (name, entry, path) => {
    const read = others.map((other) => entryFrom(textOf(changed(json(entry), path, other))))
    for (const one of read) if (one !== undefined) use(one)
    const isInList = /\.\d+$/.test(name)
    if (!optional.test(name) && !isInList) expect(read[0], 'without the field').toBeUndefined()
    expect(read.filter((one) => one === undefined).length).toBeGreaterThan(others.length / 3)
  })
})

test('an entry with any times is valid for no longer, and allows no more, than the policy permits (our choice)', () => {
  const { maxTtlMs, afterDays } = policy
  let read = 0
  const seen = new Set<State>()
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 2 ** 31 }), (seed) => {
      const roll = seededRandom(seed)
      const offsets = [-START, -400 * DAY, -40 * DAY, -30 * DAY, -DAY, -1, 0, 1, DAY, 8 * DAY, 400 * DAY, 1e300]
      const time = () => START + pick(roll, offsets)
      const attempt = () => ({ ...pick(roll, entries).latest, at: time() })
      const source = pick(roll, entries)
      const entry = entryFrom(
        textOf({
          ...source,
          latest: { ...source.latest, at: time() },
          nextAttemptAt: time(),
          copy: roll() < 0.5 ? undefined : { ...source.copy, confirmedAt: time() },
          unreachableSince: source.failures === 0 ? undefined : time(),
          failures: source.failures * pick(roll, [1, 3, 7, 1e9]),
          unreachableForMs: source.failures === 0 ? 0 : pick(roll, [0, DAY, 30 * DAY, 1e300]),
          held: roll() < 0.5 ? undefined : { attempt: attempt(), until: time() },
        }),
      )
      if (entry === undefined) return
      read++
      const { latest, held, failures, unreachableForMs, unreachableSince = Number.NaN } = entry
      const letters = { ...policy, thenAssume: 'unavailable' } as const
      for (const now of [START, latest.at, latest.at + maxTtlMs]) {
        const state = stateOf(entry, now, letters)
        seen.add(state)
        if (state === 'long-lost') {
          expect(failures).toBeGreaterThan(6)
          expect(Math.min(unreachableForMs, latest.at - unreachableSince)).toBeGreaterThanOrEqual(afterDays * DAY)
        }
        const until = holdsUntil(entry, now, policy)
        expect(until).toBeLessThanOrEqual(Math.max(0, latest.at + maxTtlMs))
        const { access } = decide(entry, parseRobots('').forCrawler('x'), ORIGIN, now, policy)
        if (held !== undefined && now >= until) expect(access.outcome).toBe('unreachable')
        expect(access.nextAttemptAt).toBeLessThanOrEqual(latest.at + maxTtlMs)
        expect(keepUntil(entry, now, policy)).toBeLessThanOrEqual(now + maxTtlMs + afterDays * DAY)
        if (now === latest.at + maxTtlMs) expect(plan(entry, now, policy)).toBe('obtain')
      }
    }),
    { numRuns: sampled(20_000) },
  )
  expect(read).toBeGreaterThan(sampled(1_000))
  expect(seen).toContain('long-lost')
  expect(seen).toContain('lost')
  expect(seen).toContain('rules')
})

test('the text of an entry is JSON that begins with the FNV-1a checksum of the rest (our choice)', () => {
  const text = entryText(lost)
  const { checksum, ...entry } = JSON.parse(text)
  expect(entry).toEqual(json(lost))
  const start = `{"checksum":${checksum},`
  expect(text.startsWith(start)).toBe(true)
  let hash = 0x811c9dc5n
  for (const byte of Buffer.from(text.slice(start.length), 'utf16le').filter((_, i) => i % 2 === 0)) {
    hash = ((hash ^ BigInt(byte)) * 0x01000193n) % 2n ** 32n
  }
  expect(checksum).toBe(Number(hash))
})

test('an entry with one changed character is rejected (our choice)', () => {
  const texts = entries.map(entryText)
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 2 ** 31 }), (seed) => {
      const roll = seededRandom(seed)
      const text = pick(roll, texts)
      const at = Math.floor(roll() * text.length)
      const replacement = pick(roll, ['', '0', '9', '-', 'e', '"', ',', '}', '\\', ' ', 'x', '\u0113', '\ud800', '\n'])
      if (replacement === text[at]) return
      expect(entryFrom(text.slice(0, at) + replacement + text.slice(at + 1))).toBeUndefined()
    }),
    { numRuns: sampled(5_000) },
  )
})

test('an entry with one character changed before its checksum was computed is valid or rejected (our choice)', () => {
  let valid = 0
  let rejected = 0
  const rows = entries.map((entry) => JSON.stringify(entry))
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 2 ** 31 }), (seed) => {
      const roll = seededRandom(seed)
      const text = pick(roll, rows)
      const at = Math.floor(roll() * text.length)
      const replacement = pick(roll, ['0', '9', '-', 'e', ',', '}', ' ', 'x', '\u0113', '\ud800'])
      const value = parsed(text.slice(0, at) + replacement + text.slice(at + 1))
      if (value === undefined) return
      const entry = entryFrom(textOf(value))
      if (entry === undefined) return void rejected++
      valid++
      use(entry)
    }),
    { numRuns: sampled(5_000) },
  )
  expect(valid).toBeGreaterThan(sampled(1_000))
  expect(rejected).toBeGreaterThan(sampled(100))
})

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
