// The states of an exchange: the table at the head of `adapter/exchange.ts`. The tests of the HTTP
// clients show that each of them makes its steps.
import { RobotsClient } from '@politely/fetcher'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { Exchange, senderOf } from '../src/adapter/exchange.ts'
import { PoliteGate } from '../src/index.ts'
import { lookup, Site } from './site.ts'

let site: Site
let robots: RobotsClient
beforeAll(async () => {
  site = await Site.open({ '*': '' })
  // A signer that can always sign what a site asks for.
  const sign = {
    sign: ({ method }: { method: string }) =>
      method === 'HEAD' ? Promise.resolve({ signature: method }) : { signature: method },
    challenged: () => true,
  }
  robots = new RobotsClient({ userAgent: 'ExampleBot/1.0', lookup, network: 'any', sign })
})
afterAll(async () => {
  await robots.close()
  await site.close()
})

const newGate = () =>
  new PoliteGate({ robots, minDelayMs: 0, maxConcurrentPerKey: 1, backoff: { failures: true, firstMs: 1 } })
const request = () => ({ url: site.at('a.test', '/page'), signal: undefined, redirectedFrom: [] })
const begin = (gate: PoliteGate) => new Exchange(request(), senderOf(gate))

async function isDrained(gate: PoliteGate): Promise<boolean> {
  return Promise.race([gate.drain().then(() => true), new Promise<false>((resolve) => setImmediate(resolve, false))])
}

describe('an exchange', () => {
  test('that fails before it is sent says nothing about its site', async () => {
    const gate = newGate()
    const exchange = begin(gate)
    await exchange.enter()
    exchange.fail(new TypeError('fetch failed', { cause: { code: 'ECONNRESET' } }))
    expect(gate.counters).toMatchObject({ started: 1, done: 1, pushbacks: 0 })
  })

  test('that fails after it was sent is a failure of its site', async () => {
    const gate = newGate()
    const exchange = begin(gate)
    await exchange.enter()
    expect(exchange.run(() => 'sent')).toBe('sent')
    exchange.fail()
    expect(gate.counters).toMatchObject({ started: 1, done: 1, pushbacks: 1 })
  })

  test('that has a response has not failed, however its body ends', async () => {
    const gate = newGate()
    const exchange = begin(gate)
    await exchange.enter()
    exchange.run(() => undefined)
    exchange.responded({ status: 200, headers: {} })
    exchange.fail(new Error('the body broke off'))
    expect(gate.counters).toMatchObject({ done: 1, pushbacks: 0 })
  })

  test('that is new stays new until the gate lets it in', async () => {
    const gate = newGate()
    const exchange = begin(gate)
    exchange.responded({ status: 200, headers: {} })
    exchange.redirected('body', () => undefined)
    exchange.end()
    expect(exchange.hasEntered).toBe(false)
    expect(await isDrained(gate)).toBe(true)
    await exchange.enter()
    expect(exchange.hasEntered).toBe(true)
    exchange.end()
    expect(await isDrained(gate)).toBe(true)
  })

  test('with a redirect releases its permit, and drain waits for the next hop', async () => {
    const gate = newGate()
    const exchange = begin(gate)
    await exchange.enter()
    exchange.run(() => undefined)
    exchange.responded({ status: 302, headers: { location: '/next' } })
    exchange.redirected('body', () => undefined)
    const next = await gate.enter(site.at('a.test', '/next')) // would wait for the permit
    next.release()
    expect(await isDrained(gate)).toBe(false)
    exchange.end()
    expect(await isDrained(gate)).toBe(true)
  })

  test('has a second try for a signature, and no third', async () => {
    const gate = newGate()
    const exchange = begin(gate)
    const challenge = { status: 403, headers: { 'accept-signature': 'sig1=("@authority");tag="web-bot-auth"' } }
    await exchange.enter()
    expect(await exchange.sign('GET', 'headersTimeout', undefined)).toEqual({ signature: 'GET' })
    exchange.run(() => undefined)
    exchange.responded(challenge)
    const get = vi.fn(() => null)
    expect(exchange.isChallenge('POST', challenge)).toBe(false)
    expect(exchange.isChallenge('GET', { status: 200, headers: { get } })).toBe(false)
    expect(get, 'no header is read for nothing').not.toHaveBeenCalled()
    expect(exchange.isChallenge('GET', challenge)).toBe(true)
    exchange.end()
    await exchange.enter()
    exchange.run(() => undefined)
    expect(exchange.isChallenge('GET', challenge)).toBe(false)
    exchange.fail()
    expect(gate.counters).toMatchObject({ started: 2, done: 2, pushbacks: 1 })
  })

  test('gets a signature without a promise from a signer that answers at once', async () => {
    const exchange = begin(newGate())
    await exchange.enter()
    expect(exchange.sign('GET', 'requestTimeoutMs', undefined)).toEqual({ signature: 'GET' })
    const late = exchange.sign('HEAD', 'requestTimeoutMs', undefined)
    expect(late).toBeInstanceOf(Promise)
    expect(await late).toEqual({ signature: 'HEAD' })
    exchange.end()
  })

  test('without a sender gets its permit from the client', async () => {
    const gate = newGate()
    const exchange = new Exchange(request())
    await exchange.enter(gate.enter(request().url))
    exchange.end({ status: 429, headers: {} })
    expect(gate.counters).toMatchObject({ done: 1, pushbacks: 1 })
    expect(() => new Exchange(request()).enter()).toThrow('an exchange without a sender only gets permits')
  })
})
