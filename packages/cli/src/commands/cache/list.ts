// `politely cache ls`: lists the entries of a store.
import type { Arguments } from '../../command-line.ts'
import { EXITS } from '../../exit-code.ts'
import { withExistingStore } from '../../input/store.ts'
import { countText, durationText, sizeText } from '../../output/amounts.ts'
import { bold, dim, printable } from '../../output/style.ts'
import { jsonLine, write } from '../../output/write.ts'
import { type Listed, listedOf, rowsOf, selectionOf } from './rows.ts'

const WIDTHS = [14, 11, 10, 9] as const

export async function list(args: Arguments): Promise<number> {
  const now = Date.now()
  const selection = selectionOf(args, now)
  const format = args.get('format')
  const listed: Listed[] = []
  let count = 0
  let bytes = 0
  await withExistingStore(args, async (store) => {
    for await (const row of rowsOf(store, selection, now)) {
      const one = listedOf(row, now)
      bytes += one.bytes ?? 0
      if (format === 'json') listed.push(one)
      else if (format === 'ndjson') await write(jsonLine({ version: 1, ...one }))
      else {
        if (count === 0) await write(`${bold(columns('state', 'attempt', 'next', 'size', 'origin'))}\n`)
        await write(`${textOf(one, now)}\n`)
      }
      count++
    }
  })
  if (format === 'json') await write(jsonLine({ version: 1, entries: listed }))
  if (format === 'text') await write(`${dim(`${countText(count, 'origin')}, ${sizeText(bytes)} of robots.txt`)}\n`)
  return EXITS.success.code
}

function textOf({ state, attemptedAt, nextAttemptAt, bytes, origin }: Listed, now: number): string {
  const age = durationText(Math.max(0, now - attemptedAt))
  const next = nextAttemptAt <= now ? 'due' : `in ${durationText(nextAttemptAt - now)}`
  return columns(state, `${age} ago`, next, bytes === undefined ? '–' : sizeText(bytes), printable(origin))
}

/** The origin is last, since its length is not bounded. */
function columns(...cells: readonly string[]): string {
  return cells.map((cell, n) => cell.padEnd(WIDTHS[n] ?? 0)).join('  ')
}
