// `politely cache import`: reads the lines of `export`. All lines are checked before the first one is
// written, so that a damaged file changes nothing.
import { createReadStream, existsSync } from 'node:fs'
import { Readable } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import { type Entry, entryFrom, keepUntil } from '@politely/core/engine'
import { defaultAccessPolicy } from '@politely/core/internal'
import type { SqliteStore } from '@politely/sqlite'
import type { Arguments } from '../../command-line.ts'
import { EXITS, UsageError } from '../../exit-code.ts'
import { isFile } from '../../input/is-file.ts'
import { requiredStoreFile, withStoreFile } from '../../input/store.ts'
import { countText, errorLine } from '../../output/style.ts'
import { write } from '../../output/write.ts'
import { entryIn } from './rows.ts'

/** A store keeps no longer text. A longer line is cut, so that its checksum is wrong. */
const MAX_LINE_LENGTH = 4 * 1024 * 1024
/** How many entries are read from the store and written at a time. */
const BATCH = 256
/** How many wrong lines are named. */
const MAX_REPORTED = 10

interface NumberedLine {
  readonly number: number
  readonly text: string
}

export async function importEntries(args: Arguments, operands: readonly string[]): Promise<number> {
  const [file, ...more] = operands
  if (file === undefined || more.length > 0)
    throw new UsageError('cache import: write the name of one file, or - for stdin')
  const path = requiredStoreFile(args)
  // The file is read twice, so it cannot be a pipe.
  if (file !== '-' && !isFile(file)) {
    const problem = existsSync(file) ? 'it is not a regular file' : 'there is no such file'
    throw new UsageError(
      `cache import: ${JSON.stringify(file)}: ${problem}; write the name of a file of cache export, or - for stdin`,
      file,
    )
  }
  const stdin = file === '-' ? [await buffer(process.stdin)] : []
  const lines = () => linesOf(file === '-' ? Readable.from(stdin) : createReadStream(file))
  const wrong = await checkLines(lines())
  if (wrong > 0) {
    process.stderr.write(errorLine(`${countText(wrong, 'line')} of ${file} cannot be read; nothing was imported`))
    return EXITS.usage.code
  }
  const { taken, older } = await withStoreFile(path, (store) => writeEntries(store, lines()))
  const skipped =
    older === 0 ? '' : `; ${countText(older, 'entry was', 'entries were')} no newer than what the store has`
  await write(`imported ${countText(taken, 'entry', 'entries')}${skipped}\n`)
  return EXITS.success.code
}

/** `readline` does not fit, since it ends a line at U+2028, too, and buffers lines of any length. */
async function* linesOf(input: AsyncIterable<Uint8Array>): AsyncGenerator<NumberedLine> {
  const decoder = new TextDecoder()
  let number = 0
  let rest = ''
  for await (const chunk of input) {
    const lines = (rest + decoder.decode(chunk, { stream: true })).split('\n')
    rest = (lines.pop() ?? '').slice(0, MAX_LINE_LENGTH)
    for (const text of lines) yield { number: ++number, text: text.trim() }
  }
  yield { number: ++number, text: (rest + decoder.decode()).trim() }
}

/** Reports the wrong lines, and returns how many there are. */
async function checkLines(lines: AsyncIterable<NumberedLine>): Promise<number> {
  let wrong = 0
  for await (const { number, text } of lines) {
    if (text === '' || entryFrom(text) !== undefined) continue
    wrong++
    if (wrong <= MAX_REPORTED) process.stderr.write(errorLine(`line ${number}: ${problemOf(text)}`))
  }
  return wrong
}

/** Says why a line is not an entry. */
function problemOf(text: string): string {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    return 'this is not JSON; write the lines of politely cache export'
  }
  const { checksum, version } = (value ?? {}) as { readonly checksum?: unknown; readonly version?: unknown }
  if (checksum === undefined) return 'this is not an entry; write the lines of politely cache export'
  return `the entry (version ${JSON.stringify(version)}) was changed, or is of another version of politely; export it again`
}

async function writeEntries(store: SqliteStore, lines: AsyncIterable<NumberedLine>) {
  const counts = { taken: 0, older: 0 }
  let batch: string[] = []
  for await (const { text } of lines) {
    batch.push(text)
    if (batch.length < BATCH) continue
    await writeBatch(store, batch, counts)
    batch = []
  }
  await writeBatch(store, batch, counts)
  return counts
}

async function writeBatch(store: SqliteStore, texts: readonly string[], counts: { taken: number; older: number }) {
  const newest = new Map<string, { readonly entry: Entry; readonly text: string }>()
  for (const text of texts) {
    const entry = entryFrom(text)
    if (entry === undefined) continue // a blank line
    const known = newest.get(entry.origin)?.entry ?? (await entryIn(store, entry.origin))
    if (known !== undefined && known.latest.at >= entry.latest.at) counts.older++
    else {
      counts.taken++
      newest.set(entry.origin, { entry, text })
    }
  }
  const now = Date.now()
  await Promise.all(
    Array.from(newest.values(), ({ entry, text }) =>
      store.set(entry.origin, text, keepUntil(entry, now, defaultAccessPolicy)),
    ),
  )
}
