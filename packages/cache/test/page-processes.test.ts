// @module-tag slow
// @module-tag full
// Processes that write pages to one file: killed while they write, several at a time, without space.
import { existsSync, readdirSync } from 'node:fs'
import { hostname } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { seededRandom } from '@politely/testkit/random-robots'
import { startWriter } from '@politely/testkit/writer-process'
import { describe, expect } from 'vitest'
import type { SqlitePageStore } from '../src/sqlite/sqlite-page-store.ts'
import { type Folder, test } from './folder.ts'
import { bodyOf, headerOf, isWhole, put, recordOf, urlOf } from './pages.ts'

const ROUNDS = 10
const MIB = 1_048_576
const WRITER = join(import.meta.dirname, 'page-writer.ts')

/** The last step that each page was committed in. */
function committedSteps(stdout: string): Map<string, number> {
  return new Map(Array.from(stdout.matchAll(/^(\d+) (\d+)\n/gm), ([, n, step]) => [urlOf(Number(n)), Number(step)]))
}

/** Reads all pages. Returns the URLs whose pages are not as they were written, and the steps of all pages. */
async function readAll(store: SqlitePageStore) {
  const steps = new Map<string, number>()
  const wrong: string[] = []
  for await (const page of store.pages()) {
    steps.set(page.record.url, Number(headerOf(page.record, 'x-step')))
    if ((await isWhole(store, page)) !== true) wrong.push(page.record.url)
  }
  return { steps, wrong }
}

/** Compares the files of bodies with the rows, and lets SQLite check the whole database. */
function checkFiles(folder: Folder): { integrity: unknown; unknownFiles: string[] } {
  const db = new DatabaseSync(folder.file)
  try {
    const rows = db.prepare('SELECT id FROM pages').all()
    const ids = new Set(rows.map(({ id }) => `${id}`))
    const bodies = `${folder.file}-bodies`
    const files = existsSync(bodies) ? readdirSync(bodies, { recursive: true, encoding: 'utf8' }) : []
    return {
      integrity: db.prepare('PRAGMA integrity_check').get()?.integrity_check,
      unknownFiles: files.filter((name) => name.includes('/') && !ids.has(name.split('/')[1] ?? '')),
    }
  } finally {
    db.close()
  }
}

test(`every page is whole and no committed page is lost after kills: ${ROUNDS}`, { timeout: 300_000 }, async ({
  folder,
}) => {
  const random = seededRandom(20_260_601)
  let committed = 0
  for (let round = 1; round <= ROUNDS; round++) {
    const maxPages = 1 + Math.floor(random() * 60)
    const writer = startWriter(WRITER, [folder.file, round, 1_000_000], {
      onOutput: () => {
        // A moment later, so that the kill does not always come right after a commit.
        if (writer.output().split('\n').length > maxPages) setTimeout(() => writer.child.kill('SIGKILL'), random() * 8)
      },
    })
    const { stdout, stderr } = await writer.ended
    expect(stderr).toBe('')
    expect(writer.child.signalCode).toBe('SIGKILL')

    const store = folder.open({ onSetAside: ({ error }) => expect.fail(error.message) })
    const { steps, wrong } = await readAll(store)
    expect(wrong).toEqual([])
    const expected = committedSteps(stdout)
    committed += expected.size
    // A page may be committed before the line is printed.
    const lost = [...expected].filter(([url, step]) => !((steps.get(url) ?? 0) >= step))
    expect(lost).toEqual([])
    for (const url of expected.keys()) expect(await store.forget(url)).toBe(1)
    await store.close()
    const { integrity, unknownFiles } = checkFiles(folder)
    expect(integrity).toBe('ok')
    // A process that was killed within a transaction may leave one for each of its two lanes, which the
    // next pages replace.
    expect(unknownFiles.length).toBeLessThanOrEqual(2)
  }
  expect(committed).toBeGreaterThanOrEqual(ROUNDS)
  const store = folder.open()
  for (const [n, bytes] of [10, 200_000, 10].entries())
    await put(store, recordOf(urlOf(n), new Uint8Array(bytes)), new Uint8Array(bytes))
  await store.close()
  expect(checkFiles(folder).unknownFiles).toEqual([])
})

test('what killed processes have left is deleted when space is needed', async ({ folder }) => {
  const maxBytes = 16 * MIB
  const writer = startWriter(WRITER, [folder.file, 1, 1_000_000, maxBytes], {
    onOutput: () => void writer.child.kill('SIGKILL'),
  })
  await writer.ended
  const db = new DatabaseSync(folder.file)
  const { pid } = writer.child
  db.prepare('INSERT INTO pages (id, keep_until, writer, file_bytes) VALUES (1, 1e300, ?, 0)').run(
    `${hostname()} ${pid}`,
  )
  db.prepare('UPDATE pages SET file_bytes = ? WHERE id = 1').run(8 * MIB)
  db.close()
  const store = folder.open({ maxBytes })
  for (let n = 0; n < 40; n++) await put(store, recordOf(urlOf(n), new Uint8Array(200_000)), new Uint8Array(200_000))
  const { steps } = await readAll(store)
  expect([...steps.keys()]).toHaveLength(40)
})

test('two processes write and a third reads one file that is full', { timeout: 120_000 }, async ({ folder }) => {
  const maxBytes = 16 * MIB
  const steps = 200
  const store = folder.open({ maxBytes, onSetAside: ({ error }) => expect.fail(error.message) })
  const writers = [1, 2].map((seed) => startWriter(WRITER, [folder.file, seed, steps, maxBytes]))
  let hasEnded = false
  const ends = Promise.all(writers.map(({ ended }) => ended)).finally(() => {
    hasEnded = true
  })
  const counts = { whole: 0, wrong: 0, gone: 0 }
  const errors: unknown[] = []
  let tooLong = 0
  while (!hasEnded) {
    for (let n = 0; n < 20; n++) {
      const [page] = await store.find(urlOf(n))
      if (page === undefined) continue
      const found = await isWhole(store, page).catch((error: unknown) => void errors.push(error))
      counts[found === undefined ? 'gone' : found ? 'whole' : 'wrong']++
    }
    // SQLite's log may be longer for a moment, while processes read it without a pause. And files come
    // and go while their sizes are added up.
    tooLong = folder.diskBytes() > 1.25 * maxBytes ? tooLong + 1 : 0
    expect(tooLong).toBeLessThan(20)
    await new Promise((resolve) => setTimeout(resolve, 5))
  }
  for (const { status, stderr, stdout } of await ends) {
    expect([status, stderr]).toEqual([0, ''])
    expect(stdout.match(/^\D.*$/gm)).toBeNull()
  }
  expect(errors).toEqual([])
  expect(counts).toMatchObject({ wrong: 0 })
  expect(counts.whole).toBeGreaterThan(0)
  expect((await readAll(store)).wrong).toEqual([])
  await store.close()
  expect(folder.diskBytes()).toBeLessThanOrEqual(maxBytes)
  expect(checkFiles(folder)).toEqual({ integrity: 'ok', unknownFiles: [] })
})

describe.runIf(process.platform !== 'win32')('without space', () => {
  test('a write fails with a code, what is stored stays whole, and later writes succeed', async ({ folder }) => {
    // No file may be longer than 2 MiB (4,096 blocks of POSIX): long bodies and the log of SQLite fail.
    const steps = 300
    const { ended } = startWriter(WRITER, [folder.file, 7, steps], { limit: 'ulimit -f 4096' })
    const { stdout, stderr, status } = await ended
    expect([status, stderr]).toEqual([0, ''])
    const codes = stdout.match(/^\D\S*/gm) ?? []
    expect(codes.length).toBeGreaterThan(0)
    expect([...new Set(codes)]).toEqual(['ERR_POLITELY_STORE_FAILED'])

    const store = folder.open({ onSetAside: ({ error }) => expect.fail(error.message) })
    const { steps: found, wrong } = await readAll(store)
    expect(wrong).toEqual([])
    expect(found.size).toBeGreaterThan(0)
    const body = bodyOf(1)
    await put(store, recordOf(urlOf(0), body, 1_000), body)
    expect((await store.find(urlOf(0))).map(({ record }) => headerOf(record, 'x-step'))).toEqual(['1000'])
    expect(checkFiles(folder).integrity).toBe('ok')
  })
})

test('a page of 300 MB takes no more memory than one of 100 MB', async ({ folder }) => {
  const bytes = 300_000_000
  const { stdout, stderr } = await startWriter(WRITER, [folder.file, 'large', bytes]).ended
  expect(stderr).toBe('')
  const { read, heap, rss } = JSON.parse(stdout)
  expect(read).toBe(bytes)
  // Node collects blocks that were read when there are some 64 MB of them.
  expect(heap).toBeLessThan(96 * MIB)
  expect(rss).toBeLessThan(128 * MIB)
})
