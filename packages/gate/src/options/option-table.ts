// The table of the options for pace and concurrency. A row says what an option is, except in prose.
//
// To add an option, write it with its docstring into `PacingOptions`. Then this file does not compile
// until the table has its row. A row answers four questions: what the default is, what is valid,
// whether one site may have its own value, and which values need the long way of a request. The end
// of its name is its unit: `Ms`, or none for a number of requests.
//
// The rest comes from the rows: the names of all options, the options that `pace` may return, the
// checks, the defaults, and which requests may start in one step.
import {
  callable,
  integer,
  MAX_TIMEOUT_MS,
  number,
  oneOf,
  registerPacingOptions,
  withMethods,
} from '@politely/fetcher/internal'
import { LocalPacer } from '../pace/local-pacer.ts'
import type { Pacer } from '../pace/pacer.ts'
import type { Backoff, ObeyOptions, PacingOptions, SitePacingOptions } from '../pace/pacing-options.ts'
import type { PaceLevel } from '../pace/wait-cause.ts'
import { backoffOf, DEFAULT_BACKOFF } from './backoff.ts'
import { checkedCircuit, DEFAULT_CIRCUIT, type SiteCircuit } from './circuit.ts'
import { type Check, type Checks, checkedFields, flag } from './fields.ts'

/** The types of checked options that differ from what the caller writes. */
interface OtherTypes {
  readonly maxDelayMs: number | undefined
  readonly progressMs: number | undefined
  readonly backoff: Backoff
  /** Undefined without a circuit. */
  readonly circuit: SiteCircuit | undefined
  readonly budget: PacingOptions['budget']
  readonly obey: { readonly [Field in keyof ObeyOptions]-?: boolean }
  readonly pace: PacingOptions['pace']
  readonly paceBy: PaceLevel | ((url: string) => string)
  readonly pacer: Pacer | undefined
}

type Name = keyof PacingOptions
type Written<K extends Name> = NonNullable<PacingOptions[K]>

/** The checked options, with defaults applied. `Infinity` means never, or that there's no limit. */
export type CheckedPacing = {
  readonly [K in Name]: K extends keyof OtherTypes ? OtherTypes[K] : Written<K>
}

interface Row<Given, Checked, PerSite extends boolean> {
  readonly default: Checked
  readonly check: Check<Given, Checked>
  /**
   * Whether a value makes each request take the long way, through the line of its lane. The short way
   * (`Lane.#startNow`) asks the circuit, the delay of the pace key, and the concurrency limits of
   * the key, the site and the gate. A value that asks for more needs the long way.
   */
  readonly needsLongWay: (value: Checked) => boolean
  /** Returns the default that fits other options of the caller. */
  readonly adapt: ((given: PacingOptions) => Checked) | undefined
  /** Whether `pace` may return another value for a site. */
  readonly perSite: PerSite
}

type RowMaker<PerSite extends boolean> = <Given, Checked>(
  byDefault: Checked,
  check: Check<Given, Checked>,
  needsLongWay: (value: Checked) => boolean,
  adapt?: (given: PacingOptions) => Checked,
) => Row<Given, Checked, PerSite>

const ofSite: RowMaker<true> = (byDefault, check, needsLongWay, adapt) => ({
  default: byDefault,
  check,
  needsLongWay,
  adapt,
  perSite: true,
})
const ofGate: RowMaker<false> = (...columns) => ({ ...ofSite(...columns), perSite: false })

const NO_LIMIT = Number.POSITIVE_INFINITY
const PACE_EXAMPLE =
  "a function such as (origin) => (origin === 'https://example.com' ? { minDelayMs: 5_000 } : undefined)"
/** The methods that every pacer has. */
const PACER_METHODS: { readonly [M in keyof Pacer as undefined extends Pacer[M] ? never : M]: true } = {
  reserve: true,
  cancel: true,
  report: true,
  end: true,
  estimate: true,
}
const OBEY_CHECKS: Checks<ObeyOptions, CheckedPacing['obey']> = { rules: flag, delays: flag }

type Bounds = Parameters<typeof number>[2]
const aNumber = (bounds: Bounds) => (option: string, value: number) => number(option, value, bounds)
const aWhole = (min: number, example: number) => (option: string, value: number) =>
  integer(option, value, { min, example })
const orInfinity = (min: number, example: number) => aNumber({ min, infinite: 'allowed', example })
const never = () => false
const ifAny = (value: number) => value > 0

export const OPTION_TABLE: {
  readonly [K in Name]: Row<Written<K>, CheckedPacing[K], K extends keyof SitePacingOptions ? true : false>
} = {
  // default, check, needs the long way
  minDelayMs: ofSite(1_000, aNumber({ min: 0 }), never),
  maxDelayMs: ofSite(undefined, capOf, never),
  delayFactor: ofSite(0, aNumber({ min: 0, max: 100, example: 5 }), never),
  jitter: ofSite(0, aNumber({ min: 0, max: 1, example: 0.5 }), ifAny),
  pauseFrom: ofGate('start', (option, value) => oneOf(option, value, ['start', 'end']), never),
  minDelayPerDomainMs: ofGate(0, aNumber({ min: 0 }), ifAny),
  minDelayPerAddressMs: ofGate(0, aNumber({ min: 0 }), ifAny),
  maxConcurrentPerKey: ofSite(2, aWhole(1, 2), never, ({ pauseFrom }) => (pauseFrom === 'end' ? 1 : 2)),
  maxConcurrentPerDomain: ofGate(8, aWhole(1, 8), never, ({ maxConcurrentPerKey = 0 }) =>
    Math.max(8, maxConcurrentPerKey),
  ),
  maxConcurrentPerAddress: ofGate(NO_LIMIT, aWhole(1, 8), (limit) => limit < NO_LIMIT),
  maxConcurrent: ofGate(64, aWhole(1, 64), never),
  slowAfterMs: ofGate(10_000, orInfinity(1, 10_000), never),
  maxWaitMs: ofGate(NO_LIMIT, orInfinity(0, 10_000), never),
  maxQueuedPerKey: ofGate(NO_LIMIT, aWhole(1, 100), never),
  releaseWarningMs: ofGate(300_000, orInfinity(1, 300_000), never),
  progressMs: ofGate(undefined, aNumber({ min: 1, max: MAX_TIMEOUT_MS, example: 60_000 }), never),
  backoff: ofGate(DEFAULT_BACKOFF, backoffOf, never),
  circuit: ofSite(DEFAULT_CIRCUIT, checkedCircuit, never),
  rateLimitHeaders: ofGate(false, flag, never),
  countRobots: ofGate(false, flag, never),
  budget: ofGate(undefined, budgetOf, (budget) => budget !== undefined),
  obey: ofSite({ rules: true, delays: true }, obedienceOf, never),
  pace: ofGate(undefined, (option, value) => callable(option, value, PACE_EXAMPLE), never),
  paceBy: ofGate('origin', paceByOf, never),
  pacer: ofGate(undefined, pacerOf, (pacer) => pacer !== undefined && !(pacer instanceof LocalPacer)),
}

const NAMES = Object.keys(OPTION_TABLE) as readonly Name[]
registerPacingOptions(NAMES)

/** The names of the options of pace. */
export const PACING_OPTIONS = columnOf(NAMES, () => true) as Readonly<Record<Name, true>>
export const CHECKS = columnOf(NAMES, ({ check }) => check) as Checks<PacingOptions, CheckedPacing>
/** The checks of the options that `pace` may return. */
export const SITE_CHECKS = columnOf(
  NAMES.filter((name) => OPTION_TABLE[name].perSite),
  ({ check }) => check,
) as Checks<SitePacingOptions, CheckedPacing>

/** Returns the values of the options that the caller does not write. */
export function defaultsFor(given: PacingOptions): CheckedPacing {
  return columnOf(NAMES, (row) => row.adapt?.(given) ?? row.default) as CheckedPacing
}

/** Whether one of the options makes each request take the long way. */
export function needsLongWay(options: CheckedPacing): boolean {
  const isLong = <K extends Name>(name: K) => OPTION_TABLE[name].needsLongWay(options[name])
  return NAMES.some(isLong)
}

function columnOf(names: readonly Name[], read: (row: (typeof OPTION_TABLE)[Name]) => unknown): object {
  return Object.fromEntries(names.map((name) => [name, read(OPTION_TABLE[name])]))
}

function capOf(option: string, value: number): number | undefined {
  return value === NO_LIMIT ? undefined : number(option, value, { min: 0 })
}

function budgetOf(option: string, value: Written<'budget'>): CheckedPacing['budget'] {
  return typeof value === 'function' ? value : integer(option, value, { min: 0, example: 1_000 })
}

function paceByOf(option: string, value: Written<'paceBy'>): CheckedPacing['paceBy'] {
  return typeof value === 'function' ? value : oneOf(option, value, ['origin', 'host', 'domain', 'address'])
}

function pacerOf(option: string, value: Pacer): Pacer | undefined {
  const methods = Object.keys(PACER_METHODS) as (keyof Pacer)[]
  return withMethods(option, value, methods, `a Pacer, with the methods ${methods.join(', ')}`)
}

function obedienceOf(option: string, value: ObeyOptions, base: CheckedPacing['obey']): CheckedPacing['obey'] {
  return checkedFields(option, value, '{ rules: false }', OBEY_CHECKS, base)
}
