// `politely cache ls|show|prune` for the robots.txt files of `--store`.
import type { Attempt } from '@politely/core'
import { type Entry, entryFrom } from '@politely/core/engine'
import { defaultAccessPolicy, describeCause, describeState, formatTime } from '@politely/core/internal'
import type { Arguments } from '../../command-line.ts'
import { EXITS, UsageError } from '../../exit-code.ts'
import { withExistingStore } from '../../input/store.ts'
import { printReport, rowsWithin } from '../../output/report.ts'
import {
  bold,
  countText,
  durationText,
  errorLine,
  linesOf,
  printable,
  type Row,
  safeText,
  sizeText,
} from '../../output/style.ts'
import { write } from '../../output/write.ts'
import {
  assertAge,
  entryIn,
  type Listed,
  listedOf,
  originOfOperand,
  printListing,
  rowsOf,
  selectionOf,
} from './rows.ts'

export function listEntries(args: Arguments): Promise<number> {
  const now = Date.now()
  const selection = selectionOf(args, now)
  return printListing(args, {
    rows: rowsWithin<Listed>((pass) =>
      withExistingStore(args, async (store) => {
        for await (const row of rowsOf(store, selection, now)) await pass(listedOf(row, now))
      }),
    ),
    columns: [['state', 14], ['attempt', 11], ['next', 10], ['size', 9], ['origin']],
    cells: ({ state, attemptedAt, nextAttemptAt, bytes, origin }) => [
      state,
      `${durationText(Math.max(0, now - attemptedAt))} ago`,
      nextAttemptAt <= now ? 'due' : `in ${durationText(nextAttemptAt - now)}`,
      bytes === undefined ? '–' : sizeText(bytes),
      printable(origin),
    ],
    total: (count, bytes) => `${countText(count, 'origin')}, ${sizeText(bytes)} of robots.txt`,
  })
}

/** Prints entries in full. */
export function showEntries(args: Arguments, operands: readonly string[]): Promise<number> {
  if (operands.length === 0)
    throw new UsageError('cache show: no origin was given; write one such as https://example.com')
  const origins = operands.map(originOfOperand)
  const now = Date.now()
  let isComplete = true
  return printReport(args, {
    rows: rowsWithin<Entry>((pass) =>
      withExistingStore(args, async (store) => {
        for (const origin of origins) {
          const entry = await entryIn(store, origin)
          if (entry !== undefined) await pass(entry)
          else {
            isComplete = false
            process.stderr.write(errorLine(`${origin} is not in the store; politely cache ls lists what is there`))
          }
        }
      }),
    ),
    list: 'entries',
    between: '\n',
    json: (entry) => recordOf(entry, now),
    text: (entry) => textOf(entry, now),
    end: () => ({ exit: isComplete ? 'success' : 'disallowed' }),
  })
}

/** Returns the entry without its copy's bytes, and with the text of robots.txt. */
function recordOf(entry: Entry, now: number): object {
  const { keepUntil: _, bytes: _size, ...listed } = listedOf({ entry, keepUntil: Number.NaN }, now)
  const { bytes, ...copy } = entry.copy ?? { bytes: undefined }
  return {
    ...listed,
    why: describeState(entry, now, defaultAccessPolicy),
    failures: entry.failures,
    unreachableSince: entry.unreachableSince,
    attempts: [entry.latest, ...entry.earlier],
    copy: bytes === undefined ? undefined : { size: bytes.length, ...copy, text: decoded(bytes) },
  }
}

function textOf(entry: Entry, now: number): string {
  const { origin, latest, earlier, copy } = entry
  const cut = copy?.truncated ? ', cut at the size limit' : ''
  const rows: readonly Row[] = [
    ['state', describeState(entry, now, defaultAccessPolicy)],
    ['attempts', [latest, ...earlier].map(attemptText)],
    [
      'copy',
      copy && [
        `${sizeText(copy.bytes.length)}${cut}, confirmed ${formatTime(copy.confirmedAt)}`,
        `from ${printable(copy.url)}`,
      ],
    ],
    ['ETag', copy?.etag && printable(copy.etag)],
    ['modified', copy?.lastModified && printable(copy.lastModified)],
  ]
  const head = [bold(printable(origin)), ...linesOf(9, rows)].join('\n')
  if (copy === undefined) return `${head}\n`
  const lines = decoded(copy.bytes).replace(/\r\n?/g, '\n').replace(/\n$/, '').split('\n')
  return `${head}\n\n${lines.map(safeText).join('\n')}\n`
}

function attemptText(attempt: Attempt): string {
  const { at, hops, url } = attempt
  const way = [...hops.map((hop) => `${printable(hop.url)} (${hop.status})`), printable(url)].join(' → ')
  return `${formatTime(at)}  ${printable(describeCause(attempt))}  ${way}`
}

/** @param bytes One character for each byte. */
function decoded(bytes: string): string {
  return new TextDecoder().decode(Buffer.from(bytes, 'latin1'))
}

export async function pruneEntries(args: Arguments): Promise<number> {
  const now = Date.now()
  const selection = selectionOf(args, now)
  const hasAge = args.has('older-than')
  if (args.has('host')) assertAge(args)
  await withExistingStore(args, async (store) => {
    let count = 0
    const removed: string[] = []
    for await (const { origin, text, keepUntil } of store.list()) {
      count++
      const entry = keepUntil <= now ? undefined : entryFrom(text)
      if (keepUntil <= now || (hasAge && entry !== undefined && selection.matches(origin, entry.latest.at)))
        removed.push(origin)
    }
    await Promise.all(removed.map((origin) => store.delete(origin)))
    await write(`removed ${countText(removed.length, 'origin')} of ${count.toLocaleString('en')}\n`)
  })
  return EXITS.success.code
}
