// What only got has: streams, retries that would not wait, timeouts.
import { selfSigned } from '@politely/testkit/self-signed'
import { startSites } from '@politely/testkit/sites'
import { Agent, fetch as undiciFetch } from 'undici'
import { expect, onTestFinished, test, vi } from 'vitest'
import { politeGot } from '../got.ts'
import { refusalIn } from '../small-web.ts'
import { HOME, openGate, openNarrowWeb } from './kit.ts'

test('a stream keeps its place to its end, a stream that is destroyed gives it back', async () => {
  const { sites, gate } = await openNarrowWeb()
  const got = politeGot(gate)
  sites.answer(`${HOME}/large`, { status: 200, body: 'x'.repeat(1_000_000) })
  let bytes = 0
  for await (const chunk of got.stream(sites.withPort(`${HOME}/large`))) bytes += chunk.length
  await gate.drain()
  const broken = got.stream(sites.withPort(`${HOME}/large`))
  for await (const _ of broken) {
    expect(gate.queues()).toMatchObject([{ underWay: 1 }])
    break // which destroys it
  }
  await gate.drain()
  expect({ bytes, started: gate.counters.started }).toEqual({ bytes: 1_000_000, started: 2 })
})

test('a stream that is destroyed while it waits leaves the queue', async () => {
  const { sites, gate } = await openNarrowWeb()
  const pass = await gate.enter(sites.withPort(`${HOME}/first`))
  const stream = politeGot(gate).stream(sites.withPort(`${HOME}/open`))
  await expect.poll(() => gate.queues()[0]?.waiting).toBe(1)
  stream.destroy()
  await expect.poll(() => gate.queues()[0]?.waiting).toBe(0)
  pass.release()
  expect(sites.asked).toEqual([`${HOME}/robots.txt`])
})

test('a stream of what is disallowed fails with the refusal', async () => {
  const { sites, gate } = await openNarrowWeb()
  const stream = politeGot(gate).stream(sites.withPort(`${HOME}/private`))
  const error = await stream.toArray().catch((error: unknown) => error)
  expect(refusalIn(error)?.verdict.because).toBe('rule')
})

test('Retry-After holds a retry that would come sooner', async () => {
  const { sites, gate } = await openNarrowWeb()
  sites.answer(`${HOME}/page`, { status: 503, headers: { 'retry-after': '1' } }, { status: 200 })
  const retry = { limit: 1, calculateDelay: ({ computedValue }: { computedValue: number }) => computedValue && 1 }
  const { statusCode } = await politeGot(gate)(sites.withPort(`${HOME}/page`), { retry })
  const { started, pushbacks, waits } = gate.counters
  expect({ statusCode, started, pushbacks, waits: waits['retry-after'] }).toEqual({
    statusCode: 200,
    started: 2,
    pushbacks: 1,
    waits: 1,
  })
})

test('timeout.request counts the wait for the turn, timeout.response does not', async () => {
  const { sites, gate } = await openNarrowWeb()
  const got = politeGot(gate)
  const pass = await gate.enter(sites.withPort(`${HOME}/first`))
  const url = sites.withPort(`${HOME}/open`)
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
  onTestFinished(() => void vi.useRealTimers())
  const impatient = got(url, { timeout: { request: 100 }, retry: { limit: 0 } })
  const patient = got(url, { timeout: { response: 100 }, retry: { limit: 0 } })
  const givesUp = expect(impatient).rejects.toMatchObject({ code: 'ETIMEDOUT', event: 'request' })
  await vi.waitUntil(() => gate.queues()[0]?.waiting === 2)
  await vi.advanceTimersByTimeAsync(200)
  await givesUp
  expect(gate.queues()).toMatchObject([{ waiting: 1 }])
  pass.release()
  await expect(patient).resolves.toMatchObject({ statusCode: 200 })
})

test('https is asked about as https', async () => {
  const certificate = selfSigned('localhost')
  const sites = await startSites({ certificate })
  sites.answer('https://localhost:PORT/robots.txt', { status: 200, body: 'User-agent: *\nDisallow: /private\n' })
  sites.answer('https://localhost:PORT/open', { status: 200 })
  const dispatcher = new Agent({ connect: { ca: certificate.cert } })
  const fetch = (url: string, init: object) => undiciFetch(url, { ...init, dispatcher })
  const { gate, close } = openGate({ userAgent: 'RecipeBot/1.0', fetch: fetch as never }, { minDelayMs: 0 })
  onTestFinished(async () => {
    await close()
    await dispatcher.close()
    await sites.close()
  })
  const got = politeGot(gate).extend({ https: { certificateAuthority: certificate.cert } })
  await expect(got(sites.withPort('https://localhost:PORT/open'))).resolves.toMatchObject({ statusCode: 200 })
  await expect(got(sites.withPort('https://localhost:PORT/private'))).rejects.toMatchObject({
    code: 'ERR_POLITELY_DISALLOWED',
  })
  expect(sites.asked).toEqual(['https://localhost:PORT/robots.txt', 'https://localhost:PORT/open'])
})
