// Reads the entries of a store.
import { originOf } from '@politely/core'
import { defaultAccessPolicy, dueAt, type Entry, entryFrom, type State, stateOf } from '@politely/core/engine'
import type { SqliteStore } from '@politely/sqlite'
import type { Arguments } from '../../command-line.ts'
import { UsageError } from '../../errors.ts'
import { numberOf } from '../../input/numbers.ts'

const DAY_MS = 86_400_000

/** One entry of a store. */
export interface Row {
  readonly entry: Entry
  /** The entry as the store has it. */
  readonly text: string
  /** When the store drops the entry. Milliseconds since 1970. */
  readonly keepUntil: number
}

/** Which entries a command line selects. */
export interface Selection {
  matches(entry: Entry): boolean
}

/** Reads `--host` and `--older-than`. @throws {UsageError} for an invalid one. */
export function selectionOf(args: Arguments, now: number): Selection {
  const suffix = hostOf(args.get('host'))
  const days = numberOf(args, 'older-than', { min: 0, max: 36_500, unit: 'days', example: 30 })
  const before = days === undefined ? undefined : now - days * DAY_MS
  return {
    matches({ origin, latest }) {
      if (before !== undefined && latest.at >= before) return false
      if (suffix === undefined) return true
      const { hostname } = new URL(origin)
      return hostname === suffix || hostname.endsWith(`.${suffix}`)
    },
  }
}

function hostOf(given: string | undefined): string | undefined {
  if (given === undefined) return undefined
  const url = URL.parse(`https://${given.replace(/^\*?\./, '')}`)
  if (url !== null && url.href === `https://${url.hostname}/`) return url.hostname
  throw new UsageError(`--host: ${JSON.stringify(given)} is not a host; write one such as example.com`, given)
}

/** Yields the selected entries that have not expired, in the order in which they were written. */
export async function* rowsOf(store: SqliteStore, selection: Selection, now: number): AsyncGenerator<Row> {
  for await (const { origin, text, keepUntil } of store.list()) {
    if (keepUntil <= now) continue
    const entry = entryFrom(text) // which checks that the origin is one
    if (entry?.origin === origin && selection.matches(entry)) yield { entry, text, keepUntil }
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

export function listedOf({ entry, keepUntil }: Row, now: number): Listed {
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
