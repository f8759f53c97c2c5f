// @module-tag nodes
// Damaged files, files of other applications, files without permissions, locked and deleted files.
import { chmodSync, copyFileSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { setImmediate } from 'node:timers/promises'
import { OptionError } from '@politely/core'
import { RobotsClient } from '@politely/fetcher'
import { fileDamages, overwrite, sizeOf } from '@politely/testkit/damaged-file'
import { firstInShortRun } from '@politely/testkit/scope'
import { lookupIn } from '@politely/testkit/servers/lookup'
import { startSites } from '@politely/testkit/servers/sites'
import { describe, expect, onTestFinished, vi } from 'vitest'
import { fileIdOf } from '../src/file-id.ts'
import { SqliteStore, type SqliteStoreOptions } from '../src/index.ts'
import type { SetAside } from '../src/options.ts'
import { renameDamagedFile } from '../src/rename-damaged-file.ts'
import { type Folder, inOneHour, test } from './folder.ts'

const COUNT = 500
const originOf = (i: number) => `https://n${i}.test`
const textOf = (i: number) => `of n${i} `.repeat(1 + 40 * (i % 50))

/** Creates a file with many texts and closes it. */
async function fill(folder: Folder): Promise<void> {
  await using store = folder.open()
  await Promise.all(Array.from({ length: COUNT }, (_, i) => store.set(originOf(i), textOf(i), inOneHour)))
}

/** Counts the texts in the store that are unchanged. */
async function countTexts(store: SqliteStore): Promise<number> {
  let count = 0
  for (let i = 0; i < COUNT; i++) if ((await store.get(originOf(i))) === textOf(i)) count++
  return count
}

function renamedFiles(folder: Folder): string[] {
  return folder.fileNames().filter((name) => /^robots\.sqlite\.corrupt-[\dTZ.-]+$/.test(name))
}

const damages: typeof fileDamages = [
  ...fileDamages,
  [
    'every second page overwritten',
    (path) => {
      for (let at = 4_096; at < sizeOf(path); at += 8_192) overwrite(path, at, 4_096)
    },
  ],
  [
    'every third page filled with zeros',
    (path) => {
      for (let at = 8_192; at < sizeOf(path); at += 12_288) overwrite(path, at, 4_096, () => 0)
    },
  ],
]

/** Changes one letter at each occurrence of a text in the file. */
function changeLetters(path: string, text: string): void {
  const bytes = readFileSync(path)
  for (let at = bytes.indexOf(text); at !== -1; at = bytes.indexOf(text, at + 1)) bytes[at] = 0x4f
  writeFileSync(path, bytes)
}

describe('a damaged file is renamed, reported and replaced (our choice)', () => {
  test.for(firstInShortRun(damages))('%s', async ([, damage], { folder }) => {
    await fill(folder)
    damage(folder.path)
    const damaged = folder.path.concat('.copy')
    copyFileSync(folder.path, damaged)

    const events: SetAside[] = []
    const store = folder.open({ onSetAside: (event) => events.push(event) })
    expect(await countTexts(store)).toBeLessThan(COUNT)
    await store.set(originOf(0), 'new', inOneHour)
    expect(await store.get(originOf(0))).toBe('new')
    await store.close()

    const [event] = events
    expect(events).toHaveLength(1)
    expect(event).toMatchObject({ path: folder.path, error: expect.any(Error) })
    expect(renamedFiles(folder).map((name) => join(dirname(folder.path), name))).toEqual([event?.setAsideAs])
    expect(readFileSync(event?.setAsideAs ?? '').equals(readFileSync(damaged))).toBe(true)
    expect(await folder.open().get(originOf(0))).toBe('new')
  })

  test('when the damage happens while the file is open', async ({ folder }) => {
    await fill(folder)
    const events: SetAside[] = []
    const store = folder.open({ onSetAside: (event) => events.push(event) })
    expect(await store.get(originOf(0))).toBe(textOf(0))
    overwrite(folder.path, 4_096, sizeOf(folder.path) - 4_096)
    expect(await countTexts(store)).toBeLessThan(COUNT)
    await store.set(originOf(0), 'new', inOneHour)
    expect(await store.get(originOf(0))).toBe('new')
    expect(events).toHaveLength(1)
  })

  test('when a set finds the damage; the set succeeds', async ({ folder }) => {
    await fill(folder)
    overwrite(folder.path, 4_096, sizeOf(folder.path) - 4_096)
    const store = folder.open({ onSetAside: () => undefined })
    await store.set(originOf(0), 'new', inOneHour)
    expect(await store.get(originOf(0))).toBe('new')
    expect(renamedFiles(folder)).toHaveLength(1)
  })

  test('one of two stores renames the file, and the other one uses the new file', { tags: 'full' }, async ({
    folder,
  }) => {
    await fill(folder)
    const events: SetAside[] = []
    const [one, other] = [1, 2].map(() => folder.open({ onSetAside: (event) => events.push(event) }))
    overwrite(folder.path, 4_096, sizeOf(folder.path) - 4_096)
    await one?.set(originOf(0), 'by one', inOneHour)
    const [name] = renamedFiles(folder)
    expect(folder.fileNames()).toEqual(expect.arrayContaining([`${name}-shm`, `${name}-wal`])) // the other store has them open
    expect(await other?.get(originOf(0))).toBe('by one')
    await other?.set(originOf(1), 'by the other', inOneHour)
    await other?.close()
    expect(await one?.get(originOf(1))).toBe('by the other')
    await one?.close()
    expect(events).toHaveLength(1)
    await using last = folder.open()
    expect(await last.get(originOf(0))).toBe('by one')
    expect(await last.get(originOf(1))).toBe('by the other')
  })

  test('a second process finds a new file at the path and does not rename it', ({ folder }) => {
    writeFileSync(folder.path, 'damaged')
    const id = fileIdOf(folder.path)
    expect(renameDamagedFile(folder.path, id)).toMatch(/\.corrupt-/)
    expect(renameDamagedFile(folder.path, id)).toBeUndefined()
    writeFileSync(folder.path, 'new')
    expect(renameDamagedFile(folder.path, id)).toBeUndefined()
    expect(readFileSync(folder.path, 'utf8')).toBe('new')
  })

  test('without onSetAside, it emits a process warning', ({ folder }) => {
    const warn = vi.spyOn(process, 'emitWarning').mockReturnValue()
    writeFileSync(folder.path, 'SQLite format 3\0, and then damage'.repeat(100))
    folder.open()
    const [name] = renamedFiles(folder)
    expect(warn.mock.calls).toEqual([
      [
        expect.stringContaining(`${folder.path} is damaged (file is not a database); the store renamed it to`),
        { type: 'PolitelyWarning', code: 'POLITELY_STORE_SET_ASIDE' },
      ],
    ])
    expect(warn.mock.calls.join()).toContain(name)
    warn.mockRestore()
  })
})

describe('damage inside texts (our choice)', () => {
  test('is not noticed by the store, which keeps working', async ({ folder }) => {
    await fill(folder)
    overwrite(folder.path, 4_096 * Math.floor(sizeOf(folder.path) / 8_192), 4_096)
    changeLetters(folder.path, 'of n349 of n349')
    const store = folder.open({ onSetAside: () => undefined })
    expect(await countTexts(store)).toBeLessThan(COUNT)
    await store.set(originOf(349), 'new', inOneHour)
    expect(await store.get(originOf(349))).toBe('new')
  })

  test('is a miss for the client, which fetches robots.txt again', async ({ folder }) => {
    const sites = await startSites()
    onTestFinished(() => sites.close())
    sites.respond('http://a.test:PORT/robots.txt', { status: 200, body: 'User-agent: *\nDisallow: /page\n' })
    const page = sites.withPort('http://a.test:PORT/page')
    const check = async () => {
      await using store = folder.open()
      const client = new RobotsClient({ userAgent: 'ExampleBot/1.0', lookup: lookupIn(), store })
      onTestFinished(() => client.close())
      const { allowed } = await client.check(page)
      return { allowed, storeHits: client.counters.storeHits }
    }
    expect(await check()).toEqual({ allowed: false, storeHits: 0 })
    expect(await check()).toEqual({ allowed: false, storeHits: 1 })
    changeLetters(folder.path, 'page')
    expect(readFileSync(folder.path).includes('Disallow: /Oage')).toBe(true)
    expect(await check()).toEqual({ allowed: false, storeHits: 0 })
    expect(sites.requests).toHaveLength(2)
  })
})

test('replaces the tables of an older version of the package by empty ones', async ({ folder }) => {
  const db = new DatabaseSync(folder.path)
  db.exec(`
    CREATE TABLE texts (number INTEGER PRIMARY KEY, origin BLOB UNIQUE, keep_until REAL, crc INTEGER, text BLOB);
    CREATE INDEX texts_by_time ON texts (keep_until);
    PRAGMA application_id = ${0x506c7473};
    PRAGMA user_version = 1;
  `)
  db.prepare('INSERT INTO texts VALUES (1, ?, ?, 0, ?)').run(Buffer.from(originOf(0)), inOneHour, Buffer.from('old'))
  db.close()
  const [store, other] = [folder.open(), folder.open()]
  expect(await store.get(originOf(0))).toBeUndefined()
  await other.set(originOf(0), 'new', inOneHour)
  expect(await store.get(originOf(0))).toBe('new')
  expect(renamedFiles(folder)).toEqual([])
})

describe('does not change a file that another application or version owns', () => {
  test.for([
    ["another application's tables", 'CREATE TABLE precious (a)', 'FOREIGN'],
    ["another application's ID", 'PRAGMA application_id = 42; CREATE TABLE texts (a)', 'FOREIGN'],
    ["another application's version number", 'PRAGMA user_version = 1; CREATE TABLE texts (a)', 'FOREIGN'],
    [
      'a newer version',
      `PRAGMA application_id = ${0x506c7473}; PRAGMA user_version = 3; CREATE TABLE other (a)`,
      'NEWER',
    ],
  ] as const)('%s', ([, sql, code], { folder }) => {
    const db = new DatabaseSync(folder.path)
    db.exec(sql)
    db.close()
    const before = readFileSync(folder.path)
    expect(() => folder.open()).toThrow(
      expect.objectContaining({ name: 'StoreError', code: `ERR_POLITELY_STORE_${code}`, path: folder.path }),
    )
    expect(readFileSync(folder.path).equals(before)).toBe(true)
    expect(folder.fileNames()).toEqual(['robots.sqlite'])
  })

  test.for([
    ['one byte', 'x'],
    ['a line', '\n\n'],
    ['a small JSON file', '{ "name": "example" }\n'],
    ['a large text file', 'User-agent: *\nDisallow: /\n'.repeat(1_000)],
    ['a text about SQLite', 'SQLite format 3 is described in'],
    ['zeros', '\0'.repeat(8_192)],
  ] as const)('a file that is not an SQLite file: %s', ([, text], { folder }) => {
    writeFileSync(folder.path, text)
    expect(() => folder.open()).toThrow(
      expect.objectContaining({
        name: 'StoreError',
        code: 'ERR_POLITELY_STORE_FOREIGN',
        message: expect.stringContaining('is not an SQLite file, so the store does not touch it; write the path of'),
      }),
    )
    expect(readFileSync(folder.path, 'utf8')).toBe(text)
    expect(folder.fileNames()).toEqual(['robots.sqlite'])
  })

  test('a file that replaces the open one', async ({ folder }) => {
    await fill(folder)
    const store = folder.open()
    expect(await store.get(originOf(0))).toBe(textOf(0))
    rmSync(folder.path)
    writeFileSync(folder.path, '{ "name": "example" }\n')
    for (const call of [store.get(originOf(0)), store.set(originOf(0), 'new', inOneHour)])
      await expect(call).rejects.toMatchObject({ code: 'ERR_POLITELY_STORE_FOREIGN' })
    expect(readFileSync(folder.path, 'utf8')).toBe('{ "name": "example" }\n')
    expect(renamedFiles(folder)).toEqual([])
  })

  test('uses an empty file', async ({ folder }) => {
    writeFileSync(folder.path, '')
    await using store = folder.open()
    await store.set(originOf(0), textOf(0), inOneHour)
    expect(await store.get(originOf(0))).toBe(textOf(0))
  })
})

describe('reports files and options that it cannot use', () => {
  test('a folder at the path', ({ folder }) => {
    mkdirSync(folder.path)
    expect(() => folder.open()).toThrow(expect.objectContaining({ code: 'ERR_POLITELY_STORE_FAILED' }))
  })

  test('a read-only file can be read, and a set rejects', async ({ folder }) => {
    await fill(folder)
    chmodSync(folder.path, 0o444)
    chmodSync(dirname(folder.path), 0o777) // to read, SQLite must create its log beside the file
    await withoutRootRights(async () => {
      const store = folder.open()
      expect(await store.get(originOf(0))).toBe(textOf(0))
      await expect(store.set(originOf(0), 'new', inOneHour)).rejects.toMatchObject({
        code: 'ERR_POLITELY_STORE_FAILED',
        message: expect.stringContaining('readonly'),
      })
      await expect(store.delete(originOf(0))).rejects.toMatchObject({ code: 'ERR_POLITELY_STORE_FAILED' })
      expect(await store.get(originOf(0))).toBe(textOf(0))
      await store.close()
    })
  })

  test('a read-only folder without the file', async ({ folder }) => {
    chmodSync(dirname(folder.path), 0o555)
    await withoutRootRights(async () => {
      expect(() => folder.open()).toThrow(expect.objectContaining({ code: 'ERR_POLITELY_STORE_FAILED' }))
    })
    chmodSync(dirname(folder.path), 0o755)
  })

  test.for([
    ['path', { path: '' }],
    ['path', { path: undefined }],
    ['path', { path: 'a\0b' }],
    ['path', { path: ':memory:' }],
    ['path', { path: join(import.meta.dirname, 'no-such-folder', 'robots.sqlite') }],
    ['maxBytes', { maxBytes: 1_000_000 }],
    ['maxBytes', { maxBytes: Number.POSITIVE_INFINITY }],
    ['busyTimeoutMs', { busyTimeoutMs: -1 }],
    ['busyTimeoutMs', { busyTimeoutMs: Number.NaN }],
    ['onSetAside', { onSetAside: 'warn' }],
    ['now', { now: 5 }],
    ['busyTimeout', { busyTimeout: 5 }],
  ] as const)('invalid %s: %o', ([option, given], { folder }) => {
    const construction = () => new SqliteStore({ path: folder.path, ...given } as SqliteStoreOptions)
    expect(construction).toThrow(OptionError)
    expect(construction).toThrow(expect.objectContaining({ option }))
    expect(folder.fileNames()).toEqual([])
  })
})

test('a path alone is rejected, with what to write', () => {
  const construction = () => new SqliteStore('robots.sqlite' as unknown as SqliteStoreOptions)
  expect(construction).toThrow('options: a string was given; write { path: "robots.sqlite" }')
})

describe('while another process keeps the file locked', () => {
  test('a set waits for the lock; gets and the event loop do not', async ({ folder }) => {
    await fill(folder)
    const store = folder.open({ busyTimeoutMs: 60_000 })
    const other = new DatabaseSync(folder.path)
    other.exec('BEGIN IMMEDIATE')
    let isSet = false
    const set = store.set(originOf(0), 'new', inOneHour).then(() => {
      isSet = true
    })
    for (let turn = 0; turn < 100; turn++) await setImmediate()
    expect(await store.get(originOf(0))).toBe(textOf(0))
    expect(isSet).toBe(false)
    other.exec('COMMIT')
    other.close()
    await set
    expect(await store.get(originOf(0))).toBe('new')
  })

  test('a set rejects after busyTimeoutMs, and a later set succeeds', async ({ folder }) => {
    await fill(folder)
    const store = folder.open({ busyTimeoutMs: 20 })
    const other = new DatabaseSync(folder.path)
    other.exec('BEGIN IMMEDIATE')
    await expect(store.set(originOf(0), 'new', inOneHour)).rejects.toMatchObject({ code: 'ERR_POLITELY_STORE_BUSY' })
    other.exec('ROLLBACK')
    other.close()
    await store.set(originOf(0), 'newer', inOneHour)
    expect(await store.get(originOf(0))).toBe('newer')
  })

  test('the constructor throws after busyTimeoutMs', ({ folder }) => {
    const other = new DatabaseSync(folder.path)
    other.exec('BEGIN EXCLUSIVE; CREATE TABLE a (b)')
    expect(() => folder.open({ busyTimeoutMs: 20 })).toThrow(
      expect.objectContaining({ code: 'ERR_POLITELY_STORE_BUSY' }),
    )
    other.close()
  })
})

test('creates a new file when the open one is deleted', async ({ folder }) => {
  await fill(folder)
  const [store, other] = [folder.open(), folder.open()]
  for (const name of folder.fileNames()) rmSync(join(dirname(folder.path), name))
  expect(await store.get(originOf(0))).toBeUndefined()
  await store.set(originOf(0), 'new', inOneHour)
  await other.set(originOf(1), 'new too', inOneHour)
  await other.close()
  await store.close()
  await using last = folder.open()
  expect(await last.get(originOf(0))).toBe('new')
  expect(await last.get(originOf(1))).toBe('new too')
})

test('shrinks a large file to a smaller maxBytes', { tags: 'full' }, async ({ folder }) => {
  await using large = folder.open()
  await Promise.all(Array.from({ length: 100 }, (_, i) => large.set(originOf(i), 'x'.repeat(400_000), inOneHour)))
  await large.close()
  expect(folder.diskBytes()).toBeGreaterThan(30 * 1024 * 1024)
  const maxBytes = 16 * 1024 * 1024
  await using small = folder.open({ maxBytes })
  await small.set(originOf(0), 'new', inOneHour)
  await small.close()
  expect(folder.diskBytes()).toBeLessThanOrEqual(maxBytes)
  await using last = folder.open()
  expect(await last.get(originOf(99))).toHaveLength(400_000)
  expect(await last.get(originOf(0))).toBe('new')
  expect(await last.get(originOf(1))).toBeUndefined()
})

test('does not keep a text of more than an eighth of maxBytes', async ({ folder }) => {
  const store = folder.open({ maxBytes: 16 * 1024 * 1024 })
  await store.set(originOf(0), 'x'.repeat(2 * 1024 * 1024), inOneHour)
  expect(await store.get(originOf(0))).toHaveLength(2 * 1024 * 1024)
  await store.set(originOf(0), 'x'.repeat(2 * 1024 * 1024 + 1), inOneHour)
  expect(await store.get(originOf(0))).toBeUndefined()
})

test('keeps its file when the working directory changes', async ({ folder }) => {
  const cwd = vi.spyOn(process, 'cwd').mockReturnValue(dirname(folder.path))
  const store = folder.open({ path: 'robots.sqlite' })
  cwd.mockReturnValue('/')
  await store.set(originOf(0), 'new', inOneHour)
  cwd.mockRestore()
  expect(await folder.open().get(originOf(0))).toBe('new')
})

/** Runs as another user, because root may read and write every file. */
async function withoutRootRights(work: () => Promise<void>): Promise<void> {
  if (process.getuid?.() !== 0) return work()
  process.seteuid?.(65_534)
  try {
    await work()
  } finally {
    process.seteuid?.(0)
  }
}
