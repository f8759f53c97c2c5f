// What options are checked with, here and in the packages that stand on this one: a value that does is given back, for any other an error is
// thrown that names the option and says what to write instead.
import { OptionError } from '@politely/core'

/** Timers hold no more than 2^31 - 1 milliseconds. */
export const LONGEST_TIMER_MS: number = 2 ** 31 - 1

const CRAWLER = '{ userAgent: "ExampleBot/1.0 (+https://example.com/bot)" }'

/** @param example What to write, where nothing was given. @throws {OptionError} */
export function assertOptions(options: unknown, example: string = CRAWLER): void {
  if (typeof options === 'object' && options !== null) return
  throw new OptionError('options', `is missing; write ${example}`)
}

/** @throws {OptionError} for an option with a name that is not one of the `known`. */
export function assertKnown(options: object, known: Readonly<Record<string, true>>): void {
  for (const name of Object.keys(options)) {
    if (!Object.hasOwn(known, name))
      throw new OptionError(name, `there is no such option; known are ${Object.keys(known).join(', ')}`)
  }
}

/** What a number may be; infinite only where that is `allowed`. */
interface Bounds {
  readonly min: number
  readonly max?: number
  readonly infinite?: 'allowed'
}

export function number(option: string, value: number, bounds: Bounds): number {
  if (isWithin(value, bounds)) return value
  throw new OptionError(option, `${describeValue(value)} does not do; write a number ${inWords(bounds)}`)
}

export function integer(option: string, value: number, bounds: Bounds): number {
  if (isWithin(value, bounds) && Number.isInteger(value)) return value
  throw new OptionError(option, `${describeValue(value)} does not do; write a whole number ${inWords(bounds)}`)
}

function isWithin(value: unknown, { min: least, max: most = Number.POSITIVE_INFINITY, infinite }: Bounds): boolean {
  if (typeof value !== 'number' || (infinite !== 'allowed' && !Number.isFinite(value))) return false
  return value >= least && value <= most
}

function inWords({ min: least, max: most }: Bounds): string {
  return `of at least ${least}${most === undefined ? '' : ` and at most ${most}`}`
}

export function oneOf<const T extends string>(option: string, value: T, words: readonly T[]): T {
  if (words.includes(value)) return value
  throw new OptionError(option, `${describeValue(value)} is not known; write one of ${words.join(', ')}`)
}

/** @param wanted What it must be, in words. */
export function callable<T>(option: string, value: T, wanted: string): T {
  if (value === undefined || typeof value === 'function') return value
  throw new OptionError(option, `must be ${wanted}`)
}

/** The same for an object. @param methods Those that it must have. */
export function withMethods<T extends object>(
  option: string,
  value: T | undefined,
  methods: readonly (keyof T & string)[],
  wanted: string,
): T | undefined {
  const fits =
    value === undefined ||
    (typeof value === 'object' && value !== null && methods.every((method) => typeof value[method] === 'function'))
  if (fits) return value
  throw new OptionError(option, `must be ${wanted}`)
}

/** A wrong value as people can find it again; also one that JSON cannot hold. */
export function describeValue(value: unknown): string {
  if (typeof value === 'string') return JSON.stringify(value)
  return typeof value === 'object' && value !== null ? 'an object' : String(value)
}
