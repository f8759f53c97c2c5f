// Checks options, for this package and for packages that depend on it. Each check returns a valid
// value unchanged. For an invalid value it throws an `OptionError` that names the option, says what
// is wrong with the value, and what was expected.
import { OptionError } from '@politely/core'
import { describeValue, urlText } from '@politely/core/engine'
import { assertKnownNames } from '@politely/core/internal'
import { relatedHint, synonymHint } from './option-synonyms.ts'

export { describeValue, urlText }

const CLIENT_EXAMPLE = '{ userAgent: "ExampleBot/1.0 (+https://example.com/bot)" }'

/**
 * @param example Options to show in the error message.
 * @param known The names of all options, to check them too. See `assertKnown`.
 * @throws {OptionError} if `options` is not an object, has an option that is not known, or is the
 * value of an option, such as a client of Redis.
 */
export function assertOptions(
  options: unknown,
  example: string = CLIENT_EXAMPLE,
  known?: Readonly<Record<string, true>>,
  elsewhere?: Readonly<Record<string, string>>,
): void {
  if (typeof options !== 'object' || options === null) {
    const problem = options === undefined ? 'is missing' : `${describeValue(options)} is not an object`
    throw new OptionError('options', `${problem}; expected an object such as ${example}`)
  }
  if (known === undefined) return
  if (isOfOtherClass(options, known)) {
    const remedy = example.includes(', or ') ? example : `{ ${/\w+/.exec(example)} }`
    throw new OptionError('options', `an object of another class was given instead of options; write ${remedy}`)
  }
  assertKnown(options, known, elsewhere)
}

/** Whether an object is the instance of a class, and has no option: the value of an option, such as a client. */
function isOfOtherClass(options: object, known: Readonly<Record<string, true>>): boolean {
  if ((Object.getPrototypeOf(options) ?? Object.prototype) === Object.prototype || Array.isArray(options)) return false
  // The class of a client may have methods with the names of options. A class of options may have getters.
  const isEmpty = Object.keys(options).length === 0
  return !Object.keys(known).some((name) => (isEmpty ? name in options : Object.hasOwn(options, name)))
}

/**
 * Checks the names of options.
 * @param elsewhere Names of options of another object, each with the end of its error message:
 * `is an option of …; write it in …`.
 * @throws {OptionError} for a name that is not in `known`. If it looks like a misspelling, or is
 * the word of another project, the message has the right one.
 */
export function assertKnown(
  options: object,
  known: Readonly<Record<string, true>>,
  elsewhere: Readonly<Record<string, string>> = {},
): void {
  for (const [name, value] of Object.entries(options)) {
    if (Object.hasOwn(known, name)) continue
    if (Object.hasOwn(elsewhere, name)) throw new OptionError(name, elsewhere[name] as string)
    const hint = synonymHint(name, value, { known, elsewhere })
    if (hint !== undefined) throw new OptionError(name, `is an unknown option; ${hint}`)
  }
  const values = options as Readonly<Record<string, unknown>>
  assertKnownNames(options, known, (name) => relatedHint(name, values[name], { known, elsewhere }))
}

/**
 * Checks the last argument of a method: its type, the names of the options, and `signal`.
 * @throws {OptionError} for an invalid or unknown option.
 */
export function assertCallOptions(options: unknown, known: Readonly<Record<string, true>>): void {
  const isSignal = typeof (options as Partial<AbortSignal> | null | undefined)?.aborted === 'boolean'
  if (isSignal) throw new OptionError('options', 'an AbortSignal is not an object of options; write { signal }')
  if (typeof options === 'string')
    throw new OptionError(
      'options',
      `${describeValue(options)} is ${/^https?:/i.test(options) ? 'a URL, which comes first' : 'not an object'}; the name of the crawler is the userAgent of new RobotsClient({ userAgent })`,
    )
  assertOptions(options, '{ signal }', known)
  abortSignal((options as { readonly signal?: AbortSignal | undefined }).signal)
}

/** Checks the option `signal`. */
export function abortSignal(signal: AbortSignal | undefined): AbortSignal | undefined {
  if (signal instanceof AbortController) {
    throw new OptionError('signal', 'an AbortController is not an AbortSignal; write controller.signal')
  }
  const checked = withMethods('signal', signal, ['addEventListener'], 'an AbortSignal')
  if (checked === undefined || typeof checked.aborted === 'boolean') return checked
  throw new OptionError('signal', `${describeValue(signal)} is not an AbortSignal; write controller.signal`)
}

export const NO_URLS: readonly string[] = []

/** Checks the option `redirectedFrom`, and copies it. */
export function redirectChain(urls: readonly string[] = NO_URLS): readonly string[] {
  if (urls === NO_URLS) return NO_URLS // most requests
  const expected = 'expected URLs such as ["https://example.com/old"]'
  if (!Array.isArray(urls)) throw new OptionError('redirectedFrom', `${describeValue(urls)} is not a list; ${expected}`)
  const wrong = urls.findIndex((url: unknown) => typeof url !== 'string' || !URL.canParse(url))
  if (wrong === -1) return [...urls]
  throw new OptionError(`redirectedFrom[${wrong}]`, `${describeValue(urls[wrong])} is not an absolute URL; ${expected}`)
}

/**
 * @param example What to write instead of a single item. @throws {OptionError} if `items` is not an
 * iterable, or is a single text.
 */
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
  /**
   * A valid value to show in the error message. Default: 1000 for milliseconds, otherwise 1, or the
   * bound that is nearest to it.
   */
  readonly example?: number
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
function rangeOf(option: string, { min, max, infinite, ...given }: Bounds): string {
  const unit = UNITS[/[A-Z][a-z]+$/.exec(option)?.[0] ?? '']
  const range = max === undefined ? `from ${min}` : `from ${min} to ${max}`
  const usual = unit === 'milliseconds' ? 1000 : 1
  const { example = Math.min(Math.max(usual, min), max ?? Number.POSITIVE_INFINITY) } = given
  return `${unit === undefined ? '' : ` of ${unit}`} ${range}${infinite === 'allowed' ? ', or Infinity' : ''}, such as ${example}`
}

/** @param words All values of its type: a list that lacks one is a type error. */
export function oneOf<const T extends string, const W extends T>(
  option: string,
  value: T,
  words: readonly W[] & ([T] extends [W] ? unknown : never),
): T {
  if ((words as readonly string[]).includes(value)) return value
  throw new OptionError(option, `${describeValue(value)} is not known; expected one of ${words.join(', ')}`)
}

/** Checks an optional function. @param expected What the option must be, for the error message. */
export function callable<T>(option: string, value: T, expected: string): T {
  if (value === undefined || typeof value === 'function') return value
  throw new OptionError(option, `${describeValue(value)} is not a function; expected ${expected}`)
}

/**
 * Checks an optional object. @param methods The methods that it must have. @param expected What it
 * must be, for the error message.
 */
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
