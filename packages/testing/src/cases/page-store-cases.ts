// The contract of a store of pages, as test cases. They need no test runner: a case throws if the
// store breaks the contract.
import assert from 'node:assert/strict'
import type { PageRecord, PageStore, StoredPage, VisitLog } from '@politely/cache'
import { ascending, assertWithin, caseList, each, randomNumbers } from './case-table.ts'

/**
 * What only some stores can do. `bounded`: has a size limit in bytes. `shared`: several handles on one
 * storage can be open. `lasting`: the storage outlives its handles.
 */
export type PageStoreAbility = 'bounded' | 'shared' | 'lasting'

/** An empty storage for one case. */
export interface PageStoreKit {
  /** Opens a handle on the storage. A case of a store that is not `shared` has one open at a time. */
  open(): PageStore | PromiseLike<PageStore>
  /** The size limit of the storage. Bytes. Cases that need `bounded` require it. */
  readonly maxBytes?: number | undefined
  /** Returns the current size in bytes, if it can be measured from outside. */
  heldBytes?(): number
}

/** A requirement for stores of pages. */
export interface PageStoreCase {
  readonly name: string
  /** What a store must be able to do for this case. Undefined: every store must pass it. */
  readonly needs?: PageStoreAbility | undefined
  /** @throws {AssertionError} if the store breaks the contract. */
  run(kit: PageStoreKit): Promise<void>
}

type Test = (store: PageStore, kit: PageStoreKit) => Promise<void>
type Tests = Readonly<Record<string, Test>>

const A = 'https://a.test/'
const B = 'https://b.test/'
/** 1 June 2026. */
const START = Date.UTC(2026, 5, 1)
const MIB = 1_048_576
/** How many responses of a URL a store keeps. */
const MAX_VARIANTS = 20

const oddTexts = [
  Array.from({ length: 256 }, (_, code) => String.fromCharCode(code)).join(''),
  'ÿĀ€\u2028\ufeff\uffff😀',
  '\ud800 and \udfff are alone',
  `'";--\`\\' OR 1=1; DROP TABLE pages; $1 ?1 :a @b %s`,
  ' \t\r\n\v\f x ',
]
const oddUrls = [
  'https://a.test/?a\0b',
  'https://a.test/?a',
  'https://a.test/?\ud800',
  'https://a.test/?\ufffd',
  `https://a.test/${'a/'.repeat(5_000)}`,
  'https://a.test/%00?q=%20#',
  'https://A.test/',
  '__proto__',
  'constructor',
]

const everyStore: Tests = {
  'knows nothing of a new URL': async (store) => {
    assert.deepEqual(await store.find(A), [])
    assert.equal(await store.body(1), undefined)
    assert.equal(await store.visits(A), undefined)
    assert.equal(await store.delete(A), 0)
    assert.equal(await store.forget(A), 0)
    await store.update(1, recordOf(A))
    assert.deepEqual(await store.find(A), [])
    assert.deepEqual(await store.due(START, 10), [])
    assert.deepEqual(await listOf(store.pages()), [])
  },
  'returns a response as it was committed, its texts among it': async (store) => {
    const record: PageRecord = {
      ...recordOf(A),
      varied: [
        ['accept', 'text/html'],
        ['cookie', null],
      ],
      status: 404,
      statusText: oddTexts[0] as string,
      headers: oddTexts.map((text, n) => [`x-${n}`, text] as const),
      robotsTags: oddTexts,
    }
    await put(store, record, bodyOf(1, 5_000))
    const [found, ...others] = await store.find(A)
    assert.deepEqual(others, [])
    assert.deepEqual(found?.record, record)
    assert.equal(found?.bodyBytes, 5_000)
  },
  ...each<number, Test>([1_000_000, 16_384, 1_000], (chunk) => [
    `returns bodies of any length that were written in chunks of ${chunk} bytes`,
    async (store) => {
      const lengths = [0, 1, 8_191, 65_536, 131_071, 131_072, 131_073, 3 * 131_072, 1_000_003]
      for (const bytes of lengths) await put(store, recordOf(`${A}${bytes}`), bodyOf(bytes, bytes), chunk)
      for (const bytes of lengths) await assertBody(store, (await store.find(`${A}${bytes}`))[0], bodyOf(bytes, bytes))
    },
  ]),
  'any text can be a URL': async (store) => {
    for (const url of oddUrls) {
      await put(store, recordOf(url), Buffer.from(JSON.stringify(url)))
      await store.setVisits(logOf(url, START))
    }
    for (const url of oddUrls) {
      const [found, ...others] = await store.find(url)
      assert.deepEqual(others, [])
      assert.deepEqual(found?.record, recordOf(url))
      await assertBody(store, found, Buffer.from(JSON.stringify(url)))
      assert.deepEqual(await store.visits(url), logOf(url, START))
    }
  },
  'a body is read as it was written, each time': async (store) => {
    const writer = await store.begin()
    for (const value of [1, 2, 3]) await writer.write(Buffer.alloc(200_000, value))
    await writer.commit(recordOf(A))
    const expected = Buffer.concat([1, 2, 3].map((value) => Buffer.alloc(200_000, value)))
    const [found] = await store.find(A)
    for (let reading = 0; reading < 2; reading++) await assertBody(store, found, expected)
  },
  'nothing is seen of a response before `commit`, nor after `abort`': async (store) => {
    const [first, second] = [await store.begin(), await store.begin()]
    for (const writer of [first, second]) await writer.write(bodyOf(1, 400_000))
    assert.deepEqual(await store.find(A), [])
    assert.deepEqual(await listOf(store.pages()), [])
    await first.abort()
    await first.abort()
    assert.deepEqual(await listOf(store.pages()), [])
    await second.commit(recordOf(A))
    await second.abort()
    await assertBody(store, (await store.find(A))[0], bodyOf(1, 400_000))
  },
  'a response replaces the one with the same URL and varied fields, and no other': async (store) => {
    const german = { ...recordOf(A), varied: [['accept-language', 'de']] as const }
    const none = { ...recordOf(A), varied: [['accept-language', null]] as const }
    await put(store, german, bodyOf(1, 300_000))
    await put(store, { ...none, receivedAt: START + 1 }, bodyOf(2, 10))
    await put(store, recordOf(B), bodyOf(3, 10))
    const before = await store.find(A)
    await put(store, { ...german, receivedAt: START + 2, status: 203 }, bodyOf(4, 20))
    const [first, second, ...others] = await store.find(A)
    assert.deepEqual(others, [])
    assert.deepEqual(first?.record, { ...german, receivedAt: START + 2, status: 203 })
    assert.deepEqual(second?.record, { ...none, receivedAt: START + 1 })
    await assertBody(store, first, bodyOf(4, 20))
    await assertBody(store, second, bodyOf(2, 10))
    await assertBody(store, (await store.find(B))[0], bodyOf(3, 10))
    const replaced = before.find(({ id }) => id !== second?.id)
    assert.notEqual(replaced?.id, first?.id)
    assert.equal(await store.body(replaced?.id ?? 0), undefined)
  },
  'a response does not replace one that was received later': async (store) => {
    const late = { ...recordOf(A), receivedAt: START + 1, status: 203 }
    const german = { ...recordOf(A), varied: [['accept-language', 'de']] as const }
    for (const bytes of [10, 300_000]) {
      await Promise.all([put(store, late, bodyOf(1, bytes)), put(store, recordOf(A), bodyOf(2, bytes))])
      await put(store, recordOf(A), bodyOf(3, bytes))
      await put(store, german, bodyOf(4, bytes))
      const [first, second, ...others] = await store.find(A)
      assert.deepEqual([first?.record, second?.record, others], [late, german, []])
      await assertBody(store, first, bodyOf(1, bytes))
      await assertBody(store, second, bodyOf(4, bytes))
      await store.forget(A)
    }
  },
  'returns the response first that was received last, after an update too': async (store) => {
    for (const n of [2, 0, 1])
      await put(store, { ...recordOf(A), varied: [['accept', `${n}`]], receivedAt: START + n }, bodyOf(n, 10))
    const order = async () => (await store.find(A)).map(({ record }) => record.varied[0]?.[1])
    assert.deepEqual(await order(), ['2', '1', '0'])
    const oldest = (await store.find(A)).at(-1) as StoredPage
    await store.update(oldest.id, { ...oldest.record, receivedAt: START + 3 })
    assert.deepEqual(await order(), ['0', '2', '1'])
  },
  'an update changes the record, and keeps the ID and the body': async (store) => {
    await put(store, recordOf(A), bodyOf(1, 200_000))
    const [before] = await store.find(A)
    const long: PageRecord = { ...recordOf(A), headers: [['x-long', 'x'.repeat(20_000)]], receivedAt: START + 5 }
    for (const record of [long, { ...long, isOutdated: true as const }, long]) {
      await store.update(before?.id ?? 0, record)
      const [after] = await store.find(A)
      assert.deepEqual(after, { id: before?.id, record, bodyBytes: 200_000 })
    }
    const [after] = await store.find(A)
    await assertBody(store, after, bodyOf(1, 200_000))
  },
  'an update may change the varied fields, and replaces the response that has them': async (store) => {
    const german = { ...recordOf(A), varied: [['accept-language', 'de']] as const }
    await put(store, german, bodyOf(1, 30_000))
    await put(store, { ...recordOf(A), receivedAt: START + 1 }, bodyOf(2, 30_000))
    const [any] = await store.find(A)
    await store.update(any?.id ?? 0, { ...german, receivedAt: START + 2 })
    const found = await store.find(A)
    assert.deepEqual(found, [{ id: any?.id, record: { ...german, receivedAt: START + 2 }, bodyBytes: 30_000 }])
    await assertBody(store, found[0], bodyOf(2, 30_000))
    await put(store, german, bodyOf(3, 10))
    assert.equal((await store.find(A)).length, 1)
  },
  [`keeps the ${MAX_VARIANTS} responses of a URL that were received last`]: async (store) => {
    await put(store, recordOf(B), bodyOf(0, 10))
    for (const n of ascending(0, MAX_VARIANTS + 5)) {
      const record = { ...recordOf(A), varied: [['accept', `${n}`]] as const, receivedAt: START + n }
      await put(store, record, bodyOf(n, 10))
    }
    const found = await store.find(A)
    assert.deepEqual(
      found.map(({ record }) => record.receivedAt - START),
      ascending(5, MAX_VARIANTS + 5).reverse(),
    )
    await assertBody(store, found.at(-1), bodyOf(5, 10))
    assert.equal((await store.find(B)).length, 1)
  },
  'an update of a response that is gone does nothing': async (store) => {
    await put(store, recordOf(A), bodyOf(1, 10))
    const [gone] = await store.find(A)
    await store.delete(A)
    await store.update(gone?.id ?? 0, recordOf(A))
    assert.deepEqual(await store.find(A), [])
    await put(store, recordOf(A), bodyOf(2, 10))
    const [found] = await store.find(A)
    assert.notEqual(found?.id, gone?.id)
    await assertBody(store, found, bodyOf(2, 10))
  },
  '`delete` keeps the visits, and `forget` deletes them': async (store) => {
    for (const url of [A, B]) {
      await put(store, recordOf(url), bodyOf(1, 10))
      await put(store, { ...recordOf(url), varied: [['accept', 'x']] }, bodyOf(2, 10))
      await store.setVisits(logOf(url, START))
    }
    assert.equal(await store.delete(A), 2)
    assert.deepEqual(await store.find(A), [])
    assert.deepEqual(await store.visits(A), logOf(A, START))
    assert.equal((await store.find(B)).length, 2)
    assert.equal(await store.forget(B), 2)
    assert.deepEqual(await store.find(B), [])
    assert.equal(await store.visits(B), undefined)
    assert.equal(await store.forget(A), 0)
    assert.equal(await store.visits(A), undefined)
    assert.deepEqual(await store.due(START, 10), [])
  },
  ...each<'replaced' | 'deleted' | 'forgotten', Test>(['replaced', 'deleted', 'forgotten'], (how) => [
    `a body that is ${how} while it is read can be read to its end`,
    async (store) => {
      const body = bodyOf(1, MIB)
      await put(store, recordOf(A), body)
      const [found] = await store.find(A)
      const chunks = await store.body(found?.id ?? 0)
      assert(chunks !== undefined)
      const read: Uint8Array[] = []
      for await (const chunk of chunks) {
        if (read.push(chunk) > 1) continue
        if (how === 'replaced') await put(store, recordOf(A), bodyOf(2, MIB))
        else await store[how === 'deleted' ? 'delete' : 'forget'](A)
        assert.equal(await store.body(found?.id ?? 0), undefined)
      }
      assertSame(Buffer.concat(read), body)
    },
  ]),
  'of many writers of one URL, one wins completely': async (store) => {
    await Promise.all(
      ascending(0, 20).map((n) => put(store, { ...recordOf(A), status: 200 + n }, bodyOf(n, 9_000 * n))),
    )
    const found = await store.find(A)
    assert.equal(found.length, 1)
    const n = (found[0]?.record.status ?? 0) - 200
    await assertBody(store, found[0], bodyOf(n, 9_000 * n))
  },
  'many writers at the same time do not mix their bodies': async (store) => {
    const urls = ascending(0, 40).map((n) => `${A}${n}`)
    await Promise.all(urls.map((url, n) => put(store, recordOf(url), bodyOf(n, 10_000 * n), 5_000)))
    for (const [n, url] of urls.entries()) await assertBody(store, (await store.find(url))[0], bodyOf(n, 10_000 * n))
  },
  'lists all responses, also while they are found and deleted': async (store) => {
    const urls = ascending(0, 150).map((n) => `${A}${n}`)
    for (const url of urls) await put(store, recordOf(url), bodyOf(1, 10))
    const listed: string[] = []
    for await (const { record } of store.pages()) {
      listed.push(record.url)
      await store.find(record.url)
      await store.delete(record.url)
    }
    assert.deepEqual(listed.sort(), urls.sort())
    assert.deepEqual(await listOf(store.pages()), [])
  },
  'returns the visits that were set last': async (store) => {
    await store.setVisits(logOf(A, START))
    const log: VisitLog = {
      url: A,
      visits: [
        { at: START, status: 200, changed: true, lastModified: START - 5 },
        { at: START + 0.5, status: 0, changed: false },
      ],
      fingerprint: oddTexts.join(),
      sitemap: { lastmod: START, changefreq: 'daily', priority: 0.5, trust: { isTrusted: true } },
      dueAt: undefined,
    }
    await store.setVisits(log)
    assert.deepEqual(await store.visits(A), log)
    assert.equal(await store.visits(B), undefined)
    assert.deepEqual(await store.find(A), [])
  },
  'lists what is due, the longest due first': async (store) => {
    const times = [5, 1, 4, 2, 3, undefined, 9]
    for (const [n, at] of times.entries()) await store.setVisits(logOf(`${A}${n}`, at && START + at))
    await store.setVisits(logOf(`${A}6`, START + 0.5)) // it was due later
    const due = async (now: number, limit: number) =>
      (await store.due(START + now, limit)).map(({ dueAt = 0 }) => dueAt - START)
    assert.deepEqual(await due(3, 10), [0.5, 1, 2, 3])
    assert.deepEqual(await due(100, 2), [0.5, 1])
    assert.deepEqual(await due(100, Number.POSITIVE_INFINITY), [0.5, 1, 2, 3, 4, 5])
    assert.deepEqual(await due(0, 10), [])
    assert.deepEqual(await due(100, 0), [])
    await store.forget(`${A}6`)
    await store.setVisits(logOf(`${A}1`, undefined))
    assert.deepEqual(await due(2, 10), [2])
  },
  'behaves like a Map in two hundred random calls': async (store) => {
    const random = randomNumbers(1)
    const urls = ascending(0, 12).map((n) => `${A}${n}`)
    const expected = new Map<string, number>()
    for (let call = 1; call <= 200; call++) {
      const url = urls[Math.floor(random() * urls.length)] as string
      const what = random()
      if (what < 0.5) {
        await put(store, recordOf(url), bodyOf(call, Math.floor(random() ** 4 * 400_000)))
        expected.set(url, call)
      } else if (what < 0.6) {
        const writer = await store.begin()
        await writer.write(bodyOf(call, 200_000))
        await writer.abort()
      } else if (what < 0.7) {
        assert.equal(await store.delete(url), expected.delete(url) ? 1 : 0)
      } else {
        const [found] = await store.find(url)
        assert.equal(found === undefined, !expected.has(url))
        if (found !== undefined) await assertBody(store, found, bodyOf(expected.get(url) ?? 0, found.bodyBytes))
      }
    }
  },
}

const bounded: Tests = {
  'stays within its limit, and keeps the URLs that were used last': async (store, kit) => {
    const { maxBytes, put: add, has } = filled(store, kit)
    await add(0)
    await store.setVisits(logOf(`${A}1`, START))
    await add(1)
    for (let n = 2; n < 150; n++) {
      await add(n)
      await has(0) // counts as a use
      assertWithin(maxBytes, kit.heldBytes?.() ?? 0)
    }
    assert(await has(0), 'the URL that was used most is gone')
    assert(!(await has(1)), 'the URL that was used first is still there')
    assert.equal(await store.visits(`${A}1`), undefined)
    for (let n = 135; n < 150; n++) assert(await has(n), `response ${n} of 150 is gone`)
    const sizes = (await listOf(store.pages())).map(({ bodyBytes }) => bodyBytes)
    assert(sizes.length >= 15 && sizes.length <= 50, `${sizes.length} responses of a fiftieth of the limit are there`)
  },
  'responses that replace each other evict no other': async (store, kit) => {
    const { put: add, has } = filled(store, kit)
    await add(0)
    for (let n = 0; n < 120; n++) await add(1)
    assert(await has(0))
    assert(await has(1))
  },
  'bodies that were never finished evict no response for long': async (store, kit) => {
    const { put: add, has } = filled(store, kit)
    for (let n = 0; n < 10; n++) await add(n)
    for (let n = 0; n < 120; n++) {
      const writer = await store.begin()
      await writer.write(bodyOf(n, (kit.maxBytes ?? 0) / 50))
      await writer.abort()
    }
    for (let n = 0; n < 10; n++) assert(await has(n), `response ${n} is gone`)
  },
  'a response over the limit is not kept, and deletes the one before it, but no others': async (store, kit) => {
    const { maxBytes, put: add, has } = filled(store, kit)
    await add(0)
    await add(1)
    await store.setVisits(logOf(`${A}0`, START))
    await put(store, recordOf(`${A}0`), new Uint8Array(maxBytes + 1), 60_000)
    assert(!(await has(0)))
    assert(await has(1))
    assert.deepEqual(await store.visits(`${A}0`), logOf(`${A}0`, START))
    await add(0)
    assert(await has(0))
  },
  'many responses for one URL stay within the limit': async (store, kit) => {
    const { maxBytes } = filled(store, kit)
    const bytes = Math.floor(maxBytes / 20)
    for (let n = 0; n < 60; n++) {
      const record = { ...recordOf(A), varied: [['accept', `${n}`]] as const, receivedAt: START + n }
      await put(store, record, bodyOf(n, bytes))
    }
    assertWithin(maxBytes, kit.heldBytes?.() ?? 0)
    const found = await store.find(A)
    assert(found.length >= 1 && found.length <= 20, `${found.length} responses are there`)
    assert.equal(found[0]?.record.receivedAt, START + 59)
  },
}

const shared: Tests = {
  'two handles see what each other stored': async (one, kit) => {
    const other = await kit.open()
    await put(one, recordOf(A), bodyOf(1, 300_000))
    await one.setVisits(logOf(A, START))
    const [found] = await other.find(A)
    await assertBody(other, found, bodyOf(1, 300_000))
    assert.deepEqual(await other.visits(A), logOf(A, START))
    await other.forget(A)
    assert.deepEqual(await one.find(A), [])
    assert.equal(await one.visits(A), undefined)
  },
  'a body that another handle replaces or deletes while it is read can be read to its end': async (one, kit) => {
    const other = await kit.open()
    for (const end of [() => put(other, recordOf(A), bodyOf(2, MIB)), () => other.delete(A)]) {
      await put(one, recordOf(A), bodyOf(1, MIB))
      const [found] = await one.find(A)
      const read: Uint8Array[] = []
      for await (const chunk of (await one.body(found?.id ?? 0)) ?? []) if (read.push(chunk) === 1) await end()
      assertSame(Buffer.concat(read), bodyOf(1, MIB))
    }
  },
  'two handles that store at the same time lose nothing': async (store, kit) => {
    const handles = [store, await kit.open()]
    const urls = ascending(0, 60).map((n) => `${A}${n}`)
    await Promise.all(urls.map((url, n) => put(handles[n % 2] as PageStore, recordOf(url), bodyOf(n, 5_000 * n))))
    for (const store of handles)
      for (const [n, url] of urls.entries()) await assertBody(store, (await store.find(url))[0], bodyOf(n, 5_000 * n))
  },
}

const lasting: Tests = {
  'a handle that is opened later has what an earlier one stored, and nothing unfinished': async (before, kit) => {
    await put(before, recordOf(A), bodyOf(1, 300_000))
    await before.setVisits(logOf(A, START))
    const writer = await before.begin()
    await writer.write(bodyOf(2, 300_000))
    const [old] = await before.find(A)
    await before.close()
    const after = await kit.open()
    const [found] = await after.find(A)
    assert.deepEqual(found, old)
    await assertBody(after, found, bodyOf(1, 300_000))
    assert.deepEqual(await after.due(START, 10), [logOf(A, START)])
    assert.equal((await listOf(after.pages())).length, 1)
    await after.delete(A)
    await put(after, recordOf(A), bodyOf(3, 10))
    assert.notEqual((await after.find(A))[0]?.id, old?.id)
  },
}

/**
 * What every store of pages must do. Run each case on an empty storage. Leave out the cases whose
 * `needs` your store does not meet.
 */
export const pageStoreCases: readonly PageStoreCase[] = caseList<
  PageStoreAbility,
  PageStore,
  PageStoreKit,
  PageStoreKit
>({ every: everyStore, bounded, shared, lasting }, async (kit, test) => test(await kit.open(), kit))

function recordOf(url: string): PageRecord {
  return {
    url,
    varied: [],
    status: 200,
    statusText: 'OK',
    headers: [['content-type', 'text/html']],
    robotsTags: [],
    requestedAt: START - 10,
    receivedAt: START,
    storedAt: START + 10,
  }
}

function logOf(url: string, dueAt: number | undefined): VisitLog {
  return { url, visits: [{ at: START, status: 200, changed: false }], fingerprint: 'abc', dueAt }
}

/** Bytes that differ between seeds and between places. */
function bodyOf(seed: number, bytes: number): Buffer {
  const random = randomNumbers(seed)
  const block = Buffer.from(Uint8Array.from({ length: 1_021 }, () => random() * 256))
  return Buffer.alloc(bytes, block)
}

async function put(store: PageStore, record: PageRecord, body: Uint8Array, chunkBytes = 65_536): Promise<void> {
  const writer = await store.begin()
  for (let at = 0; at < body.length; at += chunkBytes) await writer.write(body.subarray(at, at + chunkBytes))
  await writer.commit(record)
}

async function assertBody(store: PageStore, page: StoredPage | undefined, expected: Buffer): Promise<void> {
  assert(page !== undefined, 'a response is missing')
  assert.equal(page.bodyBytes, expected.length)
  const chunks = await store.body(page.id)
  assert(chunks !== undefined, `the body of ${page.record.url} is missing`)
  assertSame(Buffer.concat(await listOf(chunks)), expected)
}

/** Compares bodies without printing them. */
function assertSame(actual: Buffer, expected: Buffer): void {
  assert.equal(actual.length, expected.length)
  if (actual.equals(expected)) return
  assert.fail(`the body differs at byte ${actual.findIndex((byte, n) => byte !== expected[n])}`)
}

/** Returns what fills a store with responses of which fifty fill the limit. */
function filled(store: PageStore, { maxBytes }: PageStoreKit) {
  assert(maxBytes !== undefined, 'the kit of a bounded store must have maxBytes')
  const body = bodyOf(1, Math.floor(maxBytes / 50))
  return {
    maxBytes,
    put: (n: number) => put(store, recordOf(`${A}${n}`), body),
    has: async (n: number) => (await store.find(`${A}${n}`)).length > 0,
  }
}

async function listOf<T>(items: AsyncIterable<T> | Iterable<T>): Promise<T[]> {
  const list: T[] = []
  for await (const item of items) list.push(item)
  return list
}
