// The metrics of the server, in the format of Prometheus.
import { createRequire } from 'node:module'
import { PrometheusExporter, PrometheusSerializer } from '@opentelemetry/exporter-prometheus'
import { MeterProvider } from '@opentelemetry/sdk-metrics'
import { PolitelyInstrumentation } from '@politely/otel'

const manifest = createRequire(import.meta.url)('@politely/server/package.json') as { readonly version: string }

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
  const meter = provider.getMeter('@politely/server', manifest.version)
  /** Counts by an attribute. A batch has 500 counts, so the meter is asked only when it exports. */
  const counter = (name: string, attribute: string, description: string) => {
    const counts = new Map<string, number>()
    meter.createObservableCounter(name, { description }).addCallback((result) => {
      for (const [value, count] of counts) result.observe(count, { [attribute]: value })
    })
    return (value: string) => void counts.set(value, (counts.get(value) ?? 0) + 1)
  }
  const expires = meter.createCounter('politely.server.expires', {
    description: 'Permits whose lease was over before their client ended them',
  })
  const gauge = (name: string, description: string, key: keyof Gauges) =>
    meter.createObservableGauge(name, { description }).addCallback((result) => result.observe(gauges()[key]))
  gauge('politely.server.leases', 'Permits that clients hold', 'leases')
  gauge('politely.server.waiting', 'URLs that wait for their turn', 'waiting')
  const outage = 'has failed, in seconds; 0 while it works'
  gauge('politely.server.pacer_outage_seconds', `How long the pacer ${outage}`, 'pacerOutageSeconds')
  gauge('politely.server.store_outage_seconds', `How long the store ${outage}`, 'storeOutageSeconds')
  const report = counter('politely.server.reports', 'status_class', 'Reports of clients, by the class of the status')
  const reported = (status: number | undefined, outcome = 'none') =>
    report(status === undefined ? outcome : `${Math.floor(status / 100)}xx`)
  expires.add(0) // so that Prometheus has a rate before the first of them
  return {
    answered: counter('politely.server.permits', 'state', 'Answers to requests for permits, by state'),
    expired: () => expires.add(1),
    reported,
    text: async () => serializer.serialize((await exporter.collect()).resourceMetrics),
    close: async () => {
      instrumentation.disable()
      await provider.shutdown()
    },
  }
}
