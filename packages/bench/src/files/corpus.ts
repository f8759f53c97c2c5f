// Real files, from the folder that packages/testkit/src/cases/conformance.ts names. They belong to
// other people, so they are not in this repository, and a record contains neither their names nor
// their content.
import { execFileSync } from 'node:child_process'
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { conformanceDir } from '@politely/testkit/cases/conformance'
import type { SiteFile } from './site-file.ts'

/** A folder of robots.txt files, each named after its host. */
export interface Corpus {
  readonly folder: string
  /** Deletes the folder. */
  close(): void
}

/** Unpacks the real files. Returns undefined if POLITELY_CONFORMANCE_DIR is not set. */
export function openCorpus(): Corpus | undefined {
  const dir = conformanceDir()
  if (dir === undefined) return undefined
  const home = mkdtempSync(join(tmpdir(), 'politely-bench-'))
  execFileSync('tar', ['-xzf', join(dir, 'corpus-public.tar.gz'), '-C', home])
  return { folder: join(home, 'corpus-public'), close: () => rmSync(home, { recursive: true }) }
}

/** Yields the files of a folder. Reads each one when it is needed, into a separate buffer. */
export function* filesIn(folder: string, most: number = Number.POSITIVE_INFINITY): Generator<SiteFile> {
  const names = readdirSync(folder).sort()
  // If fewer than all files are requested, takes them at equal steps: the first names all begin
  // with digits.
  const step = Math.max(1, Math.floor(names.length / most))
  for (let i = 0, taken = 0; i < names.length && taken < most; i += step, taken++) {
    const name = names[i] as string
    yield { name, origin: `https://${name}`, bytes: readFileSync(join(folder, name)) }
  }
}
