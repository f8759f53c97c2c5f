// Checks options, for this package and for those that depend on it. Each check returns a valid value unchanged. For an invalid value it
// throws an `OptionError` that names the option, says what is wrong with the value, and what was expected.
import { OptionError } from '@politely/core'

/** The longest delay of a timer, in milliseconds: 2^31 - 1. */
export const LONGEST_TIMER_MS: number = 2 ** 31 - 1

const CLIENT_EXAMPLE = '{ userAgent: "ExampleBot/1.0 (+https://example.com/bot)" }'

/** @param example Options to show in the error message. @throws {OptionError} if `options` is not an object. */
export function assertOptions(options: unknown, example: string = CLIENT_EXAMPLE): void {
  if (typeof options === 'object' && options !== null) return
  const problem = options === undefined ? 'is missing' : `${describeValue(options)} is not an object`
  throw new OptionError('options', `${problem}; expected an object such as ${example}`)
}

/** @throws {OptionError} for an option whose name is not in `known`. */
export function assertKnown(options: object, known: Readonly<Record<string, true>>): void {
  for (const name of Object.keys(options)) {
    if (Object.hasOwn(known, name)) continue
    const similar = similarName(name, Object.keys(known))
    const expected = similar ? `did you mean \`${similar}\`?` : `expected one of ${Object.keys(known).join(', ')}`
    throw new OptionError(name, `is an unknown option; ${expected}`)
  }
}

/** Returns the name that `name` may be a misspelling of: the most similar one, in which at most two letters differ, and fewer than half. */
function similarName(name: string, names: readonly string[]): string | undefined {
  let similar: string | undefined
  let smallest = 3
  for (const known of names) {
    const distance = editDistance(name.toLowerCase(), known.toLowerCase())
    if (distance >= smallest || 2 * distance >= known.length) continue
    similar = known
    smallest = distance
  }
  return similar
}

/** Returns how many letters must be inserted, deleted or replaced to turn one word into the other (Levenshtein). */
function editDistance(one: string, other: string): number {
  /** The distances of the letters of `one` so far to each prefix of `other`. */
  let distances = Array.from({ length: other.length + 1 }, (_, length) => length)
  for (const [i, letter] of [...one].entries()) {
    const next = [i + 1]
    for (let j = 0; j < other.length; j++) {
      const replaced = (distances[j] as number) + (letter === other[j] ? 0 : 1)
      next.push(Math.min(replaced, (distances[j + 1] as number) + 1, (next[j] as number) + 1))
    }
    distances = next
  }
  return distances[other.length] as number
}

/**
 * Checks the last argument of a method: its type, the names of the options, and `signal`.
 * @throws {OptionError} for an invalid or unknown option.
 */
export function assertCallOptions(options: unknown, known: Readonly<Record<string, true>>): void {
  const isSignal = typeof (options as Partial<AbortSignal> | null | undefined)?.aborted === 'boolean'
  if (isSignal) throw new OptionError('options', 'an AbortSignal is not an object of options; write { signal }')
  assertOptions(options, '{ signal }')
  assertKnown(options as object, known)
  abortSignal((options as { readonly signal?: AbortSignal | undefined }).signal)
}

/** Checks the option `signal`. */
export function abortSignal(signal: AbortSignal | undefined): AbortSignal | undefined {
  if (signal instanceof AbortController) {
    throw new OptionError('signal', 'an AbortController is not an AbortSignal; write controller.signal')
  }
  return withMethods('signal', signal, ['addEventListener'], 'an AbortSignal')
}

/** Returns the text of a URL argument. @throws {OptionError} if it is neither a string nor an object with an `href`. */
export function urlText(url: unknown): string {
  if (typeof url === 'string') return url
  const { href, url: requestUrl } = (url ?? {}) as { readonly href?: unknown; readonly url?: unknown }
  if (typeof href === 'string') return href
  const example = '"https://example.com/page"'
  if (url === undefined) throw new OptionError('url', `is missing; write a URL such as ${example}`)
  if (typeof requestUrl === 'string') {
    throw new OptionError('url', 'a Request has no href; write request.url')
  }
  throw new OptionError(
    'url',
    `${describeValue(url)} is not a URL; expected a string or a URL object, such as ${example}`,
  )
}

/** @param example What to write instead of a single item. @throws {OptionError} if `items` is not an iterable, or is a single text. */
export function assertIterable(argument: string, items: unknown, example: string): void {
  if (items === undefined) throw new OptionError(argument, `is missing; expected an iterable such as ${example}`)
  if (typeof items === 'string' || items instanceof Uint8Array) {
    const what = typeof items === 'string' ? 'a single string' : 'a single Uint8Array'
    throw new OptionError(argument, `${what} was given; expected an iterable such as ${example}`)
  }
  const isIterable =
    typeof items === 'object' && items !== null && (Symbol.iterator in items || Symbol.asyncIterator in items)
  if (isIterable) return
  throw new OptionError(argument, `${describeValue(items)} is not an iterable; expected one such as ${example}`)
}

/** The range of a number. Infinity is valid only if it is `allowed`. */
interface Bounds {
  readonly min: number
  /** Default: no upper bound. */
  readonly max?: number
  readonly infinite?: 'allowed'
}

export function number(option: string, value: number, bounds: Bounds): number {
  const problem = problemOf(value, bounds)
  if (problem === undefined) return value
  throw new OptionError(option, `${describeValue(value)} ${problem}; expected a number${rangeOf(option, bounds)}`)
}

export function integer(option: string, value: number, bounds: Bounds): number {
  const problem = problemOf(value, bounds) ?? (Number.isInteger(value) ? undefined : 'is not a whole number')
  if (problem === undefined) return value
  throw new OptionError(option, `${describeValue(value)} ${problem}; expected a whole number${rangeOf(option, bounds)}`)
}

function problemOf(value: unknown, { min, max = Number.POSITIVE_INFINITY, infinite }: Bounds): string | undefined {
  if (typeof value !== 'number' || Number.isNaN(value)) return 'is not a number'
  const isInRange = value >= min && value <= max && (Number.isFinite(value) || infinite === 'allowed')
  return isInRange ? undefined : 'is out of range'
}

/** The units of options, by the suffix of their names. */
const UNITS: Readonly<Record<string, string>> = { Ms: 'milliseconds', Bytes: 'bytes', Days: 'days' }

/** Describes a range, such as ` of milliseconds from 0, such as 1000`. */
function rangeOf(option: string, { min, max, infinite }: Bounds): string {
  const unit = UNITS[/[A-Z][a-z]+$/.exec(option)?.[0] ?? '']
  const range = max === undefined ? `from ${min}` : `from ${min} to ${max}`
  const example = Math.min(Math.max(unit === 'milliseconds' ? 1000 : 1, min), max ?? Number.POSITIVE_INFINITY)
  return `${unit === undefined ? '' : ` of ${unit}`} ${range}${infinite === 'allowed' ? ', or Infinity' : ''}, such as ${example}`
}

export function oneOf<const T extends string>(option: string, value: T, words: readonly T[]): T {
  if (words.includes(value)) return value
  throw new OptionError(option, `${describeValue(value)} is not known; expected one of ${words.join(', ')}`)
}

/** Checks an optional function. @param expected What the option must be, for the error message. */
export function callable<T>(option: string, value: T, expected: string): T {
  if (value === undefined || typeof value === 'function') return value
  throw new OptionError(option, `${describeValue(value)} is not a function; expected ${expected}`)
}

/** Checks an optional object. @param methods The methods that it must have. @param expected What it must be, for the error message. */
export function withMethods<T extends object>(
  option: string,
  value: T | undefined,
  methods: readonly (keyof T & string)[],
  expected: string,
): T | undefined {
  if (value === undefined) return value
  const isObject = typeof value === 'object' && value !== null
  const missing = isObject ? methods.find((method) => typeof value[method] !== 'function') : undefined
  if (isObject && missing === undefined) return value
  const problem = isObject ? `has no method ${missing}` : `${describeValue(value)} is not an object`
  throw new OptionError(option, `${problem}; expected ${expected}`)
}

/** Describes an invalid value in an error message, also one that JSON cannot represent. */
export function describeValue(value: unknown): string {
  if (typeof value === 'string') return JSON.stringify(value)
  if (typeof value === 'function') return 'a function'
  return typeof value === 'object' && value !== null ? 'an object' : String(value)
}
