// `politely cache show`: prints one entry in full.
import type { Attempt } from '@politely/core'
import { defaultAccessPolicy, describeCause, describeState, entryFrom, formatTime } from '@politely/core/internal'
import type { Arguments } from '../../command-line.ts'
import { UsageError } from '../../errors.ts'
import { EXITS } from '../../exit-code.ts'
import { withExistingStore } from '../../input/store.ts'
import { sizeText } from '../../output/amounts.ts'
import { bold, dim, errorLine, printable, safeText } from '../../output/style.ts'
import { jsonLine, write } from '../../output/write.ts'
import { listedOf, originOfOperand, type Row } from './rows.ts'

export async function show(args: Arguments, operands: readonly string[]): Promise<number> {
  if (operands.length === 0)
    throw new UsageError('cache show: no origin was given; write one such as https://example.com')
  const origins = operands.map(originOfOperand)
  const format = args.get('format')
  const now = Date.now()
  const found = await withExistingStore(args, async (store) => {
    const rows: Row[] = []
    for (const origin of origins) {
      const text = await store.get(origin)
      const entry = text === undefined ? undefined : entryFrom(text, origin)
      if (text !== undefined && entry !== undefined) rows.push({ entry, text, keepUntil: Number.NaN })
      else process.stderr.write(errorLine(`${origin} is not in the store; politely cache ls lists what is there`))
    }
    return rows
  })
  const records = found.map((row) => recordOf(row, now))
  if (format === 'json') await write(jsonLine({ version: 1, entries: records }))
  else if (format === 'ndjson') for (const record of records) await write(jsonLine({ version: 1, ...record }))
  else await write(found.map((row) => textOf(row, now)).join('\n'))
  return found.length === origins.length ? EXITS.success.code : EXITS.disallowed.code
}

/** Returns the entry without its copy's bytes, and with the text of robots.txt. */
function recordOf(row: Row, now: number): object {
  const { entry } = row
  const { keepUntil: _, bytes: _size, ...listed } = listedOf(row, now)
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

function textOf({ entry }: Row, now: number): string {
  const { origin, latest, earlier, copy } = entry
  const rows = [
    bold(printable(origin)),
    row('state', describeState(entry, now, defaultAccessPolicy)),
    ...[latest, ...earlier].map((attempt, n) => row(n === 0 ? 'attempts' : '', attemptText(attempt))),
  ]
  if (copy === undefined) return `${rows.join('\n')}\n`
  const cut = copy.truncated ? ', cut at the size limit' : ''
  rows.push(row('copy', `${sizeText(copy.bytes.length)}${cut}, confirmed ${formatTime(copy.confirmedAt)}`))
  rows.push(row('', `from ${printable(copy.url)}`))
  if (copy.etag !== undefined) rows.push(row('ETag', printable(copy.etag)))
  if (copy.lastModified !== undefined) rows.push(row('modified', printable(copy.lastModified)))
  const lines = decoded(copy.bytes).replace(/\r\n?/g, '\n').replace(/\n$/, '').split('\n')
  return `${rows.join('\n')}\n\n${lines.map(safeText).join('\n')}\n`
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

function row(label: string, text: string): string {
  return `  ${dim(label.padEnd(9))} ${text}`
}
