// @module-tag nodes
// Delays count from the moment at which a request is sent. A connection takes some time, so that
// is later than the start of the request.
import { once } from 'node:events'
import http from 'node:http'
import { Agent, createServer, get, type RequestOptions } from 'node:https'
import { type AddressInfo, connect } from 'node:net'
import { createSecureContext } from 'node:tls'
import { RobotsClient } from '@politely/fetcher'
import { selfSigned } from '@politely/testkit/servers/self-signed'
import { request, Agent as UndiciAgent } from 'undici'
import { afterEach, beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest'
import {
  LocalPacer,
  type Pacer,
  type Permit,
  PoliteGate,
  type PoliteGateOptions,
  politeHttpAgent,
  politely,
  type Ticket,
} from '../src/index.ts'
import { politeAgent, politeInterceptor } from '../src/undici/index.ts'
import { kits } from './kits.ts'
import { listenTo } from './listen.ts'

const HOST_WITHOUT_RULES = async () => new Response(null, { status: 404 })

function openGate(options: Omit<PoliteGateOptions, 'robots'>): PoliteGate {
  const robots = new RobotsClient({ userAgent: 'ExampleBot/1.0', fetch: HOST_WITHOUT_RULES, network: 'any' })
  const gate = new PoliteGate({ robots, ...options })
  onTestFinished(async () => {
    gate.close()
    await robots.close()
  })
  return gate
}

describe('on a server with a slow TLS handshake', () => {
  const DELAY_MS = 50
  const clock = () => performance.timeOrigin + performance.now()

  async function getBody(url: string, options: RequestOptions = {}): Promise<void> {
    const [response] = await once(get(url, options), 'response')
    response.resume()
    await once(response, 'end')
  }

  /** Each returns a function that makes a request. */
  const senders: Readonly<Record<string, (gate: PoliteGate) => (url: string) => Promise<unknown>>> = {
    politeAgent: (gate) => {
      const dispatcher = politeAgent({ gate, network: 'any' })
      onTestFinished(() => dispatcher.close())
      return async (url) => (await request(url, { dispatcher })).body.dump()
    },
    politeInterceptor: (gate) => {
      const agent = new UndiciAgent()
      onTestFinished(() => agent.close())
      const dispatcher = agent.compose(politeInterceptor(gate))
      return async (url) => (await request(url, { dispatcher })).body.dump()
    },
    politeHttpAgent: (gate) => {
      const agent = politeHttpAgent(new Agent({ keepAlive: true }), gate)
      onTestFinished(() => agent.destroy())
      return (url) => getBody(url, { agent })
    },
    ...Object.fromEntries(
      kits.map(({ name, fetch }) => [
        `politely(${name})`,
        (gate: PoliteGate) => {
          const politeFetch = politely(fetch, { gate })
          return async (url: string) => (await politeFetch(url)).text()
        },
      ]),
    ),
    'permit.run with node:https': (gate) => async (url) => {
      using permit = await gate.enter(url)
      await permit.run(() => getBody(url))
    },
  }

  const rows = Object.entries(senders).flatMap(([name, open]) => [
    { name, open, handshakeMs: DELAY_MS / 2 },
    { name, open, handshakeMs: 3 * DELAY_MS },
  ])

  test.each(rows)('$name: the delay begins after a handshake of $handshakeMs ms', async ({ open, handshakeMs }) => {
    vi.stubEnv('NODE_TLS_REJECT_UNAUTHORIZED', '0')
    const warning = vi.spyOn(process, 'emitWarning').mockReturnValue() // of Node, about that variable
    onTestFinished(() => {
      vi.unstubAllEnvs()
      warning.mockRestore()
    })
    const certificate = selfSigned('localhost')
    const context = createSecureContext(certificate)
    const handshakes: number[] = []
    const server = createServer(
      {
        ...certificate,
        SNICallback: (_, done) => {
          setTimeout(() => {
            handshakes.push(clock())
            done(null, context)
          }, handshakeMs)
        },
      },
      (_, response) => response.end('x'),
    )
    onTestFinished(async () => {
      server.closeAllConnections()
      await new Promise((closed) => server.close(closed))
    })
    await once(server.listen(0, '127.0.0.1'), 'listening')
    const { port } = server.address() as AddressInfo
    const gate = openGate({ minDelayMs: DELAY_MS })
    const starts: number[] = []
    onTestFinished(listenTo('politely:gate:start', gate, ({ at }) => void starts.push(at)))

    const send = open(gate)
    await Promise.all(['/1', '/2'].map((path) => send(`https://localhost:${port}${path}`)))

    expect(starts).toHaveLength(2)
    expect((starts[1] as number) - (handshakes[0] as number)).toBeGreaterThanOrEqual(DELAY_MS)
  })
})

describe('a permit', () => {
  const URL = 'https://example.com/page'
  const never = () => new Promise<never>(() => undefined)
  const advance = (ms: number) => vi.advanceTimersByTimeAsync(ms)
  const now = () => Date.now()

  beforeEach(() => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'Date'] })
  })
  afterEach(() => {
    vi.useRealTimers()
  })

  /** Enters the gate. Returns a list that gets the permit. */
  function enter(gate: PoliteGate): Permit[] {
    const permits: Permit[] = []
    gate.enter(URL).then(
      (permit) => permits.push(permit),
      () => undefined, // the gate was closed
    )
    return permits
  }

  test('a request that has not been sent delays the next one', async () => {
    const gate = openGate({ now, minDelayMs: 1_000 })
    const first = await gate.enter(URL)
    void first.run(never)
    const second = enter(gate)
    await advance(3_500)
    expect(second).toEqual([])
    first.sent()
    await advance(999)
    expect(second).toEqual([])
    await advance(1)
    expect(second).toMatchObject([{ waitedMs: 4_500, waitedFor: 'own-delay', waitedLevel: 'origin' }])
  })

  test('it delays the next one by at most ten seconds', async () => {
    const gate = openGate({ now, minDelayMs: 1_000 })
    void (await gate.enter(URL)).run(never)
    const second = enter(gate)
    await advance(9_999)
    expect(second).toEqual([])
    await advance(1)
    expect(second).toHaveLength(1)
  })

  test.each(['release', 'report'] as const)('it delays the next one only until its %s', async (end) => {
    const gate = openGate({ now, minDelayMs: 1_000 })
    const first = await gate.enter(URL)
    void first.run(never)
    const second = enter(gate)
    await advance(1_500)
    expect(second).toEqual([])
    first[end]({ status: 200, headers: {} })
    await advance(1_000)
    expect(second).toHaveLength(1)
  })

  test('a request does not delay the next one if the HTTP client did not show the sending of the last one', async () => {
    const gate = openGate({ now, minDelayMs: 1_000, maxConcurrentPerKey: 8 })
    const first = await gate.enter(URL)
    void first.run(never)
    first.report({ status: 200, headers: {} })
    await advance(1_000)
    const second = await gate.enter(URL)
    void second.run(never)
    const third = enter(gate)
    await advance(1_000)
    expect(third).toHaveLength(1)
    second.sent() // the client shows it again
    await advance(1_000)
    void (await gate.enter(URL)).run(never)
    const fifth = enter(gate)
    await advance(3_000)
    expect(fifth).toEqual([])
  })

  test('another request of the same `send` does not wait for the sending of the first one', async () => {
    const gate = openGate({ now, minDelayMs: 1_000 })
    const first = await gate.enter(URL)
    const token = first.run(() => gate.enter('https://example.com/token'))
    await advance(1_000)
    expect((await token).waitedMs).toBe(1_000)
  })

  test('a pacer is told that a request was sent only if `startWithinMs` is over', async () => {
    const told: Ticket[] = []
    const local = new LocalPacer(now)
    const pacer: Pacer = {
      reserve: (key, limits) => ({ ...local.reserve(key, limits), startWithinMs: 20 }),
      sent: (_, ticket) => void told.push(ticket),
      cancel: (...args) => local.cancel(...args),
      report: (...args) => local.report(...args),
      end: (...args) => local.end(...args),
      estimate: (...args) => local.estimate(...args),
    }
    const gate = openGate({ now, pacer, minDelayMs: 1_000 })
    for (const connectsMs of [20, 21]) {
      using permit = await gate.enter(URL)
      await advance(connectsMs)
      permit.sent()
      await advance(1_000)
    }
    expect(told).toEqual([2])
  })

  test('a pacer with `awaitsSent` is told of each request: when it is sent, or its response arrives, or it ends', async () => {
    const told: [Ticket, number][] = []
    const seesSending: (boolean | undefined)[] = []
    const local = new LocalPacer(now)
    const pacer: Pacer = {
      reserve: (key, limits, _ticket, _furtherSlots, sees) => {
        const reply = local.reserve(key, limits)
        if (reply.kind === 'slot') seesSending.push(sees)
        return { ...reply, startWithinMs: 20, awaitsSent: true }
      },
      sent: (_, ticket) => void told.push([ticket, now()]),
      cancel: (...args) => local.cancel(...args),
      report: (...args) => local.report(...args),
      end: (...args) => local.end(...args),
      estimate: (...args) => local.estimate(...args),
    }
    const gate = openGate({ now, pacer, minDelayMs: 1_000 })
    const tell: ((permit: Permit) => void)[] = [
      (permit) => permit.sent(),
      (permit) => permit.report({ status: 200, headers: {} }),
      (permit) => permit.release({ status: 200, headers: {} }),
      (permit) => permit.release(),
    ]
    const startedAt: number[] = []
    for (const each of tell) {
      const permit = await gate.enter(URL)
      startedAt.push(now())
      await advance(10)
      each(permit)
      permit.release()
      await advance(1_000)
    }
    expect(told.map(([, at]) => at)).toEqual(startedAt.map((at) => at + 10))
    expect(new Set(told.map(([ticket]) => ticket)).size).toBe(tell.length)
    // The second response arrived although the gate had not seen its request being sent.
    expect(seesSending).toEqual([true, true, false, false])
  })

  test('a site whose client does not show when it sends changes nothing for other sites', async () => {
    const gate = openGate({ now, minDelayMs: 1_000 })
    using hidden = await gate.enter('https://hidden.example/')
    void hidden.run(() => undefined)
    hidden.report({ status: 200, headers: {} })
    const first = await gate.enter(URL)
    void first.run(() => undefined)
    const second = gate.enter(URL)
    await advance(5_000)
    first.sent()
    await advance(1_000)
    expect((await second).waitedMs).toBe(6_000)
  })

  test('without `run`, the delay counts from `sent` too, but the next request does not wait for it', async () => {
    const gate = openGate({ now, minDelayMs: 1_000 })
    const first = await gate.enter(URL)
    const second = enter(gate)
    await advance(400)
    first.sent()
    await advance(999)
    expect(second).toEqual([])
    await advance(1)
    expect(second).toHaveLength(1)
    const third = enter(gate)
    first.release()
    await advance(1_000)
    expect(third).toHaveLength(1)
  })

  test('`sent` counts once, and not after the response', async () => {
    const gate = openGate({ now, minDelayMs: 1_000 })
    const first = await gate.enter(URL)
    first.sent()
    await advance(600)
    first.sent()
    first.report({ status: 200, headers: {} })
    first.sent()
    first.release()
    first.sent()
    await advance(400)
    expect((await gate.enter(URL)).waitedMs).toBe(0)
  })
})

test('a request of node:http is seen as sent on a connection that other code has opened', async () => {
  const server = http.createServer((_, response) => response.end('x'))
  onTestFinished(() => void server.close())
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const { port } = server.address() as AddressInfo
  const url = `http://127.0.0.1:${port}/`
  const pacer = new LocalPacer()
  const sent = vi.spyOn(pacer, 'sent')
  const gate = openGate({ pacer, minDelayMs: 1 })
  using permit = await gate.enter(url)
  const socket = connect(port, '127.0.0.1') // its events are of this context
  const [response] = await permit.run(() => once(http.get(url, { createConnection: () => socket }), 'response'))
  response.resume()
  expect(sent).toHaveBeenCalledOnce()
})
