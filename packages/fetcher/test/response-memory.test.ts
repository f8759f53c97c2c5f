// @module-tag full
// @module-tag heap
// The memory that a response in many small chunks takes while it is received, with each transport.
// Our choice.
import { randomBytes } from 'node:crypto'
import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import type { Socket } from 'node:net'
import { gzipSync } from 'node:zlib'
import { checkedPage, disallowsPage } from '@politely/testkit/cases/response-cases'
import { heapBytes } from '@politely/testkit/heap'
import { lookupIn } from '@politely/testkit/servers/lookup'
import { Agent, fetch as undiciFetch } from 'undici'
import { expect, onTestFinished } from 'vitest'
import { RequestObserver } from '../src/fetch/request-observer.ts'
import type { RobotsClientOptions } from '../src/index.ts'
import { test } from './with-sites.ts'

const ROBOTS = 'http://a.test:PORT/robots.txt'
const file = `${disallowsPage}${randomBytes(40_000)
  .toString('hex')
  .replaceAll(/(.{70})/g, '# $1\n')}`
const coded = gzipSync(file)
const GZIP = 'Content-Encoding: gzip\r\n'
const OK = 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n'

/** Sends a body in chunks of one byte, except its last chunk, which the returned function sends. */
function holdLastChunk(headers: string, body: Buffer) {
  const sockets: Socket[] = []
  const chunks = Buffer.concat(Array.from(body, (byte) => Buffer.from([0x31, 0x0d, 0x0a, byte, 0x0d, 0x0a])))
  return {
    behave: (socket: Socket) => {
      sockets.push(socket)
      socket.write(`${OK}${headers}\r\n`)
      socket.write(chunks)
    },
    end: () => {
      for (const socket of sockets) socket.end('0\r\n\r\n')
    },
  }
}

/** Resolves when undici has received so many bytes of bodies. */
async function received(bytes: number): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>()
  let size = 0
  const count = (message: unknown) => {
    size += (message as { readonly chunk: Buffer }).chunk.length
    if (size >= bytes) resolve()
  }
  subscribe('undici:request:bodyChunkReceived', count)
  await promise
  unsubscribe('undici:request:bodyChunkReceived', count)
}

function newAgent(): Agent {
  const agent = new Agent({ connect: { lookup: lookupIn() } })
  onTestFinished(() => agent.destroy())
  return agent
}

const transports: readonly (readonly [string, () => Partial<RobotsClientOptions>])[] = [
  ["the client's own connections", () => ({})],
  ["the caller's dispatcher", () => ({ dispatcher: newAgent() })],
  [
    "the caller's fetch",
    () => {
      const dispatcher = newAgent()
      return {
        fetch: ((url: string, init: object) => undiciFetch(url, { ...init, dispatcher })) as unknown as typeof fetch,
      }
    },
  ],
]

const codings = [
  ['uncoded', '', Buffer.from(file)],
  ['gzip', GZIP, coded],
] as const

/** A Buffer for each byte of the coded body would take more than twice as much. */
const MAX_HEAP_BYTES = 2 * 2 ** 20

// Not with a fetch, which may keep chunks of its own until it has decoded them.
test.for(
  transports
    .slice(0, 2)
    .flatMap(([name, options]) =>
      codings.map(([coding, ...response]) => [`${name}: ${coding}`, options, ...response] as const),
    ),
)('the heap, %s', async ([, options, headers, body], { sites, newClient }) => {
  const held = holdLastChunk(headers, body)
  sites.respond(ROBOTS, held.behave)
  const client = newClient(options())
  const before = await heapBytes()
  const all = received(body.length)
  const verdict = client.check(sites.withPort(checkedPage))
  await all
  await expect.poll(async () => (await heapBytes()) - before).toBeLessThan(MAX_HEAP_BYTES)
  held.end()
  expect(await verdict).toMatchObject({ because: 'rule', access: { copy: { truncated: false } } })
})

test.for(transports.slice(1))(
  'the bytes of a coded body that are kept to decode it again, %s',
  async ([, options], { sites, newClient }) => {
    const held = holdLastChunk(GZIP, coded)
    sites.respond(ROBOTS, held.behave)
    const observer = new RequestObserver(sites.withPort(ROBOTS), 512_000)
    onTestFinished(() => observer.stop())
    const all = received(coded.length)
    const verdict = newClient({ ...options(), timeoutMs: 50_000 }).check(sites.withPort(checkedPage))
    await all
    held.end()
    expect(await verdict).toMatchObject({ because: 'rule' })
    const [exchange] = observer.exchanges
    expect(exchange?.coded.bytes.equals(coded)).toBe(true)
    expect(exchange?.coded.bytes.buffer.byteLength).toBeLessThan(2 * coded.length)
  },
)
