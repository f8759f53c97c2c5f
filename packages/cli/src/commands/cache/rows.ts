// What the verbs of `politely cache` share: which entries they mean, and how they list them.
import { originOf } from '@politely/core'
import { describeValue, dueAt, type Entry, entryFrom, type State, stateOf } from '@politely/core/engine'
import { defaultAccessPolicy } from '@politely/core/internal'
import type { SqliteStore } from '@politely/sqlite'
import type { Arguments } from '../../command-line.ts'
import { UsageError } from '../../exit-code.ts'
import { printReport } from '../../output/report.ts'
import { bold, dim } from '../../output/style.ts'

const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS
const MAX_DAYS = 36_500

/** One entry of a store. */
export interface EntryRow {
  readonly entry: Entry
  /** The entry as the store has it. */
  readonly text: string
  /** When the store drops the entry. Milliseconds since 1970. */
  readonly keepUntil: number
}

/** Which entries or pages a command line selects. */
export interface Selection {
  /** @param at When robots.txt was last tried, or when the site last sent or confirmed the page. */
  matches(url: string, at: number): boolean
}

/** Reads `--host` and `--older-than`. @throws {UsageError} for an invalid one. */
export function selectionOf(args: Arguments, now: number): Selection {
  const suffix = hostOf(args.get('host'))
  const ageMs = ageMsOf(args.get('older-than'))
  const before = ageMs === undefined ? undefined : now - ageMs
  return {
    matches(url, at) {
      if (before !== undefined && at >= before) return false
      if (suffix === undefined) return true
      const { hostname } = new URL(url)
      return hostname === suffix || hostname.endsWith(`.${suffix}`)
    },
  }
}

function ageMsOf(given: string | undefined): number | undefined {
  if (given === undefined) return undefined
  const [, count = 'none', unit] = /^(\d*\.?\d+)([dh]?)$/.exec(given.trim()) ?? []
  const ms = Number(count) * (unit === 'h' ? HOUR_MS : DAY_MS)
  if (ms <= MAX_DAYS * DAY_MS) return ms
  throw new UsageError(
    `--older-than: ${describeValue(given)} is out of range; write days from 0 to ${MAX_DAYS}, such as 30 or 30d, or hours, such as 12h`,
    given,
  )
}

function hostOf(given: string | undefined): string | undefined {
  if (given === undefined) return undefined
  const url = URL.parse(`https://${given.replace(/^\*?\./, '')}`)
  if (url !== null && url.href === `https://${url.hostname}/`) return url.hostname
  throw new UsageError(`--host: ${JSON.stringify(given)} is not a host; write one such as example.com`, given)
}

/** Yields the selected entries that have not expired, in the order in which they were written. */
export async function* rowsOf(store: SqliteStore, selection: Selection, now: number): AsyncGenerator<EntryRow> {
  for await (const { origin, text, keepUntil } of store.list()) {
    if (keepUntil <= now) continue
    const entry = entryFrom(text) // which checks that the origin is one
    if (entry?.origin === origin && selection.matches(origin, entry.latest.at)) yield { entry, text, keepUntil }
  }
}

/** Returns the entry of an origin. Returns undefined for an expired one. */
export async function entryIn(store: SqliteStore, origin: string): Promise<Entry | undefined> {
  const text = await store.get(origin)
  return text === undefined ? undefined : entryFrom(text, origin)
}

/** Returns the origin of an operand. @throws {UsageError} for an invalid URL. */
export function originOfOperand(operand: string): string {
  const origin = originOf(operand.includes('://') ? operand : `https://${operand}`)
  if (origin !== undefined) return origin
  throw new UsageError(`${JSON.stringify(operand)} is not an origin; write one such as https://example.com`, operand)
}

/** What `ls` prints about an entry. */
export interface Listed {
  readonly origin: string
  readonly state: State
  /** When the last attempt to fetch robots.txt ended. Milliseconds since 1970. */
  readonly attemptedAt: number
  readonly nextAttemptAt: number
  readonly keepUntil: number
  /** The status of the last attempt; undefined if no server responded. */
  readonly status: number | undefined
  /** The size of the copy; undefined without one. */
  readonly bytes: number | undefined
}

export function listedOf({ entry, keepUntil }: Pick<EntryRow, 'entry' | 'keepUntil'>, now: number): Listed {
  const { origin, latest, copy } = entry
  return {
    origin,
    state: stateOf(entry, now, defaultAccessPolicy),
    attemptedAt: latest.at,
    nextAttemptAt: dueAt(entry, defaultAccessPolicy),
    keepUntil,
    status: latest.status,
    bytes: copy?.bytes.length,
  }
}

/** Entries or pages as a table. */
interface Listing<L> {
  readonly rows: AsyncIterable<L>
  /** Each with its width. The last one has the URL, whose length is not bounded. */
  readonly columns: readonly (readonly [heading: string, width?: number])[]
  cells(one: L): readonly string[]
  /** Returns the last line. */
  total(count: number, bytes: number): string
}

/** Prints a listing. Returns the exit code. */
export function printListing<L extends { readonly bytes: number | undefined }>(
  args: Arguments,
  { rows, columns, cells, total }: Listing<L>,
): Promise<number> {
  const line = (texts: readonly string[]) => texts.map((text, n) => text.padEnd(columns[n]?.[1] ?? 0)).join('  ')
  let count = 0
  let bytes = 0
  return printReport(args, {
    rows,
    list: 'entries',
    json: (one) => one,
    text(one) {
      bytes += one.bytes ?? 0
      const head = count++ === 0 ? `${bold(line(columns.map(([heading]) => heading)))}\n` : ''
      return `${head}${line(cells(one))}\n`
    },
    end: () => ({ text: `${dim(total(count, bytes))}\n` }),
  })
}

/** @throws {UsageError} without `--older-than`. */
export function assertAge(args: Arguments): void {
  if (args.has('older-than')) return
  const [flag, what] = args.has('host') ? ['--host', 'all entries of the host'] : ['cache prune', 'all pages']
  throw new UsageError(`${flag}: needs --older-than; write --older-than 0 to remove ${what}`)
}
