// What may stand where the store's file should be, and what may happen to it.
import {
  chmodSync,
  closeSync,
  copyFileSync,
  mkdirSync,
  openSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
  writeSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { setImmediate } from 'node:timers/promises'
import { OptionError } from '@politely/core'
import { seededRandom } from '@politely/testkit/random-robots'
import { describe, expect, vi } from 'vitest'
import { fileIdOf } from '../src/file-id.ts'
import { type SetAside, SqliteStore, type SqliteStoreOptions } from '../src/index.ts'
import { setAside } from '../src/set-aside.ts'
import { type Folder, later, test } from './folder.ts'

const COUNT = 500
const originOf = (i: number) => `https://n${i}.test`
const textOf = (i: number) => `of n${i} `.repeat(1 + 40 * (i % 50))

/** A file with many texts that nobody has open. */
async function fill(folder: Folder): Promise<void> {
  await using store = folder.open()
  await Promise.all(Array.from({ length: COUNT }, (_, i) => store.set(originOf(i), textOf(i), later)))
}

/** How many texts are there; each of them has to be the right one. */
async function countOf(store: SqliteStore): Promise<number> {
  let count = 0
  for (let i = 0; i < COUNT; i++) {
    const text = await store.get(originOf(i))
    if (text === undefined) continue
    if (text !== textOf(i)) throw new Error(`the text of ${originOf(i)} is another`)
    count++
  }
  return count
}

/** With garbage, or with zeros, as disks do it. */
function overwrite(path: string, at: number, length: number, by: () => number = seededRandom(at)): void {
  const file = openSync(path, 'r+')
  writeSync(
    file,
    Uint8Array.from({ length }, () => by() * 256),
    0,
    length,
    at,
  )
  closeSync(file)
}

function corruptOnes(folder: Folder): string[] {
  return folder.names().filter((name) => /^robots\.sqlite\.corrupt-[\dTZ.-]+$/.test(name))
}

const sizeOf = (path: string) => statSync(path).size
const damages: readonly (readonly [string, (path: string) => void])[] = [
  ['cut in the middle', (path) => truncateSync(path, sizeOf(path) / 2)],
  ['cut inside its header', (path) => truncateSync(path, 50)],
  ['overwritten with garbage', (path) => overwrite(path, 0, sizeOf(path))],
  ['its first page overwritten', (path) => overwrite(path, 0, 4_096)],
  ['its first page overwritten behind the header', (path) => overwrite(path, 100, 3_996)],
  ['a text file', (path) => writeFileSync(path, 'User-agent: *\nDisallow: /\n'.repeat(1_000))],
  ['a page overwritten in the middle', (path) => overwrite(path, 4_096 * Math.floor(sizeOf(path) / 8_192), 4_096)],
  [
    'every second page overwritten',
    (path) => {
      for (let at = 4_096; at < sizeOf(path); at += 8_192) overwrite(path, at, 4_096)
    },
  ],
  [
    'every third page is zeros',
    (path) => {
      for (let at = 8_192; at < sizeOf(path); at += 12_288) overwrite(path, at, 4_096, () => 0)
    },
  ],
  [
    'some bytes of texts are others',
    (path) => {
      const bytes = readFileSync(path)
      for (let at = 0; at !== -1; at = bytes.indexOf('of n349 of n349', at + 1)) if (at > 0) bytes[at] = 0x4f
      writeFileSync(path, bytes)
    },
  ],
]

describe('our choice, a damaged file is set aside, said, and a new one begun', () => {
  test.for(damages)('%s', async ([, damage], { folder }) => {
    await fill(folder)
    damage(folder.path)
    const damaged = folder.path.concat('.copy')
    copyFileSync(folder.path, damaged)

    const events: SetAside[] = []
    const store = folder.open({ onSetAside: (event) => events.push(event) })
    expect(await countOf(store)).toBeLessThan(COUNT)
    await store.set(originOf(0), 'new', later)
    expect(await store.get(originOf(0))).toBe('new')
    await store.close()

    const [event] = events
    expect(events).toHaveLength(1)
    expect(event).toMatchObject({ path: folder.path, error: expect.any(Error) })
    expect(corruptOnes(folder).map((name) => join(dirname(folder.path), name))).toEqual([event?.setAsideAs])
    expect(readFileSync(event?.setAsideAs ?? '').equals(readFileSync(damaged))).toBe(true)
    expect(await folder.open().get(originOf(0))).toBe('new')
  })

  test('also while it is open', async ({ folder }) => {
    await fill(folder)
    const events: SetAside[] = []
    const store = folder.open({ onSetAside: (event) => events.push(event) })
    expect(await store.get(originOf(0))).toBe(textOf(0))
    overwrite(folder.path, 4_096, sizeOf(folder.path) - 4_096)
    expect(await countOf(store)).toBeLessThan(COUNT)
    await store.set(originOf(0), 'new', later)
    expect(await store.get(originOf(0))).toBe('new')
    expect(events).toHaveLength(1)
  })

  test('found by a set, which is done', async ({ folder }) => {
    await fill(folder)
    overwrite(folder.path, 4_096, sizeOf(folder.path) - 4_096)
    const store = folder.open({ onSetAside: () => undefined })
    await store.set(originOf(0), 'new', later)
    expect(await store.get(originOf(0))).toBe('new')
    expect(corruptOnes(folder)).toHaveLength(1)
  })

  test('two at the same path: one sets it aside, the other one goes on with the new file', async ({ folder }) => {
    await fill(folder)
    const events: SetAside[] = []
    const [one, other] = [1, 2].map(() => folder.open({ onSetAside: (event) => events.push(event) }))
    overwrite(folder.path, 4_096, sizeOf(folder.path) - 4_096)
    await one?.set(originOf(0), 'by one', later)
    const [name] = corruptOnes(folder)
    expect(folder.names()).toEqual(expect.arrayContaining([`${name}-shm`, `${name}-wal`])) // which the other one has open
    expect(await other?.get(originOf(0))).toBe('by one')
    await other?.set(originOf(1), 'by the other', later)
    await other?.close()
    expect(await one?.get(originOf(1))).toBe('by the other')
    await one?.close()
    expect(events).toHaveLength(1)
    await using last = folder.open()
    expect(await last.get(originOf(0))).toBe('by one')
    expect(await last.get(originOf(1))).toBe('by the other')
  })

  test('by one process only: who comes second finds another file at the path, and leaves it', ({ folder }) => {
    writeFileSync(folder.path, 'damaged')
    const id = fileIdOf(folder.path)
    expect(setAside(folder.path, id)).toMatch(/\.corrupt-/)
    expect(setAside(folder.path, id)).toBeUndefined()
    writeFileSync(folder.path, 'new')
    expect(setAside(folder.path, id)).toBeUndefined()
    expect(readFileSync(folder.path, 'utf8')).toBe('new')
  })

  test('unless somebody listens, a process warning says so', ({ folder }) => {
    const warn = vi.spyOn(process, 'emitWarning').mockReturnValue()
    writeFileSync(folder.path, 'not a database, by any means'.repeat(100))
    folder.open()
    const [name] = corruptOnes(folder)
    expect(warn.mock.calls).toEqual([
      [
        expect.stringContaining(`${folder.path} was damaged (file is not a database); it is now`),
        { type: 'PolitelyWarning', code: 'POLITELY_STORE_SET_ASIDE' },
      ],
    ])
    expect(warn.mock.calls.join()).toContain(name)
    warn.mockRestore()
  })
})

describe('what is not ours is left as it is', () => {
  test.for([
    ["another application's tables", 'CREATE TABLE precious (a)', 'FOREIGN'],
    ["another application's number", 'PRAGMA application_id = 42; CREATE TABLE texts (a)', 'FOREIGN'],
    ['a version number of somebody', 'PRAGMA user_version = 1; CREATE TABLE texts (a)', 'FOREIGN'],
    [
      'a newer version',
      `PRAGMA application_id = ${0x506c7473}; PRAGMA user_version = 2; CREATE TABLE other (a)`,
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
    expect(folder.names()).toEqual(['robots.sqlite'])
  })

  test('an empty file, and an empty database, become ours', async ({ folder }) => {
    writeFileSync(folder.path, '')
    await using store = folder.open()
    await store.set(originOf(0), textOf(0), later)
    expect(await store.get(originOf(0))).toBe(textOf(0))
  })
})

describe('what cannot be used says so', () => {
  test('a folder in its place', ({ folder }) => {
    mkdirSync(folder.path)
    expect(() => folder.open()).toThrow(expect.objectContaining({ code: 'ERR_POLITELY_STORE_FAILED' }))
  })

  test('a file that must not be written is read, and a set is an error', async ({ folder }) => {
    await fill(folder)
    chmodSync(folder.path, 0o444)
    chmodSync(dirname(folder.path), 0o777) // SQLite needs its log beside the file to read it
    await asNobody(async () => {
      const store = folder.open()
      expect(await store.get(originOf(0))).toBe(textOf(0))
      await expect(store.set(originOf(0), 'new', later)).rejects.toMatchObject({
        code: 'ERR_POLITELY_STORE_FAILED',
        message: expect.stringContaining('readonly'),
      })
      await expect(store.delete(originOf(0))).rejects.toMatchObject({ code: 'ERR_POLITELY_STORE_FAILED' })
      expect(await store.get(originOf(0))).toBe(textOf(0))
      await store.close()
    })
  })

  test('a folder that must not be written, where there is no file yet', async ({ folder }) => {
    chmodSync(dirname(folder.path), 0o555)
    await asNobody(async () => {
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
  ] as const)('%s: %o', ([option, given], { folder }) => {
    const construction = () => new SqliteStore({ path: folder.path, ...given } as SqliteStoreOptions)
    expect(construction).toThrow(OptionError)
    expect(construction).toThrow(expect.objectContaining({ option }))
    expect(folder.names()).toEqual([])
  })
})

describe('another process has it locked', () => {
  test('a set waits until it is free; gets do not wait, nor does anything else', async ({ folder }) => {
    await fill(folder)
    const store = folder.open({ busyTimeoutMs: 60_000 })
    const other = new DatabaseSync(folder.path)
    other.exec('BEGIN IMMEDIATE')
    let isSet = false
    const set = store.set(originOf(0), 'new', later).then(() => {
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

  test('for too long: an error, with a code, and the next set is done', async ({ folder }) => {
    await fill(folder)
    const store = folder.open({ busyTimeoutMs: 20 })
    const other = new DatabaseSync(folder.path)
    other.exec('BEGIN IMMEDIATE')
    await expect(store.set(originOf(0), 'new', later)).rejects.toMatchObject({ code: 'ERR_POLITELY_STORE_BUSY' })
    other.exec('ROLLBACK')
    other.close()
    await store.set(originOf(0), 'newer', later)
    expect(await store.get(originOf(0))).toBe('newer')
  })

  test('while it is opened', ({ folder }) => {
    const other = new DatabaseSync(folder.path)
    other.exec('BEGIN EXCLUSIVE; CREATE TABLE a (b)')
    expect(() => folder.open({ busyTimeoutMs: 20 })).toThrow(
      expect.objectContaining({ code: 'ERR_POLITELY_STORE_BUSY' }),
    )
    other.close()
  })
})

test('a file that is deleted while it is open is begun anew', async ({ folder }) => {
  await fill(folder)
  const [store, other] = [folder.open(), folder.open()]
  for (const name of folder.names()) rmSync(join(dirname(folder.path), name))
  expect(await store.get(originOf(0))).toBeUndefined()
  await store.set(originOf(0), 'new', later)
  await other.set(originOf(1), 'new too', later)
  await other.close()
  await store.close()
  await using last = folder.open()
  expect(await last.get(originOf(0))).toBe('new')
  expect(await last.get(originOf(1))).toBe('new too')
})

test('a smaller bound makes a large file smaller', async ({ folder }) => {
  await using large = folder.open()
  await Promise.all(Array.from({ length: 100 }, (_, i) => large.set(originOf(i), 'x'.repeat(400_000), later)))
  await large.close()
  expect(folder.heldBytes()).toBeGreaterThan(30 * 1024 * 1024)
  const maxBytes = 16 * 1024 * 1024
  await using small = folder.open({ maxBytes })
  await small.set(originOf(0), 'new', later)
  await small.close()
  expect(folder.heldBytes()).toBeLessThanOrEqual(maxBytes)
  await using last = folder.open()
  expect(await last.get(originOf(99))).toHaveLength(400_000)
  expect(await last.get(originOf(0))).toBe('new')
  expect(await last.get(originOf(1))).toBeUndefined()
})

test('a text of more than an eighth of the bound is not kept', async ({ folder }) => {
  const store = folder.open({ maxBytes: 16 * 1024 * 1024 })
  await store.set(originOf(0), 'x'.repeat(2 * 1024 * 1024), later)
  expect(await store.get(originOf(0))).toHaveLength(2 * 1024 * 1024)
  await store.set(originOf(0), 'x'.repeat(2 * 1024 * 1024 + 1), later)
  expect(await store.get(originOf(0))).toBeUndefined()
})

test('the path stays the same file when the process goes elsewhere', async ({ folder }) => {
  const cwd = vi.spyOn(process, 'cwd').mockReturnValue(dirname(folder.path))
  const store = folder.open({ path: 'robots.sqlite' })
  cwd.mockReturnValue('/')
  await store.set(originOf(0), 'new', later)
  cwd.mockRestore()
  expect(await folder.open().get(originOf(0))).toBe('new')
})

/** To root nothing is forbidden. */
async function asNobody(work: () => Promise<void>): Promise<void> {
  if (process.getuid?.() !== 0) return work()
  process.seteuid?.(65_534)
  try {
    await work()
  } finally {
    process.seteuid?.(0)
  }
}
