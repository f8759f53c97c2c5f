// A site on loopback, and a PolitelyInstrumentation whose spans and metrics tests read.
import { once } from 'node:events'
import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { context } from '@opentelemetry/api'
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks'
import { PrometheusExporter } from '@opentelemetry/exporter-prometheus'
import { MeterProvider } from '@opentelemetry/sdk-metrics'
import { InMemorySpanExporter, type ReadableSpan, SimpleSpanProcessor, TracerProvider } from '@opentelemetry/sdk-trace'
import { onTestFinished } from 'vitest'
import { PolitelyInstrumentation, type PolitelyInstrumentationConfig } from '../src/index.ts'

/** Starts a server on loopback until the test ends, and returns its origin. */
export async function serve(listener: RequestListener): Promise<string> {
  const server = createServer(listener).listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

/** Starts a site with this robots.txt; a number is its status. Pages are answered with 200, or 429 for /busy. */
export async function startSite(robots: string | number = 'User-agent: *\nDisallow: /private\n'): Promise<string> {
  return serve((request, response) => {
    if (request.url !== '/robots.txt') response.writeHead(request.url === '/busy' ? 429 : 200).end('a page')
    else if (typeof robots === 'number') response.writeHead(robots).end()
    else response.end(robots)
  })
}

/** What one instrumentation has reported. */
export interface Observed {
  readonly instrumentation: PolitelyInstrumentation
  readonly tracerProvider: TracerProvider
  readonly meterProvider: MeterProvider
  readonly exporter: PrometheusExporter
  readonly spans: () => ReadableSpan[]
  /** The values of the metrics by name and labels, such as `politely_gate_refusals_total{politely_because="rule"}`. */
  readonly metrics: () => Promise<Readonly<Record<string, number>>>
}

export function observe(config: PolitelyInstrumentationConfig = {}): Observed {
  const contextManager = new AsyncLocalStorageContextManager().enable()
  context.setGlobalContextManager(contextManager)
  const memory = new InMemorySpanExporter()
  const tracerProvider = new TracerProvider({ spanProcessors: [new SimpleSpanProcessor({ exporter: memory })] })
  const exporter = new PrometheusExporter({ preventServerStart: true, withoutScopeInfo: true, withoutTargetInfo: true })
  const instrumentation = new PolitelyInstrumentation(config)
  instrumentation.setTracerProvider(tracerProvider)
  const meterProvider = new MeterProvider({ readers: [exporter] })
  instrumentation.setMeterProvider(meterProvider)
  onTestFinished(() => {
    instrumentation.disable()
    context.disable()
  })
  const metrics = async () => {
    const origin = await serve((request, response) => exporter.getMetricsRequestHandler(request, response))
    const text = await (await fetch(origin)).text()
    const samples = text.split('\n').filter((line) => line !== '' && !line.startsWith('#'))
    return Object.fromEntries(
      samples.map((line) => [line.slice(0, line.lastIndexOf(' ')), Number(line.slice(line.lastIndexOf(' ')))]),
    )
  }
  return { instrumentation, tracerProvider, meterProvider, exporter, spans: () => memory.getFinishedSpans(), metrics }
}
