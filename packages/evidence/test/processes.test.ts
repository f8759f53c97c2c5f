// @module-tag full
// Processes that write evidence: killed while they write, without space, several in one folder.
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { constants, gunzipSync } from 'node:zlib'
import { startWriter, type WriterOptions } from '@politely/testkit/writer-process'
import { describe, expect, it, test } from 'vitest'
import { evidenceFiles, evidenceWarc } from '../src/index.ts'
import { brokenLinks, filesIn, linesOf, newFolder, readableIn, recordsIn, recordsOf } from './folder.ts'

const WRITER = join(import.meta.dirname, 'evidence-writer.ts')
const MANY = 1_000_000

function start(dir: string, format: 'files' | 'warc', options: object, count: number, writer?: WriterOptions) {
  return startWriter(WRITER, [dir, format, JSON.stringify(options), count], writer)
}

/** Runs a writer until it has printed some lines, and kills it. Returns the IDs that it has printed. */
async function killed(dir: string, format: 'files' | 'warc', options: object, lines: number): Promise<string[]> {
  const writer = start(dir, format, options, MANY, {
    onOutput: () => {
      if (writer.output().split('\n').length > lines) writer.child.kill('SIGKILL')
    },
  })
  const { stdout, stderr } = await writer.ended
  expect(stderr).toBe('')
  return idsIn(stdout)
}

const idsIn = (stdout: string) => Array.from(stdout.matchAll(/^([\da-f]{12}-\w+)\n/gm), ([, id]) => id as string)

const firstSeq = (lines: readonly string[]) => recordsIn(lines)[0]?.seq ?? 0

function decisionsIn(dir: string): Set<string> {
  return new Set(recordsOf(dir).flatMap((record) => (record.kind === 'decision' ? [record.id] : [])))
}

/** The hashes of robots.txt that decisions name, and no file has. */
function missingFiles(dir: string): string[] {
  return recordsOf(dir).flatMap((record) => {
    const sha256 = record.kind === 'decision' ? record.robotsTxt?.sha256 : undefined
    if (sha256 === undefined) return []
    return existsSync(join(dir, 'files', sha256.slice(0, 2), `${sha256.slice(2)}.txt.zst`)) ? [] : [sha256]
  })
}

describe('a killed process', () => {
  test.each([{ mode: 'before-sending' }, { fsync: true }])(
    'leaves each decision that returned, with %j',
    async (options) => {
      const dir = newFolder()
      for (let round = 1; round <= 20; round++) {
        const ids = await killed(dir, 'files', options, round * 40)
        const found = decisionsIn(dir)
        expect(ids.filter((id) => !found.has(id))).toEqual([])
        expect(ids.length).toBeGreaterThan(0)
      }
      expect(missingFiles(dir)).toEqual([])
      for (const name of readableIn(dir)) expect(brokenLinks(linesOf(join(dir, name)))).toEqual([])
      const sink = evidenceFiles({ dir })
      const before = recordsOf(dir).length
      await sink.close()
      expect(filesIn(dir).filter((name) => !/^[\dT.-]+\.ndjson\.zst$/.test(name))).toEqual([])
      expect(recordsOf(dir)).toHaveLength(before + 1)
    },
  )

  it('leaves a readable file with the default mode, which lacks a second at most', async () => {
    const dir = newFolder()
    const ids = await killed(dir, 'files', {}, 2000)
    const found = decisionsIn(dir)
    expect(found.size).toBeGreaterThan(100)
    expect(ids.slice(0, found.size).filter((id) => !found.has(id))).toEqual([])
    expect(missingFiles(dir)).toEqual([])
  })

  it('leaves a WARC that the next start renames', async () => {
    const dir = newFolder()
    const ids = await killed(dir, 'warc', { mode: 'before-sending' }, 200)
    const open = filesIn(dir)
    expect(open).toEqual([expect.stringMatching(/\.warc\.gz\.open$/)])
    const bytes = readFileSync(join(dir, open[0] as string))
    const text = gunzipSync(bytes, { finishFlush: constants.Z_SYNC_FLUSH }).toString()
    expect(ids.filter((id) => !text.includes(`"id":"${id}"`))).toEqual([])
    await evidenceWarc({ dir }).close()
    expect(filesIn(dir).filter((name) => !name.endsWith('.warc.gz'))).toEqual([])
  })
})

describe('a process', () => {
  it('loses nothing if it ends without a close', async () => {
    const dir = newFolder()
    const { stdout, status } = await start(dir, 'files', {}, 30).ended
    expect(status).toBe(0)
    expect([...decisionsIn(dir)]).toEqual(idsIn(stdout))
    expect(recordsOf(dir).filter(({ kind }) => kind === 'result')).toHaveLength(30)
  })

  it('leaves the files of a running process alone', async () => {
    const dir = newFolder()
    const writer = start(dir, 'files', { mode: 'before-sending' }, MANY)
    await expect.poll(() => idsIn(writer.output()).length).toBeGreaterThan(50)
    const [running = ''] = filesIn(dir)
    await evidenceFiles({ dir }).close()
    expect(readdirSync(dir)).toContain(running)
    writer.child.kill('SIGKILL')
    const ids = idsIn((await writer.ended).stdout)
    const found = decisionsIn(dir)
    expect(ids.filter((id) => !found.has(id))).toEqual([])
  })

  it('shares a folder with another process', async () => {
    const dir = newFolder()
    const outputs = await Promise.all([1, 2, 3].map(() => start(dir, 'files', {}, 500).ended))
    const found = decisionsIn(dir)
    expect(outputs.flatMap(({ stdout }) => idsIn(stdout)).filter((id) => !found.has(id))).toEqual([])
    expect(new Set(recordsOf(dir).map(({ chain }) => chain)).size).toBe(3)
    for (const name of readableIn(dir)) expect(brokenLinks(linesOf(join(dir, name)))).toEqual([])
  })

  test.each(['stop', 'continue'])(
    'begins a new file without half a record if a file must not grow (%s)',
    async (onFailure) => {
      const dir = newFolder()
      const options = { mode: 'before-sending', onFailure }
      const { stdout, stderr } = await start(dir, 'files', options, 300, { limit: 'ulimit -f 64' }).ended
      expect(stderr).toMatch(/EFBIG/)
      const names = readableIn(dir)
      expect(names.length).toBeGreaterThan(2)
      for (const name of names) if (name.endsWith('.ndjson')) expect(readFileSync(join(dir, name)).at(-1)).toBe(10)
      const parts = names.map((name) => linesOf(join(dir, name))).toSorted((a, b) => firstSeq(a) - firstSeq(b))
      expect(brokenLinks(parts.flat())).toEqual([])
      expect([...decisionsIn(dir)]).toEqual(idsIn(stdout))
      expect(idsIn(stdout)).toHaveLength(300)
    },
  )
})
