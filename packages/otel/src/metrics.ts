// The instruments. Names and descriptions of counters and gauges come from the tables of fetcher and
// gate, so a new counter there is a new instrument here.
import type { Attributes, BatchObservableCallback, Histogram, Meter, Observable } from '@opentelemetry/api'
import { type Counters, counterMeanings, type FetchTrace, type Gauges, gaugeMeanings } from '@politely/fetcher'
import {
  type GateCounters,
  type GateGauges,
  gateCounterMeanings,
  gateGaugeMeanings,
  type StartMessage,
} from '@politely/gate'
import { ATTRIBUTES } from './attributes.ts'
import type { Totals } from './totals.ts'

/** The histogram of waits says the same. */
const IN_HISTOGRAM = new Set<keyof GateCounters>(['waits', 'waitedMs', 'waitHistogram'])

/** Each reason is a time series, from its first count on. All other counters start at 0. */
const BY_REASON = new Set<string>(['refusals'] satisfies (keyof GateCounters)[])

/** Bounds of the buckets, in seconds. */
const WAIT_BUCKETS = [0.1, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 600, 1_800, 3_600]
const FETCH_BUCKETS = [0.01, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300]

/** One observable instrument: its part of the tables, and how the values of several sources add up. */
interface Instrument {
  readonly observable: Observable
  readonly key: string
  readonly scale: number
  readonly isOldest: boolean
}

/** The instruments of one meter. */
export class Metrics {
  readonly #meter: Meter
  readonly #waits: Histogram
  readonly #fetches: Histogram
  readonly #origins: OriginLabels | undefined
  readonly #observables: Observable[] = []
  readonly #observe: BatchObservableCallback

  /**
   * Creates the instruments. They observe the totals until `stop`.
   * @param maxOrigins How many origins get a label in the histograms. Undefined for no label.
   */
  constructor(
    meter: Meter,
    clients: Totals<Counters, Gauges>,
    gates: Totals<GateCounters, GateGauges>,
    maxOrigins: number | undefined,
  ) {
    this.#meter = meter
    this.#origins = maxOrigins === undefined ? undefined : new OriginLabels(maxOrigins)
    this.#waits = meter.createHistogram('politely.gate.wait.duration', {
      description: 'How long requests waited before they started, by what they waited for last.',
      unit: 's',
      advice: { explicitBucketBoundaries: WAIT_BUCKETS },
    })
    this.#fetches = meter.createHistogram('politely.robots.fetch.duration', {
      description: 'How long attempts to fetch a robots.txt took, with their redirects and retries.',
      unit: 's',
      advice: { explicitBucketBoundaries: FETCH_BUCKETS },
    })
    const sources = [
      {
        totals: clients as Totals<object, object>,
        counters: this.#counters('politely.client', counterMeanings),
        gauges: this.#gauges('politely.client', gaugeMeanings),
      },
      {
        totals: gates as Totals<object, object>,
        counters: this.#counters('politely.gate', gateCounterMeanings),
        gauges: this.#gauges('politely.gate', gateGaugeMeanings),
      },
    ]
    this.#observe = (result) => {
      for (const { totals, counters, gauges } of sources) {
        const counts = totals.counters() as Readonly<Record<string, unknown>> | undefined
        for (const { observable, key } of counters) {
          const value = counts?.[key] ?? (BY_REASON.has(key) ? {} : 0)
          if (typeof value === 'number') result.observe(observable, value)
          else
            for (const [because, count] of Object.entries(value))
              result.observe(observable, count, { [ATTRIBUTES.because]: because })
        }
        const sizes = totals.gauges() as readonly Readonly<Record<string, number>>[]
        for (const { observable, key, scale, isOldest } of gauges) {
          const values = sizes.map((size) => (size[key] ?? 0) * scale)
          result.observe(observable, isOldest ? Math.max(0, ...values) : values.reduce((sum, value) => sum + value, 0))
        }
      }
    }
    meter.addBatchObservableCallback(this.#observe, this.#observables)
  }

  stop(): void {
    this.#meter.removeBatchObservableCallback(this.#observe, this.#observables)
  }

  started({ waitedMs, waitedFor, origin }: StartMessage): void {
    this.#waits.record(waitedMs / 1_000, { [ATTRIBUTES.because]: waitedFor, ...this.#origins?.of(origin) })
  }

  /** An attempt without a result was aborted, and says nothing about the site. */
  fetched({ origin, result }: FetchTrace): void {
    if (result === undefined) return
    const outcome = result.entry.latest.kind
    this.#fetches.record(result.tookMs / 1_000, { [ATTRIBUTES.outcome]: outcome, ...this.#origins?.of(origin) })
  }

  #counters(prefix: string, meanings: Readonly<Record<string, string>>): readonly Instrument[] {
    return Object.entries(meanings).flatMap(([key, description]) => {
      if (prefix === 'politely.gate' && IN_HISTOGRAM.has(key as keyof GateCounters)) return []
      const unit = key === 'bytes' ? 'By' : ''
      const observable = this.#meter.createObservableCounter(`${prefix}.${snakeCase(key)}`, { description, unit })
      this.#observables.push(observable)
      return [{ observable, key, scale: 1, isOldest: false }]
    })
  }

  /** Units move from the name to the unit, and milliseconds become seconds. */
  #gauges(prefix: string, meanings: Readonly<Record<string, string>>): readonly Instrument[] {
    return Object.entries(meanings).map(([key, meaning]) => {
      const name = `${prefix}.${snakeCase(key.replace(/Ms$|Bytes$/, ''))}`
      const isOldest = key.endsWith('Ms')
      const observable = isOldest
        ? this.#meter.createObservableGauge(name, {
            description: meaning.replace('milliseconds', 'seconds'),
            unit: 's',
          })
        : this.#meter.createObservableUpDownCounter(name, {
            description: meaning,
            unit: key.endsWith('Bytes') ? 'By' : '',
          })
      this.#observables.push(observable)
      return { observable, key, scale: isOldest ? 0.001 : 1, isOldest }
    })
  }
}

function snakeCase(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)
}

/** The labels of origins. The first origins have their own label, and all others share one. */
class OriginLabels {
  readonly #max: number
  readonly #origins = new Set<string>()

  constructor(max: number) {
    this.#max = max
  }

  /** Returns the label of an origin: itself, or `other`. */
  of(origin: string): Attributes {
    if (this.#origins.size < this.#max) this.#origins.add(origin)
    return { [ATTRIBUTES.origin]: this.#origins.has(origin) ? origin : 'other' }
  }
}
