// PolitelyInstrumentation: subscribes to the channels of clients and gates, and makes spans and
// metrics of their messages.
import { type ChannelListener, subscribe, unsubscribe } from 'node:diagnostics_channel'
import { createRequire } from 'node:module'
import { type MeterProvider, metrics, type TracerProvider, trace } from '@opentelemetry/api'
import type { CheckTrace, Counters, FetchTrace, Gauges } from '@politely/fetcher'
import type { GateCounters, GateGauges, GateMessages } from '@politely/gate'
import { type PolitelyInstrumentationConfig, type TelemetrySettings, telemetrySettingsOf } from './config.ts'
import { Metrics } from './metrics.ts'
import { Spans } from './spans.ts'
import { Totals } from './totals.ts'

const NAME = '@politely/otel'

/** The channels, and the type of their messages. */
interface Messages extends GateMessages {
  'tracing:politely:check:start': CheckTrace
  'tracing:politely:check:asyncEnd': CheckTrace
  'tracing:politely:fetch:start': FetchTrace
  'tracing:politely:fetch:asyncEnd': FetchTrace
}

/**
 * Makes OpenTelemetry spans and metrics of what the clients and gates of this process do. It has the
 * methods of OpenTelemetry's `Instrumentation`, so `registerInstrumentations` and `NodeSDK` take it.
 * Without them, call `setMeterProvider` and `setTracerProvider`, or set the global providers first.
 *
 * @example
 * ```ts
 * import { PrometheusExporter } from '@opentelemetry/exporter-prometheus'
 * import { MeterProvider } from '@opentelemetry/sdk-metrics'
 * import { PolitelyInstrumentation } from '@politely/otel'
 *
 * const exporter = new PrometheusExporter({ port: 9464 })
 * new PolitelyInstrumentation().setMeterProvider(new MeterProvider({ readers: [exporter] }))
 * ```
 */
export class PolitelyInstrumentation {
  readonly instrumentationName: string = NAME
  readonly instrumentationVersion: string = version()
  #settings: TelemetrySettings
  #tracerProvider: TracerProvider = trace.getTracerProvider()
  #meterProvider: MeterProvider = metrics.getMeterProvider()
  readonly #clients = new Totals<Counters, Gauges>()
  readonly #gates = new Totals<GateCounters, GateGauges>()
  /** Ends what `enable` has started. Undefined while disabled. */
  #stop: (() => void) | undefined

  /** @throws {OptionError} for an invalid or unknown option. */
  constructor(config?: PolitelyInstrumentationConfig) {
    this.#settings = telemetrySettingsOf(config)
    if (this.#settings.enabled) this.enable()
  }

  /** Subscribes to the channels, and creates the instruments. Does nothing if that is done already. */
  enable(): void {
    this.#stop ??= this.#start()
  }

  /** Ends the subscriptions, and removes the callbacks of the instruments. */
  disable(): void {
    this.#stop?.()
    this.#stop = undefined
  }

  /** Makes the spans with this provider from now on. Default: the global provider. */
  setTracerProvider(provider: TracerProvider): void {
    this.#tracerProvider = provider
    this.#restart()
  }

  /** Creates the instruments with this provider. Default: the global provider. */
  setMeterProvider(provider: MeterProvider): void {
    this.#meterProvider = provider
    this.#restart()
  }

  /**
   * Replaces the options. `enabled` changes nothing here: call `enable` or `disable`.
   * @throws {OptionError} for an invalid or unknown option.
   */
  setConfig(config: PolitelyInstrumentationConfig): void {
    this.#settings = telemetrySettingsOf(config)
    this.#restart()
  }

  /** Returns the options, with their defaults. */
  getConfig(): PolitelyInstrumentationConfig & { readonly enabled: boolean } {
    return this.#settings
  }

  #restart(): void {
    if (this.#stop === undefined) return
    this.disable()
    this.enable()
  }

  #start(): () => void {
    const { instrumentationName: name, instrumentationVersion: version } = this
    const { spans: hasSpans, origins } = this.#settings
    const meter = this.#meterProvider.getMeter(name, version)
    const instruments = new Metrics(meter, this.#clients, this.#gates, origins?.max)
    const spans = hasSpans ? new Spans(this.#tracerProvider.getTracer(name, version), this.#settings) : undefined
    const stops: (() => void)[] = [() => instruments.stop()]

    const listen = <N extends keyof Messages>(channel: N, hear: (message: Messages[N]) => void): void => {
      subscribe(channel, hear as ChannelListener)
      stops.push(() => void unsubscribe(channel, hear as ChannelListener))
    }
    const listenToGates = <N extends keyof GateMessages>(channel: N, hear?: (message: Messages[N]) => void): void => {
      listen(channel, (message) => {
        this.#gates.add(message.gate, message.counters)
        hear?.(message)
      })
    }

    if (spans !== undefined) {
      // Without a subscriber, a client answers most checks without a verdict object or a promise.
      listen('tracing:politely:check:start', (message) => {
        this.#clients.add(message.client, message.counters)
        spans.checkStarted(message)
      })
      listen('tracing:politely:check:asyncEnd', (message) => spans.checkEnded(message))
      listenToGates('politely:gate:wait', (message) => spans.waited(message))
    }
    listen('tracing:politely:fetch:start', (message) => {
      this.#clients.add(message.client, message.counters)
      spans?.fetchStarted(message)
    })
    listen('tracing:politely:fetch:asyncEnd', (message) => {
      instruments.fetched(message)
      spans?.fetchEnded(message)
    })
    listenToGates('politely:gate:start', (message) => instruments.started(message))
    listenToGates('politely:gate:refuse')
    listenToGates('politely:gate:abandon')
    return () => {
      for (const stop of stops) stop()
    }
  }
}

/** Returns `unknown` if this code was bundled without its package.json. */
function version(): string {
  try {
    return (createRequire(import.meta.url)('@politely/otel/package.json') as { readonly version: string }).version
  } catch {
    return 'unknown'
  }
}
