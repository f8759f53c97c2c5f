// `politely cache export`: writes the entries of a store, or their robots.txt files.
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import type { Arguments } from '../../command-line.ts'
import { EXITS, UsageError } from '../../exit-code.ts'
import { fileNameOf } from '../../input/robots-dir.ts'
import { withExistingStore } from '../../input/store.ts'
import { replaceFile, writing } from '../../output/file.ts'
import { countText, errorLine } from '../../output/style.ts'
import { write } from '../../output/write.ts'
import { type EntryRow, rowsOf, selectionOf } from './rows.ts'

export async function exportEntries(args: Arguments): Promise<number> {
  const now = Date.now()
  const selection = selectionOf(args, now)
  const file = args.get('output')
  const folder = args.get('robots-dir')
  if (file !== undefined && folder !== undefined)
    throw new UsageError('--output is for entries and --robots-dir for robots.txt files; write one of them')
  // The checksum covers the text, so control characters cannot be escaped for a terminal.
  if (file === undefined && folder === undefined && process.stdout.isTTY)
    throw new UsageError('the export is not for a terminal; write --output FILE, or > FILE')
  await withExistingStore(args, async (store) => {
    const rows = rowsOf(store, selection, now)
    if (folder !== undefined) report(await writeFiles(folder, rows), folder)
    else if (file !== undefined) report(countText(await writeLines(file, rows), 'entry', 'entries'), file)
    else for await (const { text } of rows) await write(`${text}\n`)
  })
  return EXITS.success.code
}

function report(what: string, where: string): void {
  process.stderr.write(errorLine(`wrote ${what} to ${where}`))
}

async function writeLines(file: string, rows: AsyncIterable<EntryRow>): Promise<number> {
  let count = 0
  async function* lines() {
    for await (const { text } of rows) {
      count++
      yield `${text}\n`
    }
  }
  await replaceFile('output', file, lines())
  return count
}

/** Writes one file for each entry with a copy. An origin without robots.txt gets no file. */
async function writeFiles(folder: string, rows: AsyncIterable<EntryRow>): Promise<string> {
  await writing('robots-dir', folder, () => mkdirSync(folder, { recursive: true }))
  let files = 0
  let without = 0
  for await (const { entry } of rows) {
    const { origin, copy } = entry
    if (copy === undefined) {
      without++
      continue
    }
    const name = fileNameOf(origin)
    await replaceFile('robots-dir', join(folder, name), [Buffer.from(copy.bytes, 'latin1')])
    files++
  }
  return `${countText(files, 'robots.txt file')}${without === 0 ? '' : ` (${countText(without, 'origin')} without a copy left out)`}`
}
