// Folders of evidence for the tests of the audit.
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { zstdCompressSync, zstdDecompressSync } from 'node:zlib'
import { onTestFinished } from 'vitest'
import { type Evidence, evidenceFiles } from '../src/index.ts'
import { START } from './decisions.ts'

/** Creates a folder, which is deleted after the test. */
export function newFolder(): string {
  const dir = mkdtempSync(join(tmpdir(), 'politely-audit-'))
  onTestFinished(() => rmSync(dir, { recursive: true, force: true }))
  return dir
}

/** Writes a folder of evidence by a sink of files, and closes it. Returns the folder. */
export async function writtenFolder(
  write: (sink: Evidence) => void,
  options: Partial<Parameters<typeof evidenceFiles>[0]> = {},
): Promise<string> {
  const dir = options.dir ?? newFolder()
  const sink = evidenceFiles({ now: () => START, ...options, dir })
  write(sink)
  await sink.close()
  return dir
}

/** The lines of the only compressed file of a folder. */
export function linesIn(dir: string, name: string = onlyFile(dir)): string[] {
  return zstdDecompressSync(readFileSync(join(dir, name)))
    .toString()
    .split('\n')
    .slice(0, -1)
}

/** Replaces the lines of that file. */
export function writeLines(dir: string, lines: readonly string[], name: string = onlyFile(dir)): void {
  writeFileSync(join(dir, name), zstdCompressSync(lines.map((line) => `${line}\n`).join('')))
}

function onlyFile(dir: string): string {
  const [name, ...others] = readdirSync(dir).filter((each) => each.endsWith('.ndjson.zst'))
  if (name === undefined || others.length > 0) throw new Error(`${dir} has not one file with records`)
  return name
}
