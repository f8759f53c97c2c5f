// Features of got: streams, immediate retries and timeouts.
import { selfSigned } from '@politely/testkit/servers/self-signed'
import { startSites } from '@politely/testkit/servers/sites'
import { Agent, fetch as undiciFetch } from 'undici'
import { expect, onTestFinished, test, vi } from 'vitest'
import { findRefusal } from '../demo.ts'
import { politeGot } from '../got.ts'
import { HOME, openGate, openTestWeb } from './test-web.ts'

test('a stream releases its permit when it ends or is destroyed', async () => {
  const { sites, gate } = await openTestWeb()
  const got = politeGot(gate)
  sites.respond(`${HOME}/large`, { status: 200, body: 'x'.repeat(1_000_000) })
  let bytes = 0
  for await (const chunk of got.stream(sites.withPort(`${HOME}/large`))) bytes += chunk.length
  await gate.drain()
  const broken = got.stream(sites.withPort(`${HOME}/large`))
  for await (const _ of broken) {
    expect(gate.queues()).toMatchObject([{ underWay: 1 }])
    break // this destroys the stream
  }
  await gate.drain()
  expect({ bytes, started: gate.counters.started }).toEqual({ bytes: 1_000_000, started: 2 })
})

test('a stream that is destroyed in the queue leaves it', async () => {
  const { sites, gate } = await openTestWeb()
  const permit = await gate.enter(sites.withPort(`${HOME}/first`))
  const stream = politeGot(gate).stream(sites.withPort(`${HOME}/open`))
  await expect.poll(() => gate.queues()[0]?.waiting).toBe(1)
  stream.destroy()
  await expect.poll(() => gate.queues()[0]?.waiting).toBe(0)
  permit.release()
  expect(sites.requestedUrls).toEqual([`${HOME}/robots.txt`])
})

test('a stream of a disallowed page fails with RobotsDisallowedError', async () => {
  const { sites, gate } = await openTestWeb()
  const stream = politeGot(gate).stream(sites.withPort(`${HOME}/private`))
  const error = await stream.toArray().catch((error: unknown) => error)
  expect(findRefusal(error)?.verdict.because).toBe('rule')
})

test('Retry-After delays a retry that would start earlier', { tags: 'full' }, async () => {
  const { sites, gate } = await openTestWeb()
  sites.respond(`${HOME}/page`, { status: 503, headers: { 'retry-after': '1' } }, { status: 200 })
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

test('timeout.request includes the wait in the queue, timeout.response does not', async () => {
  const { sites, gate } = await openTestWeb()
  const got = politeGot(gate)
  const permit = await gate.enter(sites.withPort(`${HOME}/first`))
  const url = sites.withPort(`${HOME}/open`)
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
  onTestFinished(() => void vi.useRealTimers())
  const requestTimeout = got(url, { timeout: { request: 100 }, retry: { limit: 0 } })
  const responseTimeout = got(url, { timeout: { response: 100 }, retry: { limit: 0 } })
  const timesOut = expect(requestTimeout).rejects.toMatchObject({ code: 'ETIMEDOUT', event: 'request' })
  await vi.waitUntil(() => gate.queues()[0]?.waiting === 2)
  await vi.advanceTimersByTimeAsync(200)
  await timesOut
  expect(gate.queues()).toMatchObject([{ waiting: 1 }])
  permit.release()
  await expect(responseTimeout).resolves.toMatchObject({ statusCode: 200 })
})

test('checks https URLs with the robots.txt of the https origin', async () => {
  const certificate = selfSigned('localhost')
  const sites = await startSites({ certificate })
  sites.respond('https://localhost:PORT/robots.txt', { status: 200, body: 'User-agent: *\nDisallow: /private\n' })
  sites.respond('https://localhost:PORT/open', { status: 200 })
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
  expect(sites.requestedUrls).toEqual(['https://localhost:PORT/robots.txt', 'https://localhost:PORT/open'])
})
