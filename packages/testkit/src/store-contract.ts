// What every store keeps to: rows with a function each, which throws where a promise is broken. They run on each store we have,
// and on yours: give them a kit.
import assert from 'node:assert/strict'
import type { Clock } from './clock.ts'
import { pick, seededRandom } from './random-robots.ts'

/** As `Store` of `@politely/fetcher`, which the testkit does not know. */
export interface StoreHandle {
  get(origin: string): Promise<string | undefined>
  set(origin: string, text: string, keepUntil: number): Promise<void>
  delete(origin: string): Promise<void>
  close?(): Promise<void>
}

/**
 * What not every store can do. `ordered`: what one handle is told without waiting counts in that order. `bounded`: holds no more than
 * so many bytes. `closing`: has a `close`. `shared`: several handles on one storage. `lasting`: outlives its handles.
 */
export type StoreAbility = 'ordered' | 'bounded' | 'closing' | 'shared' | 'lasting'

/** Storage that is empty, and nobody else's. */
export interface StoreKit {
  /** A handle on the storage. Where it is not `shared`, one is all that a row asks for. */
  open(): StoreHandle
  /** What the handles go by. */
  readonly clock: Clock
  /** What all of it may take, in bytes; undefined where it is not `bounded`. */
  readonly maxBytes?: number
  /** What it takes now, where that can be seen from outside. */
  heldBytes?(): number
}

export interface StoreRow {
  readonly name: string
  /** Runs only on stores that are able to; undefined for all. */
  readonly needs?: StoreAbility
  run(kit: StoreKit): Promise<void>
}

export type StoreName = 'MemoryStore' | 'SqliteStore' | 'fromKeyv over a Map'

/** Which store is able to do what. docs/stores.md shows it. */
export const storeAbilities: Readonly<Record<StoreName, readonly StoreAbility[]>> = {
  MemoryStore: ['ordered', 'bounded', 'closing'],
  SqliteStore: ['ordered', 'bounded', 'closing', 'shared', 'lasting'],
  'fromKeyv over a Map': ['shared', 'lasting'], // handles on one Map; behind another Keyv they are what that one is
}

export function storeRowsFor(store: StoreName): readonly StoreRow[] {
  return storeRows.filter(({ needs }) => needs === undefined || storeAbilities[store].includes(needs))
}

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

const everyStore: readonly StoreRow[] = [
  row('what was never set is undefined', async (kit) => {
    const store = kit.open()
    for (const origin of [A, ...origins]) assert.equal(await store.get(origin), undefined)
  }),
  row('what was set is given back', async (kit) => {
    const store = kit.open()
    await store.set(A, 'text of a', later(kit))
    assert.equal(await store.get(A), 'text of a')
    assert.equal(await store.get(B), undefined)
  }),
  row('the last text counts', async (kit) => {
    const store = kit.open()
    for (const text of ['a long text, the first one', 'second', 'the third']) await store.set(A, text, later(kit))
    assert.equal(await store.get(A), 'the third')
  }),
  row('what was deleted is gone, and can be set again', async (kit) => {
    const store = kit.open()
    await store.set(A, 'of a', later(kit))
    await store.set(B, 'of b', later(kit))
    await store.delete(A)
    assert.equal(await store.get(A), undefined)
    assert.equal(await store.get(B), 'of b')
    await store.set(A, 'again', later(kit))
    assert.equal(await store.get(A), 'again')
  }),
  row('deleting what is not there is no error', async (kit) => {
    const store = kit.open()
    await store.delete(A)
    await store.delete(A)
    assert.equal(await store.get(A), undefined)
  }),
  ...texts.map(([name, text]) =>
    row(`kept whole: ${name}`, async (kit) => {
      const store = kit.open()
      await store.set(A, text, later(kit))
      assertSame(await store.get(A), text)
    }),
  ),
  row('any origin is a key, and each of them another one', async (kit) => {
    const store = kit.open()
    for (const origin of origins) await store.set(origin, `of ${origin}`, later(kit))
    for (const origin of origins) assertSame(await store.get(origin), `of ${origin}`)
    await store.delete('__proto__')
    assert.equal(await store.get('__proto__'), undefined)
    assert.equal(await store.get('constructor'), 'of constructor')
  }),

  row('until its time it is there, a millisecond later it is not', async (kit) => {
    const store = kit.open()
    await store.set(A, 'of a', later(kit, HOUR))
    await store.set(B, 'of b', later(kit, 2 * HOUR))
    kit.clock.pass(HOUR - 1)
    assert.equal(await store.get(A), 'of a')
    kit.clock.pass(2)
    assert.equal(await store.get(A), undefined)
    assert.equal(await store.get(B), 'of b')
  }),
  row('what is set with a time that has passed is not kept, and takes the place of what was', async (kit) => {
    const store = kit.open()
    await store.set(A, 'before', later(kit))
    await store.set(A, 'too late', later(kit, -1))
    assert.equal(await store.get(A), undefined)
    await store.set(A, 'just too late', kit.clock.now())
    assert.equal(await store.get(A), undefined)
  }),
  row('a new time takes the place of the old one, longer or shorter', async (kit) => {
    const store = kit.open()
    await store.set(A, 'longer', later(kit, HOUR))
    await store.set(A, 'longer', later(kit, 3 * HOUR))
    await store.set(B, 'shorter', later(kit, 3 * HOUR))
    await store.set(B, 'shorter', later(kit, HOUR))
    kit.clock.pass(2 * HOUR)
    assert.equal(await store.get(A), 'longer')
    assert.equal(await store.get(B), undefined)
  }),
  row('a time may have a fraction, and may be far off', async (kit) => {
    const store = kit.open()
    await store.set(A, 'of a', later(kit, HOUR + 0.5))
    await store.set(B, 'of b', 8.64e15) // the last moment that a Date knows
    assert.equal(await store.get(A), 'of a')
    kit.clock.pass(1_000 * HOUR)
    assert.equal(await store.get(B), 'of b')
  }),

  row('of many sets of one origin at once, one wins whole', async (kit) => {
    const store = kit.open()
    const given = Array.from({ length: 50 }, (_, i) => `${i} `.repeat(1 + 997 * (i % 7)))
    await Promise.all(given.map((text) => store.set(A, text, later(kit))))
    const kept = await store.get(A)
    assert(kept !== undefined && given.includes(kept), 'it is none of the texts')
  }),
  row('a thousand origins at once', async (kit) => {
    const store = kit.open()
    const many = Array.from({ length: 1_000 }, (_, i) => `https://n${i}.test`)
    await Promise.all(many.map((origin) => store.set(origin, `of ${origin}`, later(kit))))
    const kept = await Promise.all(many.map((origin) => store.get(origin)))
    assert.deepEqual(
      kept,
      many.map((origin) => `of ${origin}`),
    )
  }),
  row('by dice: a thousand calls, and a map says the same', async (kit) => {
    const store = kit.open()
    const random = seededRandom(1)
    const said = new Map<string, string>()
    for (let call = 0; call < 1_000; call++) {
      const origin = pick(random, origins)
      const what = random()
      if (what < 0.4) {
        const text = `${call}${pick(random, texts)[1].slice(0, 1_000)}`
        said.set(origin, text)
        await store.set(origin, text, later(kit))
      } else if (what < 0.6) {
        said.delete(origin)
        await store.delete(origin)
      } else assertSame(await store.get(origin), said.get(origin))
    }
    for (const origin of origins) assertSame(await store.get(origin), said.get(origin))
  }),
]

const ordered: readonly StoreRow[] = [
  row('sets and deletes of one handle count in the order in which they were asked for', async (kit) => {
    const store = kit.open()
    await Promise.all([store.set(A, 'one', later(kit)), store.delete(A), store.set(A, 'two', later(kit))])
    await Promise.all([store.set(B, 'one', later(kit)), store.delete(B)])
    assert.equal(await store.get(A), 'two')
    assert.equal(await store.get(B), undefined)
  }),
]

const bounded: readonly StoreRow[] = [
  row('the bound holds while three times as much is set, and the last ones are there', async (kit) => {
    const { store, size, text, originOf } = filled(kit)
    for (let i = 0; i < 300; i++) {
      await store.set(originOf(i), text, later(kit))
      if (kit.heldBytes) assertWithin(kit, kit.heldBytes())
    }
    const there = []
    for (let i = 0; i < 300; i++) if ((await store.get(originOf(i))) === text) there.push(i)
    assertWithin(kit, there.length * size)
    assert(there.length >= 30, `only ${there.length} of 100 are there`)
    assert.deepEqual(there.slice(-20), ascending(280, 300))
  }),
  row('the bound holds when all of it is set at once', async (kit) => {
    const { store, size, text, originOf } = filled(kit)
    await Promise.all(ascending(0, 300).map((i) => store.set(originOf(i), text, later(kit))))
    if (kit.heldBytes) assertWithin(kit, kit.heldBytes())
    const there = await Promise.all(ascending(0, 300).map((i) => store.get(originOf(i))))
    assertWithin(kit, there.filter((one) => one === text).length * size)
    assert.deepEqual(there.slice(-20), Array(20).fill(text))
  }),
  row('one origin set over and over again drives out nobody', async (kit) => {
    const { store, text, originOf } = filled(kit)
    await store.set(B, 'of b', later(kit))
    for (let i = 0; i < 300; i++) await store.set(originOf(0), text, later(kit))
    assert.equal(await store.get(B), 'of b')
  }),
  row('what has expired goes before what has not, though that is older', async (kit) => {
    const { store, text, originOf } = filled(kit)
    for (let i = 0; i < 10; i++) await store.set(originOf(i), text, later(kit, 3 * HOUR))
    for (let i = 10; i < 55; i++) await store.set(originOf(i), text, later(kit, HOUR))
    kit.clock.pass(2 * HOUR)
    for (let i = 55; i < 100; i++) await store.set(originOf(i), text, later(kit, HOUR))
    for (let i = 0; i < 10; i++) assertSame(await store.get(originOf(i)), text)
    for (let i = 55; i < 100; i++) assertSame(await store.get(originOf(i)), text)
  }),
  row('a text larger than the bound is not kept, nor is the one before it; the others stay', async (kit) => {
    const store = kit.open()
    const { maxBytes = 0 } = kit
    await store.set(A, 'before', later(kit))
    await store.set(B, 'of b', later(kit))
    await store.set(A, 'x'.repeat(maxBytes + 1), later(kit))
    assert.equal(await store.get(A), undefined)
    assert.equal(await store.get(B), 'of b')
    if (kit.heldBytes) assertWithin(kit, kit.heldBytes())
  }),
]

const closing: readonly StoreRow[] = [
  row('after close every method rejects, with a code', async (kit) => {
    const store = kit.open()
    await store.set(A, 'of a', later(kit))
    await store.close?.()
    const closed = { code: 'ERR_POLITELY_STORE_CLOSED' }
    await assert.rejects(store.get(A), closed)
    await assert.rejects(store.set(A, 'of a', later(kit)), closed)
    await assert.rejects(store.delete(A), closed)
  }),
  row('closing twice is closing once, also at the same time', async (kit) => {
    const store = kit.open()
    await Promise.all([store.close?.(), store.close?.()])
    await store.close?.()
  }),
]

const shared: readonly StoreRow[] = [
  row('two handles see what the other one says', async (kit) => {
    const [one, other] = [kit.open(), kit.open()]
    await one.set(A, 'by one', later(kit))
    assert.equal(await other.get(A), 'by one')
    await other.set(A, 'by the other', later(kit))
    assert.equal(await one.get(A), 'by the other')
    await one.delete(A)
    assert.equal(await other.get(A), undefined)
  }),
  row('two handles that set one origin at once: one wins whole', async (kit) => {
    const handles = [kit.open(), kit.open()]
    const given = Array.from({ length: 40 }, (_, i) => `${i} `.repeat(1 + 997 * (i % 7)))
    await Promise.all(given.map((text, i) => handles[i % 2]?.set(A, text, later(kit))))
    const kept = await handles[0]?.get(A)
    assert(kept !== undefined && given.includes(kept), 'it is none of the texts')
    assertSame(await handles[1]?.get(A), kept)
  }),
  row('two handles that set many origins at once lose none', async (kit) => {
    const handles = [kit.open(), kit.open()]
    const many = ascending(0, 500)
    await Promise.all(many.map((i) => handles[i % 2]?.set(`https://n${i}.test`, `${i}`, later(kit))))
    for (const handle of handles)
      assert.deepEqual(
        await Promise.all(many.map((i) => handle.get(`https://n${i}.test`))),
        many.map((i) => `${i}`),
      )
  }),
]

const lasting: readonly StoreRow[] = [
  row('a handle that is opened later has what an earlier one set, and its times', async (kit) => {
    const before = kit.open()
    await before.set(A, 'of a', later(kit, HOUR))
    await before.set(B, 'of b', later(kit, 3 * HOUR))
    await before.close?.()
    const after = kit.open()
    assert.equal(await after.get(A), 'of a')
    kit.clock.pass(2 * HOUR)
    assert.equal(await after.get(A), undefined)
    assert.equal(await after.get(B), 'of b')
  }),
  row('what was asked for before close is done', async (kit) => {
    const before = kit.open()
    await before.set(B, 'of b', later(kit))
    await Promise.all([before.set(A, 'of a', later(kit)), before.delete(B), before.close?.()])
    const after = kit.open()
    assert.equal(await after.get(A), 'of a')
    assert.equal(await after.get(B), undefined)
  }),
]

export const storeRows: readonly StoreRow[] = [
  ...everyStore,
  ...needing('ordered', ordered),
  ...needing('bounded', bounded),
  ...needing('closing', closing),
  ...needing('shared', shared),
  ...needing('lasting', lasting),
]

function row(name: string, run: StoreRow['run']): StoreRow {
  return { name, run }
}

function needing(needs: StoreAbility, rows: readonly StoreRow[]): StoreRow[] {
  return rows.map((one) => ({ ...one, needs }))
}

function later(kit: StoreKit, ms: number = HOUR): number {
  return kit.clock.now() + ms
}

/** A hundred of these texts fill the bound. */
function filled(kit: StoreKit) {
  const { maxBytes } = kit
  assert(maxBytes !== undefined, 'a kit of a bounded store has maxBytes')
  const size = Math.ceil(maxBytes / 100)
  return { store: kit.open(), size, text: 'x'.repeat(size), originOf: (i: number) => `https://n${i}.test` }
}

function assertWithin({ maxBytes = 0 }: StoreKit, bytes: number): void {
  assert(bytes <= maxBytes, `${bytes} bytes are over the bound, ${maxBytes}`)
}

/** Without printing a text of a million characters. */
function assertSame(actual: string | undefined, expected: string | undefined): void {
  if (actual !== expected) assert.equal(shortened(actual), shortened(expected), 'the texts differ behind what is shown')
}

function shortened(text: string | undefined): string | undefined {
  return text === undefined ? undefined : `${text.length}: ${text.slice(0, 80)}`
}

function ascending(from: number, to: number): number[] {
  return Array.from({ length: to - from }, (_, i) => from + i)
}
