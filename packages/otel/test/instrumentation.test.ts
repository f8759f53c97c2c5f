// @module-tag nodes
// @module-tag sockets
// The class as OpenTelemetry uses it: options, providers, enable and disable.
import { channel } from 'node:diagnostics_channel'
import { registerInstrumentations } from '@opentelemetry/instrumentation'
import { MeterProvider } from '@opentelemetry/sdk-metrics'
import { InMemorySpanExporter, SimpleSpanProcessor, TracerProvider } from '@opentelemetry/sdk-trace'
import { RobotsClient } from '@politely/fetcher'
import { expect, onTestFinished, test } from 'vitest'
import manifest from '../package.json' with { type: 'json' }
import { PolitelyInstrumentation, type PolitelyInstrumentationConfig } from '../src/index.ts'
import { observe, startSite } from './observed.ts'

const CHECK = 'tracing:politely:check:start'
const CHANNELS = [
  CHECK,
  'tracing:politely:check:asyncEnd',
  'tracing:politely:fetch:start',
  'tracing:politely:fetch:asyncEnd',
  'politely:gate:wait',
  'politely:gate:start',
  'politely:gate:refuse',
  'politely:gate:abandon',
]
const subscribed = () => CHANNELS.filter((name) => channel(name).hasSubscribers)

test.for<[object, string]>([
  [{ spans: 'yes' }, 'spans: "yes" is not a boolean; expected true or false'],
  [{ origins: true }, 'options: true is not an object; expected an object such as { max: 100 }'],
  [{ origins: {} }, 'origins.max: undefined is not a number; expected a whole number from 1 to 10000, such as 100'],
  [{ origins: { max: 0 } }, 'origins.max: 0 is out of range; expected a whole number from 1 to 10000, such as 100'],
  [{ origins: { max: 1, top: 1 } }, 'top: is an unknown option'],
  [{ serverAdress: true }, 'serverAdress: is an unknown option; did you mean `serverAddress`?'],
])('rejects the options %j', ([options, message]) => {
  const config = options as PolitelyInstrumentationConfig
  const expected = expect.objectContaining({ code: 'ERR_POLITELY_OPTION', message: expect.stringContaining(message) })
  expect(() => new PolitelyInstrumentation(config)).toThrow(expected)
  const instrumentation = new PolitelyInstrumentation({ enabled: false })
  expect(() => instrumentation.setConfig(config)).toThrow(expected)
  expect(subscribed()).toEqual([])
})

test('subscribes from enable to disable, to checks only for spans', () => {
  const instrumentation = new PolitelyInstrumentation({ enabled: false })
  expect(subscribed()).toEqual([])
  instrumentation.enable()
  instrumentation.enable()
  expect(subscribed()).toEqual(CHANNELS)
  instrumentation.setConfig({ spans: false })
  expect(subscribed()).toEqual(CHANNELS.filter((name) => !/check|wait/.test(name)))
  instrumentation.disable()
  expect(subscribed()).toEqual([])
  instrumentation.setConfig({})
  instrumentation.setMeterProvider(new MeterProvider())
  expect(subscribed()).toEqual([])
})

test('registerInstrumentations takes it, sets the providers, and disables it at the end', async () => {
  const exporter = new InMemorySpanExporter()
  const instrumentation = new PolitelyInstrumentation()
  const unregister = registerInstrumentations({
    instrumentations: [instrumentation],
    tracerProvider: new TracerProvider({ spanProcessors: [new SimpleSpanProcessor({ exporter })] }),
    meterProvider: new MeterProvider(),
  })
  const client = new RobotsClient({ userAgent: 'ExampleBot/1.0' })
  onTestFinished(() => client.close())
  const origin = await startSite()
  await client.check(origin)
  unregister()
  await client.check(origin)
  const spans = exporter.getFinishedSpans()
  expect(spans.map(({ name }) => name)).toEqual(['politely.robots.fetch', 'politely.check'])
  expect(spans[0]?.instrumentationScope).toMatchObject({ name: '@politely/otel', version: manifest.version })
  expect(instrumentation.getConfig()).toEqual({ enabled: true, spans: true, urlFull: false, serverAddress: false })
})

test('a new meter provider gets the totals, and the old one no more', async () => {
  const first = observe()
  const client = new RobotsClient({ userAgent: 'ExampleBot/1.0' })
  onTestFinished(() => client.close())
  const origin = await startSite()
  await client.check(origin)
  expect(await first.metrics()).toMatchObject({ politely_client_questions_total: 1 })
  const second = observe({ enabled: false })
  first.instrumentation.setMeterProvider(second.meterProvider)
  await client.check(origin)
  expect(await second.metrics()).toMatchObject({ politely_client_questions_total: 2 })
})
