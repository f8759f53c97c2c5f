// An entry that comes back from a store. Stores are not trusted: what is cut, foreign or of another version is a miss.

import { originOf } from '../url/origin.ts'
import type { Copy } from './copy.ts'
import { type Attempt, EARLIER_ATTEMPTS, ENTRY_VERSION, type Entry, type HeldResult } from './entry.ts'
import { LONGEST_GAP_MS } from './evidence.ts'
import type { Hop } from './outcome.ts'

/**
 * The entry in what a store kept, which is JSON; undefined for anything else. Never throws. Fields that no entry has are left out,
 * so that nothing foreign goes on to the next store.
 *
 * @param of The origin that it has to be about; without it, any.
 */
export function entryFrom(text: string, of?: string): Entry | undefined {
  const entry = parsed(text)
  if (!isRecord(entry) || entry.version !== ENTRY_VERSION) return undefined
  const { origin } = entry
  if (typeof origin !== 'string' || (of === undefined ? originOf(origin) !== origin : of !== origin)) return undefined
  const { nextAttemptAt, unreachableSince, failures, unreachableForMs } = entry
  const latest = attemptFrom(entry.latest)
  const earlier = listFrom(entry.earlier, attemptFrom)
  const copy = entry.copy === undefined ? undefined : copyFrom(entry.copy)
  const held = entry.held === undefined ? undefined : heldFrom(entry.held)
  const isWhole =
    latest !== undefined &&
    earlier !== undefined &&
    earlier.length <= EARLIER_ATTEMPTS &&
    (copy !== undefined || entry.copy === undefined) &&
    (held !== undefined || entry.held === undefined) &&
    isTime(nextAttemptAt) &&
    (unreachableSince === undefined || isTime(unreachableSince)) &&
    isCount(failures) &&
    isTime(unreachableForMs)
  if (!isWhole) return undefined
  const isFailed = latest.kind === 'unreachable'
  const agrees =
    isFailed === failures > 0 &&
    isFailed === (unreachableSince !== undefined) &&
    unreachableForMs >= 0 &&
    unreachableForMs <= longestUnreachableMs(latest, unreachableSince, failures) &&
    (isFailed || held === undefined) &&
    (copy !== undefined || (held?.attempt ?? latest).kind !== 'success')
  if (!agrees) return undefined
  return {
    version: ENTRY_VERSION,
    origin,
    latest,
    earlier,
    nextAttemptAt,
    copy,
    unreachableSince,
    failures,
    unreachableForMs,
    held,
  }
}

/** The longest time that so many failures, from `since` to `latest`, can have counted under any policy. */
function longestUnreachableMs(latest: Attempt, since: number | undefined, failures: number): number {
  return since === undefined ? 0 : Math.min((failures - 1) * LONGEST_GAP_MS, latest.at - since)
}

/** The text that `entryFrom` reads. */
export function entryText(entry: Entry): string {
  return JSON.stringify(entry)
}

function attemptFrom(value: unknown): Attempt | undefined {
  if (!isRecord(value)) return undefined
  const { kind, reason, status, detail, at, url } = value
  const hops = listFrom(value.hops, hopFrom)
  const isWhole =
    isOneOf(kind, KINDS) &&
    typeof reason === 'string' &&
    (status === undefined || isCount(status)) &&
    isTextOrNothing(detail) &&
    isTime(at) &&
    typeof url === 'string' &&
    hops !== undefined
  if (!isWhole) return undefined
  return { kind, reason: reason as Attempt['reason'], status, detail, at, hops, url }
}

const KINDS: readonly Attempt['kind'][] = ['success', 'unavailable', 'restricted', 'unreachable']

function heldFrom(value: unknown): HeldResult | undefined {
  if (!isRecord(value)) return undefined
  const { until } = value
  const attempt = attemptFrom(value.attempt)
  const isWhole = attempt !== undefined && attempt.kind !== 'unreachable' && isTime(until)
  return isWhole ? { attempt, until } : undefined
}

function hopFrom(value: unknown): Hop | undefined {
  if (!isRecord(value)) return undefined
  const { url, status } = value
  return typeof url === 'string' && isCount(status) ? { url, status } : undefined
}

function copyFrom(value: unknown): Copy | undefined {
  if (!isRecord(value)) return undefined
  const { bytes, truncated, confirmedAt, url, etag, lastModified } = value
  const isWhole =
    isBytes(bytes) &&
    typeof truncated === 'boolean' &&
    isTime(confirmedAt) &&
    typeof url === 'string' &&
    (etag === undefined || isFieldValue(etag)) &&
    (lastModified === undefined || isFieldValue(lastModified))
  return isWhole ? { bytes: bytes, truncated, confirmedAt, url, etag, lastModified } : undefined
}

function listFrom<T>(value: unknown, from: (one: unknown) => T | undefined): readonly T[] | undefined {
  if (!Array.isArray(value)) return undefined
  const list = value.map(from)
  return list.every((one) => one !== undefined) ? (list as T[]) : undefined
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined // an invalid entry
  }
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null
}

function isOneOf<T>(value: unknown, list: readonly T[]): value is T {
  return list.includes(value as T)
}

function isTextOrNothing(value: unknown): value is string | undefined {
  return value === undefined || typeof value === 'string'
}

/** JSON cannot hold infinity, and with NaN as a time every comparison would be false. */
function isTime(value: unknown): value is number {
  return typeof value === 'number' && Number.isFinite(value)
}

function isCount(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 0
}

/** What a header may hold, since it will be sent in one. RFC 9110 §5.5. */
function isFieldValue(value: unknown): value is string {
  return typeof value === 'string' && /^[\t\x20-\x7e\x80-\xff]*$/.test(value)
}

/** One character for each byte. */
function isBytes(value: unknown): value is string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: bytes are any
  return typeof value === 'string' && /^[\u0000-\u00ff]*$/.test(value)
}
