// Compares documentation pages with what their tests generate. `npm run update` runs the tests that
// call `expectPage` or `expectTables`, and writes the pages.
import { readFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import { expect } from 'vitest'
import { type DocTable, withTables } from './doc-table.ts'
import { isFullRun } from './scope.ts'

const root = join(import.meta.dirname, '../../..')

/** Returns the text of a page. @param page Its path from the root, such as `docs/waiting.md`. */
export function readPage(page: string): string {
  return readFileSync(join(root, page), 'utf8')
}

/**
 * Expects that a page has this text. @param page Its path from the root, such as `docs/waiting.md`.
 */
export async function expectPage(page: string, text: string): Promise<void> {
  try {
    await expect(text).toMatchFileSnapshot(join(root, page))
  } catch (error) {
    if (error instanceof Error && error.message.startsWith('Snapshot'))
      error.message = `${page} is not current; run \`${updateCommand()}\`, which writes it`
    throw error
  }
}

/** `npm run update` writes the page; so does a full run with `-u`. */
function updateCommand(): string {
  return isFullRun ? `npm run test:all -- ${relative(root, expect.getState().testPath ?? '')} -u` : 'npm run update'
}

/**
 * Expects that a page has these tables. @param page Its path from the root, such as
 * `docs/waiting.md`.
 */
export async function expectTables(page: string, ...tables: readonly DocTable[]): Promise<void> {
  await expectPage(page, withTables(readPage(page), tables))
}
