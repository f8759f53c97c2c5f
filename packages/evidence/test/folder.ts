// Folders of evidence, and what is in them.
import { hash } from 'node:crypto'
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { zstdDecompressSync } from 'node:zlib'
import { onTestFinished } from 'vitest'
import type { EvidenceRecord } from '../src/record.ts'

/** Creates a folder that is removed after the test. */
export function newFolder(): string {
  const dir = mkdtempSync(join(tmpdir(), 'evidence-'))
  onTestFinished(() => rmSync(dir, { recursive: true, force: true }))
  return dir
}

/** The names of the files with records, in order. */
export function filesIn(dir: string): string[] {
  return readdirSync(dir)
    .filter((name) => name !== 'files')
    .toSorted()
}

/** The whole lines of a file. */
export function linesOf(path: string): string[] {
  const bytes = readFileSync(path)
  const text = (path.endsWith('.zst') ? zstdDecompressSync(bytes) : bytes).toString()
  return text.split('\n').slice(0, -1)
}

export function recordsIn(lines: readonly string[]): EvidenceRecord[] {
  return lines.map((line) => JSON.parse(line) as EvidenceRecord)
}

/** The names of the files that a reader reads. A compressed file may still have its plain one. */
export function readableIn(dir: string): string[] {
  const names = filesIn(dir).filter((name) => /\.ndjson(?:\.zst)?$/.test(name))
  return names.filter((name) => !names.includes(`${name}.zst`))
}

/** The records of all files of a folder, by chain in the order of `seq`. */
export function recordsOf(dir: string): EvidenceRecord[] {
  return recordsIn(readableIn(dir).flatMap((name) => linesOf(join(dir, name)))).toSorted(
    (a, b) => a.chain.localeCompare(b.chain) || a.seq - b.seq,
  )
}

/** The numbers of the lines that don't follow from the line before. */
export function brokenLinks(lines: readonly string[]): number[] {
  return recordsIn(lines).flatMap(({ seq, prev }, n) => {
    const expected = n === 0 ? '' : hash('sha256', lines[n - 1] as string)
    return seq === n && prev === expected ? [] : [n]
  })
}
