// @module-tag full
// The options of politeAgent for undici's Agent, on a server that speaks HTTP/2 with a certificate
// of its own.
import { once } from 'node:events'
import { createSecureServer } from 'node:http2'
import { type AddressInfo, createServer } from 'node:net'
import { RobotsClient } from '@politely/fetcher'
import { selfSigned } from '@politely/testkit/servers/self-signed'
import { Agent, type Dispatcher, request } from 'undici'
import { expect, onTestFinished, test } from 'vitest'
import { PoliteGate } from '../src/index.ts'
import { politeAgent, politeInterceptor } from '../src/undici/index.ts'

const certificate = selfSigned('localhost')
const ca = certificate.cert

/** The server replies with the version of HTTP. */
async function open() {
  const server = createSecureServer({ ...certificate, allowHTTP1: true }, ({ url, httpVersion }, response) => {
    response.end(url === '/robots.txt' ? '' : httpVersion)
  })
  server.listen(0)
  await once(server, 'listening')
  // The certificate is for pages and for robots.txt.
  const dispatcher = new Agent({ connect: { ca } })
  const robots = new RobotsClient({ userAgent: 'ExampleBot/1.0', dispatcher })
  const gate = new PoliteGate({ robots, minDelayMs: 0 })
  onTestFinished(async () => {
    gate.close()
    await robots.close()
    await dispatcher.destroy()
    server.close()
  })
  return { gate, url: `https://localhost:${(server.address() as AddressInfo).port}/page` }
}

async function textOf(url: string, dispatcher: Dispatcher): Promise<string> {
  onTestFinished(() => dispatcher.destroy())
  const { body } = await request(url, { dispatcher })
  return body.text()
}

test('connect: { ca } holds for each connection, which speaks HTTP/1.1', async () => {
  const { gate, url } = await open()
  expect(await textOf(url, politeAgent({ gate, agent: { connect: { ca }, allowH2: false } }))).toBe('1.1')
  expect(
    await textOf(url, politeAgent({ gate, agent: { connect: { ca }, allowH2: null as never }, network: 'any' })),
  ).toBe('1.1')
  await expect(textOf(url, politeAgent({ gate }))).rejects.toMatchObject({ code: 'DEPTH_ZERO_SELF_SIGNED_CERT' })
})

test('an agent with politeInterceptor speaks HTTP/2', async () => {
  const { gate, url } = await open()
  const agent = new Agent({ allowH2: true, connect: { ca } })
  expect(await textOf(url, agent.compose(politeInterceptor(gate)))).toBe('2.0')
  expect(gate.counters).toMatchObject({ started: 1, done: 1 })
})

test('connectTimeout ends a connection that is not established', async () => {
  const silent = createServer().listen(0)
  await once(silent, 'listening')
  const { port } = silent.address() as AddressInfo
  const robots = new RobotsClient({ userAgent: 'ExampleBot/1.0', fetch: async () => new Response('') })
  const gate = new PoliteGate({ robots, minDelayMs: 0 })
  const agent = politeAgent({ gate, agent: { connectTimeout: 50 } })
  await expect(textOf(`https://localhost:${port}/`, agent)).rejects.toMatchObject({ code: 'UND_ERR_CONNECT_TIMEOUT' })
  gate.close()
  await robots.close()
  silent.close()
})
