// A gate caches what it knows about the last thousand origins. Requests that wait keep their limits,
// their lanes and their order when it forgets their origins.
import { setTimeout as sleep } from 'node:timers/promises'
import { RobotsClient } from '@politely/fetcher'
import { expect, onTestFinished, test } from 'vitest'
import { type Permit, PoliteGate, type PoliteGateOptions } from '../src/index.ts'

/** More origins than the gate caches. */
const MANY = 1_100

function gateWith(options: Omit<PoliteGateOptions, 'robots'>): PoliteGate {
  const robots = new RobotsClient({ userAgent: 'ExampleBot/1.0', fetch: async () => new Response('') })
  const gate = new PoliteGate({ robots, ...options })
  onTestFinished(async () => {
    gate.close()
    await robots.close()
  })
  return gate
}

const visit = async (gate: PoliteGate, url: string) => (await gate.enter(url)).release()

test.each(['big.test', 'github.io'])(
  'the limit for %s holds for requests whose origins were forgotten',
  async (domain) => {
    const maxConcurrentPerDomain = 2
    const gate = gateWith({ minDelayMs: 500, maxConcurrent: 4, maxConcurrentPerDomain })
    const hosts = (name: string) => Array.from({ length: 6 }, (_, n) => `https://${name}${n}.${domain}/`)
    let [open, most] = [0, 0]
    const hold = async (entering: Promise<Permit>) => {
      const permit = await entering
      most = Math.max(most, ++open)
      await sleep(30)
      open--
      permit.release()
    }
    for (const host of hosts('h')) await visit(gate, host)
    const waiting = hosts('h').map((host) => hold(gate.enter(host)))
    for (let n = 0; n < MANY; n++) await visit(gate, `https://other${n}.test/`)
    await Promise.all([...waiting, ...hosts('n').map((host) => hold(gate.enter(host)))])
    // Each site of a platform may have two requests, and the platform half of `maxConcurrent`.
    expect(most).toBe(maxConcurrentPerDomain)
    expect(gate.queues()).toEqual([])
  },
)

test('a request keeps its lane while the gate forgets its origin before it has an address', async () => {
  const addresses = new Map<string, string>()
  const gate = gateWith({
    minDelayMs: 0,
    maxConcurrent: 2 * MANY,
    maxConcurrentPerKey: 1,
    maxConcurrentPerAddress: 2 * MANY,
    lookup: (host, _, callback) => {
      addresses.set(host, '192.0.2.1')
      setImmediate(callback as never, null, [{ address: '192.0.2.1', family: 4 }])
    },
  })
  const urls = Array.from({ length: MANY }, (_, n) => `https://site${n}.test/`)
  for (const url of urls) await visit(gate, url)
  const [first, second] = [urls, urls].map((each) => each.map((url) => gate.enter(url)))
  const permits = await Promise.all(first as Promise<Permit>[])
  const ended = Promise.allSettled(second as Promise<Permit>[])
  await expect.poll(() => gate.gauges.waiting).toBe(MANY)
  gate.close()
  expect((await ended).every(({ status }) => status === 'rejected')).toBe(true)
  for (const permit of permits) permit.release()
  expect(gate.queues()).toEqual([])
  expect(addresses.size).toBe(MANY)
})

test.each([0, 20])(
  'with minDelayMs %i, requests start in order of arrival, with whatever options',
  async (minDelayMs) => {
    const gate = gateWith({ minDelayMs })
    const { signal } = new AbortController()
    const redirectedFrom = ['https://b.test/']
    await visit(gate, 'https://a.test/0')
    const started: number[] = []
    const each = [{ signal }, {}, { redirectedFrom }, { signal, redirectedFrom }, { maxWaitMs: 60_000 }, { signal }, {}]
    await Promise.all(
      each.map(async (options, n) => {
        const permit = await gate.enter(`https://a.test/${n}`, options)
        started.push(n)
        permit.release()
      }),
    )
    expect(started).toEqual(each.map((_, n) => n))
  },
)

test('a permit is logged with its verdict', async () => {
  const gate = gateWith({ minDelayMs: 0 })
  using permit = await gate.enter('https://a.test/1')
  expect(JSON.parse(JSON.stringify(permit))).toMatchObject({
    url: 'https://a.test/1',
    key: 'https://a.test',
    verdict: { allowed: true, because: 'no-group' },
    waitedFor: 'none',
  })
})
