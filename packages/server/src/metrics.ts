// The metrics of the server, in the format of Prometheus.
import type { Attributes } from '@opentelemetry/api'
import { PrometheusExporter, PrometheusSerializer } from '@opentelemetry/exporter-prometheus'
import { MeterProvider } from '@opentelemetry/sdk-metrics'
import { PolitelyInstrumentation } from '@politely/otel'
import { version } from './version.ts'

interface Gauges {
  /** How many permits are held. */
  readonly open: () => number
  /** How many URLs wait. */
  readonly waiting: () => number
}

export class ServerMetrics {
  readonly #exporter = new PrometheusExporter({ preventServerStart: true })
  readonly #serializer = new PrometheusSerializer('', false)
  readonly provider: MeterProvider = new MeterProvider({ readers: [this.#exporter] })
  /** Counts what the client and the gate publish. */
  readonly #instrumentation = new PolitelyInstrumentation({ spans: false })
  readonly #permits
  readonly #reports
  readonly #expires

  constructor({ open, waiting }: Gauges) {
    this.#instrumentation.setMeterProvider(this.provider)
    const meter = this.provider.getMeter('@politely/server', version)
    const counter = (name: string, description: string) => meter.createCounter<Attributes>(name, { description })
    this.#permits = counter('politely.server.permits', 'Answers to requests for permits, by state')
    this.#reports = counter('politely.server.reports', 'Reports of clients, by the class of the status')
    this.#expires = counter('politely.server.expires', 'Permits whose lease was over before their client ended them')
    const gauge = (name: string, description: string, value: () => number) =>
      meter.createObservableGauge(name, { description }).addCallback((result) => result.observe(value()))
    gauge('politely.server.leases', 'Permits that clients hold', open)
    gauge('politely.server.waiting', 'URLs that wait for their turn', waiting)
    this.#expires.add(0) // so that Prometheus has a rate before the first of them
  }

  answered(state: string): void {
    this.#permits.add(1, { state })
  }

  expired(): void {
    this.#expires.add(1)
  }

  reported(status: number | undefined, outcome: string | undefined): void {
    this.#reports.add(1, { status_class: status === undefined ? (outcome ?? 'none') : `${Math.floor(status / 100)}xx` })
  }

  async text(): Promise<string> {
    const { resourceMetrics } = await this.#exporter.collect()
    return this.#serializer.serialize(resourceMetrics)
  }

  async close(): Promise<void> {
    this.#instrumentation.disable()
    await this.provider.shutdown()
  }
}
