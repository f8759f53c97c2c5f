// Reads and writes entries as JSON for a store. Stores are not trusted: a damaged, incomplete,
// inconsistent or differently versioned entry is a cache miss. The checksum detects damage, also
// inside the robots.txt, where any byte is valid. It does not detect forgery.

import type { LooksLike } from '../foreign-format.ts'
import { DAY_MS } from '../timed-records.ts'
import { originOf } from '../url/origin.ts'
import type { Copy } from './copy.ts'
import { type Attempt, ENTRY_VERSION, type Entry, type HeldResult, MAX_EARLIER_ATTEMPTS } from './entry.ts'
import { looksLikeMeanings } from './looks-like.ts'
import { mayBeNotFoundPage } from './not-found-page.ts'
import type { Hop } from './outcome.ts'
import type { AccessPolicy } from './policy.ts'
import { MAX_GAP_MS } from './unreachable-time.ts'

/**
 * Parses a stored entry. Returns undefined for anything that is not a valid entry; never throws.
 * Unknown fields are dropped, so that they do not reach another store.
 *
 * @param expectedOrigin The origin that the entry must have. Default: any.
 * @param policy The reader's policy. An entry to which the same responses would not have led is not
 * valid. Default: any policy.
 */
export function entryFrom(text: string, expectedOrigin?: string, policy?: AccessPolicy): Entry | undefined {
  const entry = parseChecked(text)
  if (!isRecord(entry) || entry.version !== ENTRY_VERSION) return undefined
  const { origin } = entry
  if (typeof origin !== 'string') return undefined
  if (expectedOrigin === undefined ? originOf(origin) !== origin : expectedOrigin !== origin) return undefined
  const { nextAttemptAt, unreachableSince, failures, unreachableForMs } = entry
  const latest = attemptFrom(entry.latest)
  const earlier = arrayFrom(entry.earlier, attemptFrom)
  const copy = entry.copy === undefined ? undefined : copyFrom(entry.copy)
  const held = entry.held === undefined ? undefined : heldFrom(entry.held)
  const isComplete =
    latest !== undefined &&
    earlier !== undefined &&
    earlier.length <= MAX_EARLIER_ATTEMPTS &&
    (copy !== undefined || entry.copy === undefined) &&
    (held !== undefined || entry.held === undefined) &&
    isTime(nextAttemptAt) &&
    (unreachableSince === undefined || isTime(unreachableSince)) &&
    isCount(failures) &&
    isTime(unreachableForMs)
  if (!isComplete) return undefined
  const isFailed = latest.kind === 'unreachable'
  const isConsistent =
    isFailed === failures > 0 &&
    isFailed === (unreachableSince !== undefined) &&
    unreachableForMs >= 0 &&
    unreachableForMs <= maxUnreachableMs(latest, unreachableSince, failures) &&
    (isFailed || held === undefined) &&
    (copy !== undefined || (held?.attempt ?? latest).kind !== 'success')
  if (!isConsistent) return undefined
  if (policy?.foreignBodies === 'unreachable' && copy?.looksLike !== undefined) return undefined
  if (policy && !(isOutcomeUnder(latest, policy) && (!held || isOutcomeUnder(held.attempt, policy)))) return undefined
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

/**
 * Returns whether the reader's policy gives an attempt this outcome. The writer's policy may have
 * given another one.
 */
function isOutcomeUnder({ kind, reason, status, hops, looksLike }: Attempt, policy: AccessPolicy): boolean {
  if (policy.foreignBodies === 'obey' ? reason === 'foreign-body' : looksLike !== undefined && kind !== 'unreachable')
    return false
  if (reason === 'status' && (status === 401 || status === 403)) return kind === policy.forbidden
  if (reason === 'not-found-page') return mayBeNotFoundPage(status ?? 0, {}, policy)
  return reason !== 'too-many-redirects' || hops.length >= policy.maxRedirects
}

/**
 * Returns the most that this number of failures, from `since` to `latest`, can have counted under
 * any policy. Milliseconds.
 */
function maxUnreachableMs(latest: Attempt, since: number | undefined, failures: number): number {
  return since === undefined ? 0 : Math.min((failures - 1) * MAX_GAP_MS, latest.at - since)
}

/**
 * Returns the JSON that `entryFrom` parses. Its first member is a checksum of the text after it.
 */
export function entryText(entry: Entry): string {
  const rest = JSON.stringify(entry).slice(1)
  return `{"checksum":${checksumOf(rest)},${rest}`
}

/** FNV-1a with 32 bits, over UTF-16 code units. */
function checksumOf(text: string): number {
  let hash = 0x811c9dc5
  for (let i = 0; i < text.length; i++) hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193)
  return hash >>> 0
}

function attemptFrom(value: unknown): Attempt | undefined {
  if (!isRecord(value)) return undefined
  const { kind, reason, status, detail, at, url, looksLike, retryAfterMs } = value
  const hops = arrayFrom(value.hops, hopFrom)
  const isComplete =
    isKind(kind) &&
    typeof reason === 'string' &&
    (status === undefined || isCount(status)) &&
    isOptionalString(detail) &&
    isTime(at) &&
    typeof url === 'string' &&
    hops !== undefined &&
    isLooksLike(looksLike) &&
    (retryAfterMs === undefined || (isTime(retryAfterMs) && retryAfterMs > 0 && retryAfterMs <= DAY_MS))
  if (!isComplete) return undefined
  return {
    kind,
    reason: reason as Attempt['reason'],
    status,
    detail,
    at,
    hops,
    url,
    ...(looksLike && { looksLike }),
    ...(retryAfterMs && { retryAfterMs }),
  }
}

const KINDS: Readonly<Record<Attempt['kind'], true>> = {
  success: true,
  unavailable: true,
  restricted: true,
  unreachable: true,
}

function heldFrom(value: unknown): HeldResult | undefined {
  if (!isRecord(value)) return undefined
  const { until } = value
  const attempt = attemptFrom(value.attempt)
  const isComplete = attempt !== undefined && attempt.kind !== 'unreachable' && isTime(until)
  return isComplete ? { attempt, until } : undefined
}

function hopFrom(value: unknown): Hop | undefined {
  if (!isRecord(value)) return undefined
  const { url, status } = value
  return typeof url === 'string' && isCount(status) ? { url, status } : undefined
}

function copyFrom(value: unknown): Copy | undefined {
  if (!isRecord(value)) return undefined
  const { bytes, truncated, confirmedAt, url, etag, lastModified, lifetimeMs, looksLike } = value
  const isComplete =
    isBytes(bytes) &&
    typeof truncated === 'boolean' &&
    isTime(confirmedAt) &&
    typeof url === 'string' &&
    (etag === undefined || isFieldValue(etag)) &&
    (lastModified === undefined || isFieldValue(lastModified)) &&
    (lifetimeMs === undefined || isTime(lifetimeMs)) &&
    isLooksLike(looksLike)
  if (!isComplete) return undefined
  return { bytes, truncated, confirmedAt, url, etag, lastModified, lifetimeMs, ...(looksLike && { looksLike }) }
}

function arrayFrom<T>(value: unknown, from: (one: unknown) => T | undefined): readonly T[] | undefined {
  if (!Array.isArray(value)) return undefined
  const list = value.map(from)
  return list.every((one) => one !== undefined) ? (list as T[]) : undefined
}

function parseChecked(text: string): unknown {
  const [start = '', checksum] = /^\{"checksum":(\d+),/.exec(text) ?? []
  if (checksum !== `${checksumOf(text.slice(start.length))}`) return undefined
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null
}

function isKind(value: unknown): value is Attempt['kind'] {
  return typeof value === 'string' && Object.hasOwn(KINDS, value)
}

function isLooksLike(value: unknown): value is LooksLike | undefined {
  return value === undefined || Object.hasOwn(looksLikeMeanings, value as PropertyKey)
}

function isOptionalString(value: unknown): value is string | undefined {
  return value === undefined || typeof value === 'string'
}

/** Returns whether the value is a finite number. `JSON.parse` returns Infinity for `1e999`. */
function isTime(value: unknown): value is number {
  return typeof value === 'number' && Number.isFinite(value)
}

function isCount(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 0
}

/** Returns whether the value may be sent in a header, as the client does with it. RFC 9110 §5.5. */
function isFieldValue(value: unknown): value is string {
  return typeof value === 'string' && /^[\t\x20-\x7e\x80-\xff]*$/.test(value)
}

/** Returns whether the value is a string with one character for each byte (latin1). */
function isBytes(value: unknown): value is string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: a file may contain any byte
  return typeof value === 'string' && /^[\u0000-\u00ff]*$/.test(value)
}
