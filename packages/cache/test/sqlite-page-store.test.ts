// @module-tag nodes
// Damaged files, files of other applications, locked files, and options of SqlitePageStore.
import { execFile } from 'node:child_process'
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { promisify } from 'node:util'
import { OptionError } from '@politely/core'
import { DatabaseFile, type SetAside } from '@politely/sqlite/internal'
import { fileDamages, overwrite, sizeOf } from '@politely/testkit/damaged-file'
import { seededRandom } from '@politely/testkit/random-robots'
import { firstInShortRun } from '@politely/testkit/scope'
import { describe, expect, onTestFinished, vi } from 'vitest'
import { PageCache } from '../src/index.ts'
import { SqlitePageStore, type SqlitePageStoreOptions } from '../src/sqlite/sqlite-page-store.ts'
import { type Folder, test } from './folder.ts'
import { bodyOf, isWhole, put, recordOf, START, urlOf } from './pages.ts'
import { exchangeOf, listOf, requestOf } from './site.ts'

const COUNT = 40

/** Creates a file with pages and visits, and closes it. */
async function fill(folder: Folder): Promise<void> {
  await using store = folder.open()
  for (let n = 0; n < COUNT; n++) {
    const body = bodyOf(n).subarray(0, 200_000)
    await put(store, recordOf(urlOf(n), body), body)
    await store.setVisits({ url: urlOf(n), visits: [{ at: START, status: 200, changed: true }], dueAt: START + n })
  }
}

/** Reads everything. No error is allowed, nor a page that is not as it was written. */
async function countPages(store: SqlitePageStore): Promise<number> {
  let count = 0
  for (let n = 0; n < COUNT; n++) {
    const [page] = await store.find(urlOf(n))
    const found = page && (await isWhole(store, page))
    expect(found).not.toBe(false)
    if (found) count++
    const log = await store.visits(urlOf(n))
    if (log !== undefined) expect(log).toMatchObject({ url: urlOf(n), dueAt: START + n })
  }
  return count
}

const bodiesOf = ({ file }: Folder) => {
  if (!existsSync(`${file}-bodies`)) return []
  const names = readdirSync(`${file}-bodies`, { recursive: true, encoding: 'utf8' })
  return names.filter((name) => name.includes('/')).map((name) => join(`${file}-bodies`, name))
}
const damages: typeof fileDamages = [
  ...fileDamages,
  ...[0.2, 0.4, 0.6, 0.8].map(
    (part) =>
      [
        `one page overwritten at ${part}`,
        (path: string) => overwrite(path, 4_096 * Math.floor((part * sizeOf(path)) / 4_096), 4_096),
      ] as const,
  ),
  ...Array.from({ length: 20 }, (_, n) => n).map(
    (seed) =>
      [
        `single bytes changed, ${seed}`,
        (path: string) => {
          const random = seededRandom(seed)
          for (let n = 0; n < 200; n++) overwrite(path, 100 + Math.floor(random() * (sizeOf(path) - 101)), 1, random)
        },
      ] as const,
  ),
  [
    'every third page filled with zeros',
    (path) => {
      for (let at = 8_192; at + 4_096 <= sizeOf(path); at += 12_288) overwrite(path, at, 4_096, () => 0)
    },
  ],
]

describe('a damaged file is renamed, reported and replaced (our choice)', () => {
  test.for(firstInShortRun(damages))('%s', async ([, damage], { folder }) => {
    await fill(folder)
    damage(folder.file)
    const events: SetAside[] = []
    const store = folder.open({ onSetAside: (event) => events.push(event) })
    expect(await countPages(store)).toBeLessThan(COUNT)
    await put(store, recordOf(urlOf(0), bodyOf(5)), bodyOf(5))
    const [page] = await store.find(urlOf(0))
    expect(page && (await isWhole(store, page))).toBe(true)
    expect(events).toHaveLength(1)
    expect(events[0]).toMatchObject({ path: folder.file, error: expect.any(Error) })
    const renamed = folder.fileNames().filter((name) => /\.corrupt-[^-]+-[\dTZ.-]+$/.test(name))
    expect(renamed).toHaveLength(1)
    expect(folder.fileNames()).toContain(`${renamed[0]}-bodies`)
  })

  test('when the damage happens while the file is open and being written', async ({ folder }) => {
    await fill(folder)
    const events: SetAside[] = []
    const store = folder.open({ onSetAside: (event) => events.push(event) })
    const writer = store.begin()
    await writer.write(new Uint8Array(200_000))
    expect(await store.find(urlOf(0))).toHaveLength(1)
    const db = new DatabaseSync(folder.file)
    db.exec('PRAGMA wal_checkpoint(TRUNCATE)')
    db.close()
    overwrite(folder.file, 4_096, sizeOf(folder.file) - 4_096)
    expect(await countPages(store)).toBeLessThan(COUNT)
    await writer.write(new Uint8Array(200_000))
    await writer.commit(recordOf(urlOf(0), new Uint8Array(400_000)))
    expect(await store.find(urlOf(0))).toEqual([]) // its first blocks were in the old folder
    await put(store, recordOf(urlOf(0), bodyOf(1)), bodyOf(1))
    expect(await store.find(urlOf(0))).toHaveLength(1)
    expect(events).toHaveLength(1)
  })
})

describe('a body whose file is damaged is gone (our choice)', () => {
  const body = Buffer.alloc(3_000_000, 'a long body ')
  test.for([
    ['changed', (path: string) => overwrite(path, 100_000, 1)],
    ['truncated', (path: string) => truncateSync(path, 150_000)],
    ['deleted', (path: string) => rmSync(path)],
  ] as const)('%s, up to 1 MiB', async ([, damage], { folder }) => {
    const store = folder.open()
    await put(store, recordOf(urlOf(0), body.subarray(0, 300_000)), body.subarray(0, 300_000))
    await put(store, recordOf(urlOf(1), body.subarray(0, 300_001)), body.subarray(0, 300_001))
    for (const path of bodiesOf(folder)) if (sizeOf(path) === 300_000) damage(path)
    const [page] = await store.find(urlOf(0))
    expect(await store.body(page?.id ?? 0)).toBeUndefined()
    expect(await store.find(urlOf(0))).toEqual([])
    const [other] = await store.find(urlOf(1))
    expect(other && (await isWhole(store, other))).toBe(true)
  })

  test('a longer body ends with an error where it is damaged', async ({ folder }) => {
    const store = folder.open()
    await put(store, recordOf(urlOf(0), body), body)
    for (const path of bodiesOf(folder)) overwrite(path, 2_000_000, 1)
    const [page] = await store.find(urlOf(0))
    let read = 0
    const reading = (async () => {
      for await (const chunk of (await store.body(page?.id ?? 0)) ?? []) {
        expect(Buffer.from(chunk).equals(body.subarray(read, read + chunk.length))).toBe(true)
        read += chunk.length
      }
    })()
    await expect(reading).rejects.toMatchObject({
      code: 'ERR_POLITELY_STORE_FAILED',
      message: expect.stringContaining('fetch the page again'),
    })
    expect(read).toBeGreaterThan(1_000_000)
    expect(read).toBeLessThan(2_000_001)
    expect(await store.find(urlOf(0))).toEqual([])
  })
})

test.skipIf(process.platform === 'win32')(
  'the file and its bodies: only its owner may read them',
  async ({ folder }) => {
    await using store = folder.open()
    await put(store, recordOf(urlOf(1), bodyOf(1)), Buffer.alloc(100_000, 1))
    const paths = [folder.file, `${folder.file}-wal`, `${folder.file}-bodies`, ...bodiesOf(folder)]
    expect(paths).toHaveLength(4)
    expect(paths.filter((path) => (statSync(path).mode & 0o077) !== 0)).toEqual([])
  },
)

describe('the folder of bodies', () => {
  test('is refused if it is a symbolic link', ({ folder }) => {
    mkdirSync(`${folder.file}-elsewhere`)
    symlinkSync(`${folder.file}-elsewhere`, `${folder.file}-bodies`)
    expect(() => folder.open()).toThrow(/-bodies, is a symbolic link; remove it, or write another path/)
    expect(readdirSync(`${folder.file}-elsewhere`)).toEqual([])
  })

  test('is refused if it belongs to another user', ({ folder }) => {
    mkdirSync(`${folder.file}-bodies`)
    const getuid = vi.spyOn(process as { getuid(): number }, 'getuid').mockReturnValue(54_321)
    onTestFinished(() => getuid.mockRestore())
    expect(() => folder.open()).toThrow(/-bodies, belongs to another user/)
  })
})

test('`compact` returns the space of deleted pages to the file system', async ({ folder }) => {
  const store = folder.open()
  for (let n = 0; n < 100; n++)
    await put(store, recordOf(urlOf(n), bodyOf(n)), Buffer.alloc(n % 2 === 0 ? 15_000 : 100_000, n))
  const before = folder.diskBytes()
  for (let n = 0; n < 100; n++) await store.delete(urlOf(n))
  await store.compact()
  expect(folder.diskBytes()).toBeLessThan(before / 20)
  expect(await listOf(store.pages())).toEqual([])
})

test('a file of an earlier version keeps its visits, and its pages are deleted', async ({ folder }) => {
  const before = folder.open()
  await put(before, recordOf(urlOf(1), bodyOf(1)), Buffer.alloc(100_000, 1))
  const log = { url: urlOf(1), visits: [{ at: START, status: 200, changed: false }], fingerprint: 'a', dueAt: START }
  await before.setVisits(log)
  await put(before, recordOf(urlOf(2), bodyOf(2)), Buffer.alloc(100, 1))
  await before.close()
  const db = new DatabaseSync(folder.file)
  db.exec('PRAGMA user_version = 1')
  db.close()
  const after = folder.open()
  expect(await listOf(after.pages())).toEqual([])
  expect(await after.visits(urlOf(1))).toEqual(log)
  await after.compact()
  expect(
    readdirSync(`${folder.file}-bodies`, { recursive: true, encoding: 'utf8' }).filter((name) => name.length > 2),
  ).toEqual([])
  await put(after, recordOf(urlOf(2), bodyOf(2)), Buffer.alloc(100_000, 2))
  expect(await listOf(after.pages())).toHaveLength(1)
})

describe('does not change a file that another application or version owns', () => {
  test.for([
    ["another application's tables", 'CREATE TABLE pages (a)', 'FOREIGN'],
    [
      'a store of robots.txt',
      `PRAGMA application_id = ${0x506c7473}; PRAGMA user_version = 2; CREATE TABLE texts (a)`,
      'FOREIGN',
    ],
    [
      'a newer version',
      `PRAGMA application_id = ${0x506c7470}; PRAGMA user_version = 3; CREATE TABLE other (a)`,
      'NEWER',
    ],
  ] as const)('%s', ([, sql, code], { folder }) => {
    const db = new DatabaseSync(folder.file)
    db.exec(sql)
    db.close()
    const before = readFileSync(folder.file)
    expect(() => folder.open()).toThrow(
      expect.objectContaining({ name: 'StoreError', code: `ERR_POLITELY_STORE_${code}`, path: folder.file }),
    )
    expect(readFileSync(folder.file).equals(before)).toBe(true)
    expect(folder.fileNames()).toEqual(['pages.sqlite'])
  })

  test('a file that is not an SQLite file', ({ folder }) => {
    writeFileSync(folder.file, '{ "name": "example" }\n')
    expect(() => folder.open()).toThrow(
      expect.objectContaining({
        code: 'ERR_POLITELY_STORE_FOREIGN',
        message: expect.stringContaining('write the path of a new file, such as "pages.sqlite"'),
      }),
    )
    expect(readFileSync(folder.file, 'utf8')).toBe('{ "name": "example" }\n')
  })
})

test('while another process keeps the file locked, a write rejects after busyTimeoutMs, and reads go on', async ({
  folder,
}) => {
  await fill(folder)
  const store = folder.open({ busyTimeoutMs: 20 })
  const other = new DatabaseSync(folder.file)
  other.exec('BEGIN IMMEDIATE')
  const busy = { code: 'ERR_POLITELY_STORE_BUSY' }
  await expect(put(store, recordOf(urlOf(0), bodyOf(1)), bodyOf(1))).rejects.toMatchObject(busy)
  await expect(store.forget(urlOf(0))).rejects.toMatchObject(busy)
  expect(await countPages(store)).toBe(COUNT)
  other.exec('ROLLBACK')
  other.close()
  expect(await store.forget(urlOf(0))).toBe(1)
})

test('a folder at the path of the bodies that cannot be used fails with a code', async ({ folder }) => {
  writeFileSync(`${folder.file}-bodies`, 'not a folder')
  const store = folder.open()
  const body = new Uint8Array(50_000)
  await expect(put(store, recordOf(urlOf(0), body), body)).rejects.toMatchObject({
    code: 'ERR_POLITELY_STORE_FAILED',
    message: expect.stringContaining('creating a body failed: '),
  })
  expect(await store.find(urlOf(0))).toEqual([])
  await put(store, recordOf(urlOf(0), new Uint8Array(10)), new Uint8Array(10))
  expect(await store.find(urlOf(0))).toHaveLength(1)
})

test('shrinks to a smaller maxBytes', { tags: 'full' }, async ({ folder }) => {
  const MIB = 1_048_576
  await using large = folder.open()
  const body = Buffer.alloc(15_000, 'a short body ')
  const long = Buffer.alloc(500_000, 'a long body ')
  for (let n = 0; n < 1_500; n++) await put(large, recordOf(urlOf(n), body), body)
  for (let n = 0; n < 20; n++) await put(large, recordOf(`${urlOf(n)}/long`, long), long)
  await large.close()
  expect(folder.diskBytes()).toBeGreaterThan(30 * MIB)
  const small = folder.open({ maxBytes: 16 * MIB })
  for (let n = 0; n < 3; n++) await put(small, recordOf(`${urlOf(n)}/new`, long), long)
  await small.close()
  expect(folder.diskBytes()).toBeLessThanOrEqual(16 * MIB)
  await using last = folder.open()
  const found = async (url: string) => (await last.find(url)).length
  expect([await found(`${urlOf(19)}/long`), await found(`${urlOf(0)}/new`), await found(urlOf(0))]).toEqual([1, 1, 0])
})

test('after close, methods reject and unfinished bodies are gone', async ({ folder }) => {
  const store = folder.open()
  const writer = store.begin()
  await writer.write(new Uint8Array(300_000))
  expect(bodiesOf(folder)).toHaveLength(1)
  await Promise.all([store.close(), store.close()])
  expect(bodiesOf(folder)).toEqual([])
  const closed = { code: 'ERR_POLITELY_STORE_CLOSED' }
  await expect(store.find(urlOf(0))).rejects.toMatchObject(closed)
  await expect(put(store, recordOf(urlOf(0), bodyOf(1)), bodyOf(1))).rejects.toMatchObject(closed)
})

test.for([
  ['file', { file: '' }],
  ['file', { file: ':memory:' }],
  ['file', { file: join(import.meta.dirname, 'no-such-folder', 'pages.sqlite') }],
  ['maxBytes', { maxBytes: 1_000_000 }],
  ['busyTimeoutMs', { busyTimeoutMs: -1 }],
  ['onSetAside', { onSetAside: 'warn' }],
  ['now', { now: 5 }],
  ['path', { path: 'pages.sqlite' }],
] as const)('invalid %s: %o', ([option, given], { folder }) => {
  const construction = () => new SqlitePageStore({ file: folder.file, ...given } as SqlitePageStoreOptions)
  expect(construction).toThrow(OptionError)
  expect(construction).toThrow(expect.objectContaining({ option }))
  expect(folder.fileNames()).toEqual([])
})

test('node:sqlite is loaded when a store is opened, not with the package', { tags: 'full' }, async ({ folder }) => {
  const store = join(import.meta.dirname, '../src/sqlite/sqlite-page-store.ts')
  const program = `
    const isLoaded = () => process.moduleLoadList.includes('NativeModule sqlite')
    const { SqlitePageStore } = await import(${JSON.stringify(store)})
    const before = isLoaded()
    await new SqlitePageStore({ file: ${JSON.stringify(folder.file)} }).close()
    console.log(before, isLoaded())`
  const args = ['--disable-warning=ExperimentalWarning', '--input-type=module', '--eval', program]
  expect((await promisify(execFile)(process.execPath, args)).stdout).toBe('false true\n')
})

describe('the writes of one turn of the event loop are one transaction', () => {
  /** Counts the statements that begin a transaction, and all that SQLite runs, of `work`. */
  async function countStatements(work: () => Promise<unknown>) {
    const counts = { transactions: 0, statements: 0 }
    const prepare = vi.spyOn(DatabaseFile.prototype, 'statement')
    try {
      await work()
      counts.statements = prepare.mock.calls.length
      counts.transactions = prepare.mock.calls.filter(([sql]) => sql === 'BEGIN IMMEDIATE').length
      return counts
    } finally {
      prepare.mockRestore()
    }
  }
  const putNumber = (store: SqlitePageStore, n: number) =>
    put(store, recordOf(urlOf(n), bodyOf(n)), Buffer.alloc(2_000, n))
  const logOf = (n: number) => ({ url: urlOf(n), visits: [{ at: START, status: 200, changed: true }], dueAt: START })

  test('of new pages and of visits', async ({ folder }) => {
    await using store = folder.open()
    const pages = () => Promise.all(Array.from({ length: 20 }, (_, n) => putNumber(store, n)))
    // 5 for each page, 3 for the visits of a URL, and 5 for the transaction.
    expect(await countStatements(pages)).toEqual({ transactions: 1, statements: 105 })
    const visits = () => Promise.all(Array.from({ length: 20 }, (_, n) => store.setVisits(logOf(n))))
    expect(await countStatements(visits)).toEqual({ transactions: 1, statements: 65 })
    const pageAndVisit = () => Promise.all([putNumber(store, 20), store.setVisits(logOf(20))])
    expect(await countStatements(pageAndVisit)).toMatchObject({ transactions: 1 })
    for (let n = 0; n < 21; n++) expect(await store.visits(urlOf(n))).toEqual(logOf(n))
    for (let n = 0; n < 21; n++) expect(await store.find(urlOf(n))).toHaveLength(1)
  })

  test('of a page and its visit, when it is new, when it is unchanged, and when it is a redirect', async ({
    folder,
  }) => {
    await using cache = new PageCache({ file: folder.file })
    const loadOf = (sent: Response) => async () => {
      const page = await cache.respond(requestOf(urlOf(1)), exchangeOf(sent))
      await (page as Response).text()
    }
    const headers = { etag: '"1"' }
    expect(await countStatements(loadOf(new Response('a page', { headers })))).toMatchObject({ transactions: 1 })
    expect(await countStatements(loadOf(new Response(null, { status: 304, headers })))).toMatchObject({
      transactions: 1,
    })
    const redirect = new Response('', { status: 301, headers: { location: '/2' } })
    expect(await countStatements(loadOf(redirect))).toMatchObject({ transactions: 1 })
    expect((await cache.visits(urlOf(1)))?.visits.map(({ status }) => status)).toEqual([200, 304, 301])
    expect((await cache.get(urlOf(1)))?.status).toBe(301)
  })

  test('and a page with a short body is found by one statement', async ({ folder }) => {
    await using store = folder.open()
    await putNumber(store, 1)
    const read = async () => {
      const [page] = await store.find(urlOf(1))
      const body = (await store.body(page?.id ?? 0)) as Iterable<Uint8Array>
      expect([...body]).toEqual([new Uint8Array(2_000).fill(1)])
    }
    expect(await countStatements(read)).toEqual({ transactions: 0, statements: 1 })
  })

  test('a body that was found in this turn is gone when the page is deleted', async ({ folder }) => {
    await using store = folder.open()
    await putNumber(store, 1)
    const [page] = await store.find(urlOf(1))
    await store.delete(urlOf(1))
    expect(await store.body(page?.id ?? 0)).toBeUndefined()
  })

  test('a write that fails leaves the others', async ({ folder }) => {
    await using store = folder.open()
    writeFileSync(`${folder.file}-bodies`, 'not a folder')
    const body = new Uint8Array(50_000)
    const [short, long, visits] = await Promise.allSettled([
      putNumber(store, 1),
      put(store, recordOf(urlOf(2), body), body),
      store.setVisits(logOf(2)),
    ])
    expect([short.status, long.status, visits.status]).toEqual(['fulfilled', 'rejected', 'fulfilled'])
    expect(await store.find(urlOf(1))).toHaveLength(1)
    expect(await store.find(urlOf(2))).toEqual([])
    expect(await store.visits(urlOf(2))).toEqual(logOf(2))
  })

  test('a page that another one replaces before it is committed leaves no file', async ({ folder }) => {
    await using store = folder.open()
    const late = { ...recordOf(urlOf(1), bodyOf(1), 2), receivedAt: START + 1 }
    const body = new Uint8Array(200_000)
    await Promise.all([put(store, late, body), put(store, recordOf(urlOf(1), bodyOf(1), 1), body)])
    expect((await store.find(urlOf(1))).map(({ record }) => record)).toEqual([late])
    expect(bodiesOf(folder)).toHaveLength(1)
  })

  test('`close` finishes the writes that were begun', async ({ folder }) => {
    const store = folder.open()
    const writing = store.setVisits(logOf(1))
    await store.close()
    await writing
    expect(await folder.open().visits(urlOf(1))).toEqual(logOf(1))
  })
})
