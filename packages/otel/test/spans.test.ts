// @module-tag sockets
// The spans: which span is the child of which, and what they say. The instrumentation of undici is
// the real one.
import { SpanStatusCode, trace } from '@opentelemetry/api'
import { UndiciInstrumentation } from '@opentelemetry/instrumentation-undici'
import type { ReadableSpan } from '@opentelemetry/sdk-trace'
import { RobotsClient } from '@politely/fetcher'
import { PoliteGate } from '@politely/gate'
import { expect, onTestFinished, test } from 'vitest'
import { observe, startSite } from './observed.ts'

const userAgent = 'ExampleBot/1.0'

function newClient(): RobotsClient {
  const client = new RobotsClient({ userAgent })
  onTestFinished(() => client.close())
  return client
}

function newGate(robots: RobotsClient, minDelayMs: number, maxWaitMs?: number): PoliteGate {
  const gate = new PoliteGate({ robots, minDelayMs, maxWaitMs })
  onTestFinished(() => gate.close())
  return gate
}

/** Returns the names of a span and of the spans that contain it, innermost first. */
function pathOf(span: ReadableSpan, spans: readonly ReadableSpan[]): string[] {
  const parent = spans.find((one) => one.spanContext().spanId === span.parentSpanContext?.spanId)
  return [span.name, ...(parent === undefined ? [] : pathOf(parent, spans))]
}

const of = (spans: readonly ReadableSpan[], name: string) => spans.filter((span) => span.name === name)

test("undici's request is in the span of the fetch, which is in the span of the check", async () => {
  const { tracerProvider, spans } = observe()
  const undici = new UndiciInstrumentation()
  undici.setTracerProvider(tracerProvider)
  onTestFinished(() => undici.disable())
  const client = newClient()
  await client.check(`${await startSite()}/private`)
  await client.check('no URL')
  expect(spans().map((span) => pathOf(span, spans()))).toEqual([
    ['GET', 'politely.robots.fetch', 'politely.check'],
    ['politely.robots.fetch', 'politely.check'],
    ['politely.check'],
    ['politely.check'],
  ])
  const [fetched, first, second] = spans().slice(1)
  expect(fetched?.attributes).toEqual({
    'politely.outcome': 'success',
    'politely.state': 'rules',
    'http.response.status_code': 200,
  })
  const verdict = { 'politely.verdict': 'disallowed' }
  expect(first?.attributes).toEqual({ ...verdict, 'politely.because': 'rule', 'politely.outcome': 'success' })
  expect(second?.attributes).toEqual({ ...verdict, 'politely.because': 'invalid-url' })
})

test('spans of a request are in its own trace, and so is the check after its wait', async () => {
  const { tracerProvider, spans } = observe()
  const gate = newGate(newClient(), 30)
  const origin = await startSite('Crawl-delay: 0')
  const tracer = tracerProvider.getTracer('a crawler')
  await Promise.all(
    ['/1', '/2', '/3'].map((path) =>
      tracer.startActiveSpan(path, async (span) => {
        const permit = await gate.enter(origin + path)
        expect(trace.getActiveSpan()).toBe(span)
        permit.release()
        span.end()
      }),
    ),
  )
  const paths = spans().map((span) => pathOf(span, spans()).join(' < '))
  // Once when it enters, and once after its wait; more often if a timer is early.
  for (const path of ['/2', '/3'])
    expect(paths.filter((one) => one === `politely.check < ${path}`).length).toBeGreaterThanOrEqual(2)
  expect([...new Set(paths)].toSorted()).toEqual([
    '/1',
    '/2',
    '/3',
    'politely.check < /1',
    'politely.check < /2',
    'politely.check < /3',
    'politely.robots.fetch < politely.check < /1',
    'politely.wait < /2',
    'politely.wait < /3',
  ])
  for (const { attributes, duration } of of(spans(), 'politely.wait')) {
    expect(attributes).toEqual({ 'politely.because': 'own-delay', 'politely.level': 'origin' })
    expect(duration[0] + duration[1]).toBeGreaterThan(0)
  }
})

test('what fails has an error; a refusal is a result, and an abort has no error status', { tags: 'full' }, async () => {
  const { spans } = observe()
  const client = newClient()
  await client.check(`${await startSite(500)}/`)
  const [fetched, checked] = spans()
  expect(fetched?.status.code).toBe(SpanStatusCode.ERROR)
  expect(fetched?.attributes).toMatchObject({ 'error.type': 'status', 'politely.outcome': 'unreachable' })
  expect(checked?.status.code).toBe(SpanStatusCode.UNSET)
  expect(checked?.attributes).toMatchObject({ 'politely.because': 'unreachable', 'politely.verdict': 'disallowed' })

  const gate = newGate(client, 60_000, 120_000)
  const origin = await startSite()
  const first = await gate.enter(origin)
  const controller = new AbortController()
  const aborted = expect(gate.enter(origin, { signal: controller.signal })).rejects.toThrow()
  const closed = expect(gate.enter(origin)).rejects.toThrow()
  await expect.poll(() => gate.gauges.waiting).toBe(2)
  controller.abort()
  await aborted
  gate.close()
  await closed
  first.release()
  await expect.poll(() => of(spans(), 'politely.wait').length).toBe(2)
  const [abort, close] = of(spans(), 'politely.wait')
  expect([abort?.attributes['error.type'], abort?.status.code]).toEqual(['AbortError', SpanStatusCode.UNSET])
  expect([close?.attributes['error.type'], close?.status.code]).toEqual([
    'ERR_POLITELY_GATE_CLOSED',
    SpanStatusCode.ERROR,
  ])
})

test('a check that rejects ends its span, and the span of its fetch', async () => {
  const { spans } = observe()
  const client = newClient()
  const check = expect(client.check('http://127.0.0.1:9/')).rejects.toThrow('closed')
  await client.close()
  await check
  expect(
    of(spans(), 'politely.check').map(({ attributes, events }) => [attributes['error.type'], events.length]),
  ).toEqual([['ERR_POLITELY_CLIENT_CLOSED', 1]])
})

test('URLs and hosts are options, and credentials never show', async () => {
  const { spans } = observe({ urlFull: true, serverAddress: true })
  const origin = await startSite()
  const { host, hostname, port } = new URL(origin)
  await newClient().check(`http://user:password@${host}/page`)
  const server = { 'server.address': hostname, 'server.port': Number(port) }
  expect(spans().map(({ attributes }) => attributes)).toMatchObject([
    { ...server, 'url.full': `${origin}/robots.txt` },
    { ...server, 'url.full': `${origin}/page` },
  ])
})
