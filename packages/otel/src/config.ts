// The options of a `PolitelyInstrumentation`.
import { OptionError } from '@politely/core'
import { assertOptions, describeValue, integer } from '@politely/fetcher/internal'

/** The options of a `PolitelyInstrumentation`. */
export interface PolitelyInstrumentationConfig {
  /** Whether the constructor calls `enable`. Default true. */
  readonly enabled?: boolean | undefined
  /**
   * Whether to make spans. Default true. Without spans, the metrics are complete, and checks of URLs
   * in memory stay as fast as they are without this package.
   */
  readonly spans?: boolean | undefined
  /** Whether spans have the attribute `url.full`, without credentials. Default false. */
  readonly urlFull?: boolean | undefined
  /** Whether spans have the attributes `server.address` and `server.port`. Default false. */
  readonly serverAddress?: boolean | undefined
  /** Labels the two histograms by origin (`politely.origin`). Default: no label. */
  readonly origins?: OriginLabelOptions | undefined
}

/** The option `origins`. */
export interface OriginLabelOptions {
  /** How many origins get a label: the first that appear. All others are `other`. */
  readonly max: number
}

/** The options with their defaults. */
export interface TelemetrySettings extends PolitelyInstrumentationConfig {
  readonly enabled: boolean
  readonly spans: boolean
  readonly urlFull: boolean
  readonly serverAddress: boolean
}

const OPTIONS: Readonly<Record<keyof PolitelyInstrumentationConfig, true>> = {
  enabled: true,
  spans: true,
  urlFull: true,
  serverAddress: true,
  origins: true,
}

/** A limit for mistakes. Each label is a time series for each bucket of both histograms. */
const MAX_ORIGINS = 10_000

/**
 * Checks options, and fills in the defaults.
 * @throws {OptionError} for an invalid or unknown option.
 */
export function telemetrySettingsOf(config: PolitelyInstrumentationConfig = {}): TelemetrySettings {
  assertOptions(config, '{ serverAddress: true }', OPTIONS)
  const { origins } = config
  if (origins !== undefined) {
    assertOptions(origins, '{ max: 100 }', { max: true })
    integer('origins.max', origins.max, { min: 1, max: MAX_ORIGINS, example: 100 })
  }
  return {
    enabled: flag('enabled', config.enabled, true),
    spans: flag('spans', config.spans, true),
    urlFull: flag('urlFull', config.urlFull, false),
    serverAddress: flag('serverAddress', config.serverAddress, false),
    origins: origins && { max: origins.max },
  }
}

function flag(name: keyof PolitelyInstrumentationConfig, value: boolean | undefined, byDefault: boolean): boolean {
  if (value === undefined || typeof value === 'boolean') return value ?? byDefault
  throw new OptionError(name, `${describeValue(value)} is not a boolean; expected true or false`)
}
