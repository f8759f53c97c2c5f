// The contract of a store, as test cases. The function of a case throws if the store breaks the
// contract.
import assert from 'node:assert/strict'
import { setTimeout } from 'node:timers/promises'
import type { Store } from '@politely/fetcher'
import { type CaseClock, caseClock } from './case-clock.ts'
import { ascending, assertWithin, caseList, each, randomNumbers } from './case-table.ts'

/**
 * Abilities that only some stores have. `ordered`: concurrent calls of one handle take effect in
 * the order of the calls. `bounded`: has a size limit in bytes. `closing`: has `close`. `shared`:
 * supports several handles on one storage. `lasting`: outlives its handles. `leasing`: has `lease`,
 * and is `shared`.
 */
export type StoreAbility = 'ordered' | 'bounded' | 'closing' | 'shared' | 'lasting' | 'leasing'

/** An empty storage for one test case. */
export interface StoreKit {
  /**
   * Opens a handle on the storage. On a store that is not `shared`, a case opens only one. `now` is
   * the clock of the case, in milliseconds since 1970.
   */
  open(now: () => number): Store
  /**
   * Another clock, such as a faked `Date`. Default: a clock that starts at midnight UTC and moves
   * only with `advance`.
   */
  readonly clock?: CaseClock
  /** The size limit of the storage in bytes; undefined if it is not `bounded`. */
  readonly maxBytes?: number
  /** Returns the current size in bytes, if it can be measured from outside. */
  heldBytes?(): number
}

/** One guarantee of a store. */
export interface StoreCase {
  /** A sentence about the store. */
  readonly name: string
  /** The ability that a store needs for this case; undefined if every store must pass it. */
  readonly needs?: StoreAbility
  /** Rejects if the store breaks the guarantee. */
  run(kit: StoreKit): Promise<void>
}

/** Returns the cases for a store with these abilities. */
export function storeCasesFor(abilities: readonly StoreAbility[]): readonly StoreCase[] {
  return storeCases.filter(({ needs }) => needs === undefined || abilities.includes(needs))
}

/** What a case gets: the kit of the test, with the clock of the case. */
interface OpenKit extends Omit<StoreKit, 'open' | 'clock'> {
  open(): Store
  readonly clock: CaseClock
}

type Test = (store: Store, kit: OpenKit) => Promise<void>
type Tests = Readonly<Record<string, Test>>

const A = 'https://a.test'
const B = 'https://b.test'
const HOUR = 3_600_000

const latin1 = Array.from({ length: 256 }, (_, code) => String.fromCharCode(code)).join('')
const texts: readonly (readonly [string, string])[] = [
  ['an empty text', ''],
  ['a text of 1.5 million characters', `{"bytes":"${'Disallow: /a/b\\n'.repeat(93_750)}"}`],
  ['all Latin-1 characters, NUL among them', latin1],
  ['NULs only, and at both ends', '\0\0 \0'],
  ['quotes and SQL', `'";--\`\\' OR 1=1; DROP TABLE texts; $1 ?1 :a @b %s`],
  ['characters outside Latin-1 and outside the BMP', 'ÿĀ€\u2028\ufeff\uffff𝒜😀\u{10ffff}'],
  ['a text that looks like a number', '1e3'],
  ['blanks at both ends, and all line ends', ' \t\r\n\v\f\u0085 x \n'],
]
const origins: readonly string[] = [
  'http://[::1]:8080',
  'http://[2001:db8::1]',
  'https://xn--bcher-kva.example:65535',
  'https://bücher.example',
  'https://A.test',
  `https://${'a.'.repeat(5_000)}test`,
  '__proto__',
  'constructor',
  'toString',
  'a\0b',
  'a',
  ' a',
  "a'; DROP TABLE texts; --",
  '%00',
  '😀',
]

const everyStore: Tests = {
  'a text that was never set is undefined': async (store) => {
    for (const origin of [A, ...origins]) assert.equal(await store.get(origin), undefined)
  },
  'returns the text that was set': async (store, kit) => {
    await store.set(A, 'text of a', later(kit))
    assert.equal(await store.get(A), 'text of a')
    assert.equal(await store.get(B), undefined)
  },
  'returns the last text that was set': async (store, kit) => {
    for (const text of ['a long text, the first one', 'second', 'the third']) await store.set(A, text, later(kit))
    assert.equal(await store.get(A), 'the third')
  },
  'a deleted text is gone, and can be set again': async (store, kit) => {
    await store.set(A, 'of a', later(kit))
    await store.set(B, 'of b', later(kit))
    await store.delete(A)
    assert.equal(await store.get(A), undefined)
    assert.equal(await store.get(B), 'of b')
    await store.set(A, 'again', later(kit))
    assert.equal(await store.get(A), 'again')
  },
  'deleting a missing text is not an error': async (store) => {
    await store.delete(A)
    await store.delete(A)
    assert.equal(await store.get(A), undefined)
  },
  ...each<(typeof texts)[number], Test>(texts, ([name, text]) => [
    `returns unchanged: ${name}`,
    async (store, kit) => {
      await store.set(A, text, later(kit))
      assertSame(await store.get(A), text)
    },
  ]),
  'any text can be an origin, and each is a separate key': async (store, kit) => {
    for (const origin of origins) await store.set(origin, `of ${origin}`, later(kit))
    for (const origin of origins) assertSame(await store.get(origin), `of ${origin}`)
    await store.delete('__proto__')
    assert.equal(await store.get('__proto__'), undefined)
    assert.equal(await store.get('constructor'), 'of constructor')
  },

  'a text exists until its expiry time, and not after it': async (store, kit) => {
    await store.set(A, 'of a', later(kit, HOUR))
    await store.set(B, 'of b', later(kit, 2 * HOUR))
    await kit.clock.advance(HOUR - 1)
    assert.equal(await store.get(A), 'of a')
    await kit.clock.advance(2)
    assert.equal(await store.get(A), undefined)
    assert.equal(await store.get(B), 'of b')
  },
  'a text that is set with an expiry time in the past replaces the old one and is not stored': async (store, kit) => {
    await store.set(A, 'before', later(kit))
    await store.set(A, 'too late', later(kit, -1))
    assert.equal(await store.get(A), undefined)
    await store.set(A, 'just too late', kit.clock.now())
    assert.equal(await store.get(A), undefined)
  },
  'a new expiry time replaces the old one, whether later or earlier': async (store, kit) => {
    await store.set(A, 'longer', later(kit, HOUR))
    await store.set(A, 'longer', later(kit, 3 * HOUR))
    await store.set(B, 'shorter', later(kit, 3 * HOUR))
    await store.set(B, 'shorter', later(kit, HOUR))
    await kit.clock.advance(2 * HOUR)
    assert.equal(await store.get(A), 'longer')
    assert.equal(await store.get(B), undefined)
  },
  'an expiry time may have a fraction, and may be far in the future': async (store, kit) => {
    await store.set(A, 'of a', later(kit, HOUR + 0.5))
    await store.set(B, 'of b', 8.64e15) // the largest valid Date
    assert.equal(await store.get(A), 'of a')
    await kit.clock.advance(1_000 * HOUR)
    assert.equal(await store.get(B), 'of b')
  },

  'of many concurrent sets of one origin, one wins completely': async (store, kit) => {
    const given = Array.from({ length: 50 }, (_, i) => `${i} `.repeat(1 + 997 * (i % 7)))
    await Promise.all(given.map((text) => store.set(A, text, later(kit))))
    const stored = await store.get(A)
    assert(stored !== undefined && given.includes(stored), 'the stored text is none of those that were set')
  },
  'stores a thousand origins concurrently': async (store, kit) => {
    const many = Array.from({ length: 1_000 }, (_, i) => `https://n${i}.test`)
    await Promise.all(many.map((origin) => store.set(origin, `of ${origin}`, later(kit))))
    const stored = await Promise.all(many.map((origin) => store.get(origin)))
    assert.deepEqual(
      stored,
      many.map((origin) => `of ${origin}`),
    )
  },
  'behaves like a Map in a thousand random calls': async (store, kit) => {
    const random = randomNumbers(0)
    const expected = new Map<string, string>()
    for (let call = 0; call < 1_000; call++) {
      const origin = origins[Math.floor(random() * origins.length)] ?? A
      const what = random()
      if (what < 0.4) {
        const text = `${call}${texts[call % texts.length]?.[1].slice(0, 1_000)}`
        expected.set(origin, text)
        await store.set(origin, text, later(kit))
      } else if (what < 0.6) {
        expected.delete(origin)
        await store.delete(origin)
      } else assertSame(await store.get(origin), expected.get(origin))
    }
    for (const origin of origins) assertSame(await store.get(origin), expected.get(origin))
  },
}

const ordered: Tests = {
  'concurrent sets and deletes of one handle take effect in the order of the calls': async (store, kit) => {
    await Promise.all([store.set(A, 'one', later(kit)), store.delete(A), store.set(A, 'two', later(kit))])
    await Promise.all([store.set(B, 'one', later(kit)), store.delete(B)])
    assert.equal(await store.get(A), 'two')
    assert.equal(await store.get(B), undefined)
  },
}

const bounded: Tests = {
  'stays within the size limit while three times as much is set, and keeps the newest texts': async (store, kit) => {
    const { size, text, originOf } = filled(kit)
    for (let i = 0; i < 300; i++) {
      await store.set(originOf(i), text, later(kit))
      if (kit.heldBytes) assertWithin(kit.maxBytes, kit.heldBytes())
    }
    const present = []
    for (let i = 0; i < 300; i++) if ((await store.get(originOf(i))) === text) present.push(i)
    assertWithin(kit.maxBytes, present.length * size)
    assert(present.length >= 30, `only ${present.length} of 100 texts are present`)
    assert.deepEqual(present.slice(-20), ascending(280, 300))
  },
  'stays within the size limit when everything is set concurrently': async (store, kit) => {
    const { size, text, originOf } = filled(kit)
    await Promise.all(ascending(0, 300).map((i) => store.set(originOf(i), text, later(kit))))
    if (kit.heldBytes) assertWithin(kit.maxBytes, kit.heldBytes())
    const present = await Promise.all(ascending(0, 300).map((i) => store.get(originOf(i))))
    assertWithin(kit.maxBytes, present.filter((one) => one === text).length * size)
    assert.deepEqual(present.slice(-20), Array(20).fill(text))
  },
  'repeated sets of one origin evict no other origin': async (store, kit) => {
    const { text, originOf } = filled(kit)
    await store.set(B, 'of b', later(kit))
    for (let i = 0; i < 300; i++) await store.set(originOf(0), text, later(kit))
    assert.equal(await store.get(B), 'of b')
  },
  'evicts expired texts before older texts that have not expired': async (store, kit) => {
    const { text, originOf } = filled(kit)
    for (let i = 0; i < 10; i++) await store.set(originOf(i), text, later(kit, 3 * HOUR))
    for (let i = 10; i < 55; i++) await store.set(originOf(i), text, later(kit, HOUR))
    await kit.clock.advance(2 * HOUR)
    for (let i = 55; i < 100; i++) await store.set(originOf(i), text, later(kit, HOUR))
    for (let i = 0; i < 10; i++) assertSame(await store.get(originOf(i)), text)
    for (let i = 55; i < 100; i++) assertSame(await store.get(originOf(i)), text)
  },
  'a text over the size limit is not stored and deletes the one before it, but no others': async (store, kit) => {
    const { maxBytes = 0 } = kit
    await store.set(A, 'before', later(kit))
    await store.set(B, 'of b', later(kit))
    await store.set(A, 'x'.repeat(maxBytes + 1), later(kit))
    assert.equal(await store.get(A), undefined)
    assert.equal(await store.get(B), 'of b')
    if (kit.heldBytes) assertWithin(kit.maxBytes, kit.heldBytes())
  },
}

const closing: Tests = {
  'after close, every method rejects with a code': async (store, kit) => {
    await store.set(A, 'of a', later(kit))
    await store.close?.()
    const closed = { code: 'ERR_POLITELY_STORE_CLOSED' }
    await assert.rejects(store.get(A), closed)
    await assert.rejects(store.set(A, 'of a', later(kit)), closed)
    await assert.rejects(store.delete(A), closed)
  },
  'close can be called repeatedly and concurrently': async (store) => {
    await Promise.all([store.close?.(), store.close?.()])
    await store.close?.()
  },
}

const shared: Tests = {
  'two handles see each other’s texts': async (first, kit) => {
    const second = kit.open()
    await first.set(A, 'by the first', later(kit))
    assert.equal(await second.get(A), 'by the first')
    await second.set(A, 'by the second', later(kit))
    assert.equal(await first.get(A), 'by the second')
    await first.delete(A)
    assert.equal(await second.get(A), undefined)
  },
  'of concurrent sets of one origin by two handles, one wins completely': async (store, kit) => {
    const handles = [store, kit.open()]
    const given = Array.from({ length: 40 }, (_, i) => `${i} `.repeat(1 + 997 * (i % 7)))
    await Promise.all(given.map((text, i) => handles[i % 2]?.set(A, text, later(kit))))
    const stored = await handles[0]?.get(A)
    assert(stored !== undefined && given.includes(stored), 'the stored text is none of those that were set')
    assertSame(await handles[1]?.get(A), stored)
  },
  'two handles that set many origins concurrently lose none': async (store, kit) => {
    const handles = [store, kit.open()]
    const many = ascending(0, 500)
    await Promise.all(many.map((i) => handles[i % 2]?.set(`https://n${i}.test`, `${i}`, later(kit))))
    for (const handle of handles)
      assert.deepEqual(
        await Promise.all(many.map((i) => handle.get(`https://n${i}.test`))),
        many.map((i) => `${i}`),
      )
  },
}

const lasting: Tests = {
  'a handle that is opened later has the texts and expiry times of an earlier one': async (before, kit) => {
    await before.set(A, 'of a', later(kit, HOUR))
    await before.set(B, 'of b', later(kit, 3 * HOUR))
    await before.close?.()
    const after = kit.open()
    assert.equal(await after.get(A), 'of a')
    await kit.clock.advance(2 * HOUR)
    assert.equal(await after.get(A), undefined)
    assert.equal(await after.get(B), 'of b')
  },
  'calls before close take effect': async (before, kit) => {
    await before.set(B, 'of b', later(kit))
    await Promise.all([before.set(A, 'of a', later(kit)), before.delete(B), before.close?.()])
    const after = kit.open()
    assert.equal(await after.get(A), 'of a')
    assert.equal(await after.get(B), undefined)
  },
}

const leasing: Tests = {
  'one handle at a time holds the lease of an origin': async (first, kit) => {
    const second = kit.open()
    const held = await first.lease?.(A, HOUR)
    assert(held !== undefined)
    assert.equal(await second.lease?.(A, HOUR), undefined)
    assert.equal(await first.lease?.(A, HOUR), undefined)
    await held.release()
    assert.notEqual(await second.lease?.(A, HOUR), undefined)
  },
  'of concurrent calls, one takes the lease': async (store, kit) => {
    const handles = [store, kit.open()]
    const leases = await Promise.all(ascending(0, 40).map((i) => handles[i % 2]?.lease?.(A, HOUR)))
    assert.equal(leases.filter((lease) => lease !== undefined).length, 1)
  },
  'any text can be an origin, and each has a lease of its own, apart from its text': async (store, kit) => {
    for (const origin of origins) assert.notEqual(await store.lease?.(origin, HOUR), undefined)
    await store.set(A, 'of a', later(kit))
    await store.lease?.(A, HOUR)
    assert.equal(await store.get(A), 'of a')
    await store.delete(A)
    assert.equal(await store.lease?.(A, HOUR), undefined)
  },
  'an expired lease can be taken, and its late release does not end the new one': async (first, kit) => {
    const second = kit.open()
    const late = await first.lease?.(A, 20)
    let next = await second.lease?.(A, HOUR)
    while (next === undefined) {
      await setTimeout(5) // for a store that uses another clock than the test's
      await kit.clock.advance(5)
      next = await second.lease?.(A, HOUR)
    }
    await late?.release()
    assert.equal(await first.lease?.(A, HOUR), undefined)
    await next.release()
    await next.release()
    assert.notEqual(await first.lease?.(A, HOUR), undefined)
  },
}

/** What every store must guarantee, and what stores with an ability must. */
export const storeCases: readonly StoreCase[] = caseList<StoreAbility, Store, OpenKit, StoreKit>(
  { every: everyStore, ordered, bounded, closing, shared, lasting, leasing },
  async (kit, test) => {
    const { clock = caseClock() } = kit
    const openKit = { ...kit, clock, open: () => kit.open(clock.now) }
    await test(openKit.open(), openKit)
  },
)

function later(kit: OpenKit, ms: number = HOUR): number {
  return kit.clock.now() + ms
}

/** Returns a text of which a hundred fill the size limit. */
function filled({ maxBytes }: OpenKit) {
  assert(maxBytes !== undefined, 'the kit of a bounded store must have maxBytes')
  const size = Math.ceil(maxBytes / 100)
  return { size, text: 'x'.repeat(size), originOf: (i: number) => `https://n${i}.test` }
}

/** Compares texts; the error message shows only their beginnings. */
function assertSame(actual: string | undefined, expected: string | undefined): void {
  if (actual !== expected)
    assert.equal(shortened(actual), shortened(expected), 'the texts differ after the part that is shown')
}

function shortened(text: string | undefined): string | undefined {
  return text === undefined ? undefined : `${text.length}: ${text.slice(0, 80)}`
}
