// A process that closes gates and clients while something they wait for does not respond. After
// each `close` it prints which resources keep it alive. It ends when none is left. Node does not
// list the queries of `dnsLookup`: if they are not cancelled, the process ends late.
import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import type { LookupFunction } from 'node:net'
import { setImmediate } from 'node:timers/promises'
import { dnsLookup, RobotsClient, type Store } from '@politely/fetcher'
import { type PacingOptions, PoliteGate } from '@politely/gate'
import { politeAgent } from '@politely/gate/undici'
import { fetch } from 'undici'

const userAgent = 'ExampleBot/1.0'
const never = new Promise<never>(() => undefined)
const nothing = async () => undefined

const nameServer = createSocket('udp4').unref().bind(0, '127.0.0.1')
await once(nameServer, 'listening')
const newDnsLookup = () => {
  const servers = [`127.0.0.1:${nameServer.address().port}`]
  return dnsLookup({ servers, timeoutMs: 60_000 })
}
const isQueried = () => once(nameServer, 'message')
/** Several hosts of one domain, whose lookups run one after the other. */
const urls = Array.from({ length: 5 }, (_, i) => `http://h${i}.example.com/`)

/** What is under way, and how to close it. */
interface Case {
  readonly pending: readonly Promise<unknown>[]
  readonly isAsked: Promise<unknown>
  close(): Promise<void>
}

function gateWith(pacing: PacingOptions & { readonly lookup?: LookupFunction }): PoliteGate {
  const robots = new RobotsClient({ userAgent, fetch: async () => new Response(null, { status: 404 }) })
  return new PoliteGate({ robots, ...pacing })
}

async function closeGate(gate: PoliteGate): Promise<void> {
  gate.close()
  await gate.robots.close()
}

function withStore(methods: (hang: () => Promise<never>) => Partial<Store>): Case {
  const asked = Promise.withResolvers<void>()
  const hang = () => {
    asked.resolve()
    return never
  }
  const store = { get: nothing, set: nothing, delete: nothing, ...methods(hang) }
  const robots = new RobotsClient({ userAgent, store, fetch: async () => new Response(null, { status: 404 }) })
  return { pending: [robots.check('http://example.com/')], isAsked: asked.promise, close: () => robots.close() }
}

const cases: Readonly<Record<string, () => Case | Promise<Case>>> = {
  'a lookup for the pace': () => {
    const asked = Promise.withResolvers<void>()
    const gate = gateWith({ paceBy: 'address', lookup: () => asked.resolve() })
    return { pending: [gate.enter('http://example.com/')], isAsked: asked.promise, close: () => closeGate(gate) }
  },
  'a delay of an origin, and one of a domain': async () => {
    const gate = gateWith({ minDelayMs: 600_000, minDelayPerDomainMs: 600_000 })
    ;(await gate.enter('http://a.example.com/')).release()
    const pending = ['a', 'b'].map((host) => gate.enter(`http://${host}.example.com/`))
    return { pending, isAsked: setImmediate(), close: () => closeGate(gate) }
  },
  'a read of the store': () => withStore((hang) => ({ get: hang })),
  'a release of a lease': () => withStore((hang) => ({ lease: async () => ({ release: hang }) })),
  'DNS queries for the pace': () => {
    const gate = gateWith({ paceBy: 'address', lookup: newDnsLookup() })
    return { pending: urls.map((url) => gate.enter(url)), isAsked: isQueried(), close: () => closeGate(gate) }
  },
  'DNS queries for robots.txt': () => {
    const robots = new RobotsClient({ userAgent, lookup: newDnsLookup() })
    return { pending: urls.map((url) => robots.check(url)), isAsked: isQueried(), close: () => robots.close() }
  },
  'DNS queries for a page': () => {
    const gate = gateWith({})
    const dispatcher = politeAgent({ gate, lookup: newDnsLookup() })
    const close = async () => {
      await dispatcher.destroy()
      await closeGate(gate)
    }
    return { pending: urls.map((url) => fetch(url, { dispatcher })), isAsked: isQueried(), close }
  },
}

for (const [name, start] of Object.entries(cases)) {
  const { pending, isAsked, close } = await start()
  const outcomes = Promise.allSettled(pending)
  await isAsked
  await close()
  await outcomes
  for (let turn = 0; turn < 3; turn++) await setImmediate() // destroyed sockets close in the next turns of the event loop
  const kept = process.getActiveResourcesInfo().filter((kind) => kind !== 'PipeWrap' && kind !== 'Immediate')
  console.log(`${name}: ${kept.join() || 'nothing'}`)
}
