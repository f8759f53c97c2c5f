// @module-tag nodes
// Every way in which a body can end, with every transport: a truncated body never counts as
// complete. RFC 9112 §8, §9.8, RFC 9113 §8.1.
import { connect } from 'node:http2'
import type { AddressInfo, Socket } from 'node:net'
import { Readable } from 'node:stream'
import { createServer, getCACertificates, setDefaultCACertificates } from 'node:tls'
import { type BodyEnd, type BodyEndCase, bodyEndCases } from '@politely/testkit/cases/body-end-cases'
import { expectTables } from '@politely/testkit/doc-page'
import { startFrameServer } from '@politely/testkit/servers/frame-server'
import { lookupIn } from '@politely/testkit/servers/lookup'
import { startRawServer } from '@politely/testkit/servers/raw-server'
import { selfSigned } from '@politely/testkit/servers/self-signed'
import { Agent, type Dispatcher, Dispatcher1Wrapper, fetch as undiciFetch } from 'undici'
import { afterAll, beforeAll, expect, onTestFinished } from 'vitest'
import type { RobotsClientOptions } from '../src/index.ts'
import { test } from './with-sites.ts'

/** The types lack this method. */
const { wrapHandler } = Dispatcher1Wrapper as unknown as {
  wrapHandler(handler: Dispatcher.DispatchHandler): Dispatcher.DispatchHandler
}

const certificate = selfSigned('a.test')
const usual = getCACertificates('default')
beforeAll(() => setDefaultCACertificates([...usual, certificate.cert])) // the client's own connections have no other way to trust it
afterAll(() => setDefaultCACertificates(usual))

function newAgent(): Agent {
  const agent = new Agent({ connect: { lookup: lookupIn() }, allowH2: true })
  onTestFinished(() => agent.destroy())
  return agent
}

type Options = Partial<RobotsClientOptions>
const transports: readonly (readonly [name: string, options: () => Options])[] = [
  ['its own', () => ({})],
  ['`dispatcher`', () => ({ dispatcher: newAgent() })],
  [
    '`fetch` of Node',
    () => {
      const agent = newAgent()
      // Like undici's Dispatcher1Wrapper, which Node 22 and 24 need, but with HTTP/2.
      const dispatcher = {
        dispatch: (options: Dispatcher.DispatchOptions, handler: Dispatcher.DispatchHandler) =>
          agent.dispatch(options, wrapHandler(handler)),
      }
      return { fetch: (url, init) => fetch(url, { ...init, dispatcher } as unknown as RequestInit) }
    },
  ],
  [
    '`fetch` of undici',
    () => {
      const dispatcher = newAgent()
      return {
        fetch: ((url: string, init: object) => undiciFetch(url, { ...init, dispatcher })) as unknown as typeof fetch,
      }
    },
  ],
]

/** @returns The server's URL. */
async function start(row: BodyEndCase): Promise<string> {
  if (row.over === 'HTTP/2') {
    const server = await startFrameServer(certificate, row.behave)
    onTestFinished(() => server.close())
    return `https://a.test:${server.port}`
  }
  if (row.over === 'HTTP/1.1') {
    const server = await startRawServer((socket) => void socket.once('data', () => row.behave(socket)))
    onTestFinished(() => server.close())
    return `http://a.test:${server.port}`
  }
  const sockets: Socket[] = []
  const server = createServer(certificate, (tls) => {
    tls.on('error', () => undefined)
    const socket = sockets.find(({ remotePort }) => remotePort === tls.remotePort)
    if (socket !== undefined) tls.once('data', () => row.behave(tls, socket))
  })
  server.on('connection', (socket: Socket) => {
    sockets.push(socket)
    socket.on('error', () => undefined)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy()
    server.close()
  })
  return `https://a.test:${(server.address() as AddressInfo).port}`
}

/** The client's own connections support only HTTP/1.1. */
function isSpoken({ over }: BodyEndCase, transport: string): boolean {
  return over !== 'HTTP/2' || transport !== 'its own'
}

function expectedOf(row: BodyEndCase, transport: string): BodyEnd {
  const { expected, expectedOfCallers = expected, expectedOfFetch = expectedOfCallers } = row
  if (transport === 'its own') return expected
  return transport === '`dispatcher`' ? expectedOfCallers : expectedOfFetch
}

/** On Node 22 a TLS socket that was reset ends like one that was closed, so a fetch cannot tell. */
function isResetUnseen({ over, name }: BodyEndCase, transport: string): boolean {
  const isReset = over === 'HTTP/1.1 and TLS' && name === 'neither Content-Length nor chunks, then RST'
  return isReset && transport.startsWith('`fetch`') && process.versions.node.startsWith('22.')
}

for (const [transport, options] of transports) {
  const rows = bodyEndCases.filter((row) => isSpoken(row, transport))
  test.for(rows.map((row) => [`${row.over}, ${row.name}`, row] as const))(
    `${transport}: %s`,
    async ([, row], { newClient }) => {
      const url = await start(row)
      const verdict = await newClient(options()).check(`${url}/page`)
      const isComplete = verdict.because === 'rule' && !verdict.allowed
      const end = isComplete ? 'complete' : (verdict.access?.reason ?? verdict.because)
      expect(end).toBe(isResetUnseen(row, transport) ? 'complete' : expectedOf(row, transport))
    },
  )
}

/** A fetch that treats any end of the stream as the end of the body. */
const fetchOverHttp2: typeof fetch = (input) =>
  new Promise((resolve, reject) => {
    const { origin, pathname } = new URL(String(input))
    const session = connect(origin, { lookup: lookupIn() }).on('error', reject)
    const stream = session.request({ ':path': pathname }).on('error', reject)
    stream.on('close', () => session.destroy())
    stream.on('response', ({ ':status': status }) => {
      resolve(new Response(Readable.toWeb(stream) as ReadableStream, { status: status ?? 0 }))
    })
  })

test.for(
  bodyEndCases.flatMap((row) =>
    row.over === 'HTTP/2' && /^(END_STREAM|RST_STREAM.*: (NO_ERROR|CANCEL)$)/.test(row.name)
      ? [[row.name, row] as const]
      : [],
  ),
)('a fetch on node:http2: %s', async ([, row], { newClient }) => {
  const verdict = await newClient({ fetch: fetchOverHttp2 }).check(`${await start(row)}/page`)
  expect(verdict).toMatchObject(
    row.expected === 'complete' ? { because: 'rule' } : { because: 'unreachable', access: { reason: row.expected } },
  )
})

test('docs/reference/misbehaving-servers.md contains these cases', { tags: 'page' }, async () => {
  const rows = bodyEndCases.map((row) => [
    row.over,
    row.name.replaceAll('_', '\\_'),
    ...transports.map(([transport]) => (isSpoken(row, transport) ? expectedOf(row, transport) : '')),
  ])
  const head = ['over', 'the body', ...transports.map(([transport]) => transport)]
  await expectTables('docs/reference/misbehaving-servers.md', { head, rows })
})
