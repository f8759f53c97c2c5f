// Parses Retry-After, RFC 9110 §10.2.3, and other values that servers send in its place.
import { similarDate } from './date.ts'

/** A member of a list that commas separate. A date contains a comma itself. */
const MEMBER = /\s*(?:mon|tue|wed|thu|fri|sat|sun)[a-z]*,[^,]*|[^,]+/gi

/** Hours, minutes and seconds: `300`, `300s`, `64.57`, `5 minutes`, `1m30s`. */
const DURATION =
  /^(?:(\d+(?:\.\d+)?) ?h(?:(?:ou)?rs?)? ?)?(?:(\d+(?:\.\d+)?) ?m(?:in(?:ute)?s?)? ?)?(?:(\d+(?:\.\d+)?) ?(?:s(?:ec(?:ond)?s?)?)?)?$/i

/**
 * From here on, a number of seconds is a time since 1970, in seconds. From 100 times as much on, it
 * is in milliseconds. Our choice.
 */
const MIN_EPOCH_SECONDS = 1e9

/**
 * The longest pause that a response can ask for, in milliseconds: a mistyped value must not end a
 * crawl. Our choice.
 */
export const MAX_RETRY_AFTER_MS: number = 24 * 60 * 60 * 1000

/**
 * Returns how long to wait from `now`, in milliseconds, 0 or more; undefined if the value is
 * neither a duration nor a date. Parts of a second in a duration are rounded up. Clients join the
 * values of several headers with commas (RFC 9110 §5.3). Then the longest time counts.
 */
export function retryAfterMs(value: string | undefined, now: number): number | undefined {
  if (value === undefined) return undefined
  let longest: number | undefined
  for (const member of value.replace(/["']/g, '').match(MEMBER) ?? []) {
    const ms = memberMs(member.trim(), now)
    if (ms !== undefined) longest = Math.max(ms, longest ?? 0)
  }
  return longest
}

function memberMs(member: string, now: number): number | undefined {
  const [duration, hours = 0, minutes = 0, rest = 0] = DURATION.exec(member) ?? []
  const seconds = Math.ceil(Number(hours) * 3600 + Number(minutes) * 60 + Number(rest))
  if (duration && seconds < MIN_EPOCH_SECONDS) return seconds * 1000
  const epochMs = seconds < MIN_EPOCH_SECONDS * 100 ? seconds * 1000 : seconds
  const at = duration ? epochMs : similarDate(member, now)
  return at === undefined ? undefined : Math.max(0, at - now)
}
