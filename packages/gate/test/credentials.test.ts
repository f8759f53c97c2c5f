// What a gate publishes and writes into messages contains no credentials of a URL
// (`user:password@`). Our choice.
import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { once } from 'node:events'
import { Agent, get } from 'node:http'
import { inspect } from 'node:util'
import { RobotsClient } from '@politely/fetcher'
import { invalidSecretUrls, SECRET, secretUrls } from '@politely/testkit/cases/secret-urls'
import { expect, onTestFinished, test } from 'vitest'
import { type GateMessages, PoliteGate, politeHttpAgent, politely, refusalOf } from '../src/index.ts'
import { politeAgent } from '../src/undici/index.ts'
import { lookup, Site } from './site.ts'

const CHANNELS: readonly (keyof GateMessages)[] = [
  'politely:gate:wait',
  'politely:gate:start',
  'politely:gate:done',
  'politely:gate:refuse',
  'politely:gate:abandon',
  'politely:gate:failure',
]
const PASSWORD = new RegExp(SECRET, 'i')

async function open() {
  /** All messages of gates, and what a test adds. */
  const told: unknown[] = []
  const site = await Site.open({ '*': 'User-agent: *\nDisallow: /*private\n' })
  const robots = new RobotsClient({ userAgent: 'ExampleBot/1.0', lookup, network: 'any', retries: 0 })
  const listen = (message: unknown, name: unknown) => void told.push([name, message])
  for (const name of CHANNELS) subscribe(name, listen)
  onTestFinished(async () => {
    for (const name of CHANNELS) unsubscribe(name, listen)
    await robots.close()
    await site.close()
  })
  const { host } = new URL(site.origin)
  const [valid, invalid] = [secretUrls(host), invalidSecretUrls(host)]
  return { site, robots, gate: new PoliteGate({ robots, minDelayMs: 0 }), told, valid, invalid }
}

test('the channels of a gate, and its errors', async () => {
  const { robots, told, valid, invalid } = await open()
  const error = (reason: unknown) => void told.push(reason)
  for (const url of valid) {
    const gate = new PoliteGate({ robots, minDelayMs: 3_600_000, now: Date.now })
    const permit = await gate.enter(url)
    expect([permit.url, permit.verdict.url]).toEqual([url, url])
    const waiting = gate.enter(url).catch(error)
    const redirected = { status: 200, headers: {}, redirected: true, url }
    expect(() => permit.report(redirected)).toThrow(expect.toSatisfy((reason) => told.push(reason) > 0))
    permit.release()
    await gate.enter(url.replace('page', 'private')).catch(error)
    gate.close()
    await waiting
  }
  const gate = new PoliteGate({ robots })
  for (const url of invalid) await gate.enter(url).catch(error)
  await gate.enter('http://a.test/', valid[0] as never).catch(error)
  for (const name of CHANNELS.slice(0, -1)) {
    const messages = told.filter((item) => Array.isArray(item) && item[0] === name)
    expect(messages.length, name).toBeGreaterThanOrEqual(valid.length)
  }
  expect(inspect(told, { depth: 9, maxArrayLength: null })).not.toMatch(PASSWORD)
})

test('the errors and the refused responses of politely(fetch)', async () => {
  const { gate, site, told, valid, invalid } = await open()
  const error = (reason: unknown) => void told.push(reason)
  const fetch = politely(async (_url: string) => new Response(''), { gate, onDisallowed: 'response' })
  for (const url of [...valid, ...invalid]) {
    const response = await fetch(url.replace('page', 'private')).catch(error)
    if (response) told.push(response.url, await response.text(), refusalOf(response))
  }
  // Node's fetch itself fails for a URL with credentials. Its error names the URL.
  const ofNode = /^Request cannot be constructed from a URL that includes credentials/
  const follow = politely(globalThis.fetch, { gate })
  // Without slashes, `http:u:password@host` is a path, relative to a URL with the same scheme.
  const isPath = (location: string) => URL.parse(location, `${site.origin}/from`)?.pathname.includes('@') ?? false
  for (const location of [...valid, ...invalid].filter((one) => !isPath(one))) {
    site.pages.set('/from', (_, response) => {
      response
        .writeHead(302, {
          location: Buffer.from(location)
            .toString('latin1')
            .replace(/[\0\n]/g, ''),
        })
        .end()
    })
    await follow(`${site.origin}/from`).catch((reason: TypeError) => ofNode.test(reason.message) || told.push(reason))
  }
  expect(told.length).toBeGreaterThan(2 * valid.length)
  expect(inspect(told, { depth: 9, maxArrayLength: null })).not.toMatch(PASSWORD)
})

test('the errors of politeHttpAgent and politeAgent', async () => {
  const { gate, site, told, valid, invalid } = await open()
  const error = (reason: unknown) => void told.push(reason)
  const agent = politeHttpAgent(new Agent(), gate)
  const dispatcher = politeAgent({ gate })
  onTestFinished(() => dispatcher.destroy())
  const { origin } = site
  const request = { host: '127.0.0.1', port: site.port, agent }
  const urls = [...valid, ...invalid].filter((url) => !url.startsWith('/')) // as the path of a request, it would be one
  for (const url of urls.map((one) => one.replace('page', 'private'))) {
    const ways: readonly (() => Promise<unknown>)[] = [
      () => once(get({ ...request, path: url }), 'response'),
      () => once(get({ ...request, path: '/', headers: { host: url } }), 'response'),
      () => dispatcher.request({ origin: url, path: '/private', method: 'GET' }),
      () => dispatcher.request({ origin, path: url, method: 'GET' }),
      () => dispatcher.request({ origin, path: url, method: 'GET', query: { a: 'b' } }),
      () => dispatcher.request({ origin, path: '/', method: 'GET', headers: { host: url } }),
    ]
    for (const send of ways) await (async () => send())().catch(error)
  }
  const ours = told.filter((reason) => String((reason as NodeJS.ErrnoException).code).startsWith('ERR_POLITELY'))
  expect(ours.length).toBeGreaterThan(5 * valid.length)
  expect(inspect(ours, { depth: 9, maxArrayLength: null })).not.toMatch(PASSWORD)
})
