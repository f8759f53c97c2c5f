// The metrics of the server, in the format of Prometheus.
import type { Attributes } from '@opentelemetry/api'
import { PrometheusExporter, PrometheusSerializer } from '@opentelemetry/exporter-prometheus'
import { MeterProvider } from '@opentelemetry/sdk-metrics'
import { PolitelyInstrumentation } from '@politely/otel'
import { version } from './version.ts'

export type ServerMetrics = ReturnType<typeof serverMetrics>

/** What the gauges show. */
interface Gauges {
  /** How many permits are held. */
  readonly leases: number
  /** How many URLs wait. */
  readonly waiting: number
  readonly pacerOutageSeconds: number
  readonly storeOutageSeconds: number
}

export function serverMetrics(gauges: () => Gauges) {
  const exporter = new PrometheusExporter({ preventServerStart: true })
  const serializer = new PrometheusSerializer('', false)
  const provider = new MeterProvider({ readers: [exporter] })
  /** Counts what the client and the gate publish. */
  const instrumentation = new PolitelyInstrumentation({ spans: false })
  instrumentation.setMeterProvider(provider)
  const meter = provider.getMeter('@politely/server', version)
  const counter = (name: string, description: string) => meter.createCounter<Attributes>(name, { description })
  const permits = counter('politely.server.permits', 'Answers to requests for permits, by state')
  const reports = counter('politely.server.reports', 'Reports of clients, by the class of the status')
  const expires = counter('politely.server.expires', 'Permits whose lease was over before their client ended them')
  const gauge = (name: string, description: string, key: keyof Gauges) =>
    meter.createObservableGauge(name, { description }).addCallback((result) => result.observe(gauges()[key]))
  gauge('politely.server.leases', 'Permits that clients hold', 'leases')
  gauge('politely.server.waiting', 'URLs that wait for their turn', 'waiting')
  const outage = 'has failed, in seconds; 0 while it works'
  gauge('politely.server.pacer_outage_seconds', `How long the pacer ${outage}`, 'pacerOutageSeconds')
  gauge('politely.server.store_outage_seconds', `How long the store ${outage}`, 'storeOutageSeconds')
  expires.add(0) // so that Prometheus has a rate before the first of them
  return {
    answered: (state: string) => permits.add(1, { state }),
    expired: () => expires.add(1),
    reported: (status: number | undefined, outcome = 'none') =>
      reports.add(1, { status_class: status === undefined ? outcome : `${Math.floor(status / 100)}xx` }),
    text: async () => serializer.serialize((await exporter.collect()).resourceMetrics),
    close: async () => {
      instrumentation.disable()
      await provider.shutdown()
    },
  }
}
