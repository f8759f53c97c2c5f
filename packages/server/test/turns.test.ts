// The work of a server is shared by tenant, and then by client.
import type { ClientVerdict } from '@politely/fetcher'
import { expect, test } from 'vitest'
import { RobotsFetches } from '../src/permits/robots-fetches.ts'
import { CallTurns, COST_OF_GRANT, FairQueue, Turns } from '../src/turns.ts'
import { deskKit } from './kit.ts'

test('a queue takes from one tenant after another, and from one client after another', () => {
  const queue = new FairQueue<string>()
  for (const item of ['a1', 'a2', 'a3']) queue.add('A', 'loud', item)
  queue.add('A', 'quiet', 'a4')
  for (const item of ['b1', 'b2']) queue.add('B', '', item)
  queue.add('A', 'loud', 'a0', true)
  const taken = Array.from({ length: 8 }, () => queue.take())
  expect(taken).toEqual(['a0', 'b1', 'a4', 'b2', 'a1', 'a2', 'a3', undefined])
})

test('a turn has 128 URLs or 64 grants, and ends when the event loop goes on', async () => {
  const turns = new Turns()
  const [one, two] = [new CallTurns(turns, 'A'), new CallTurns(turns, 'A')]
  const seen: string[] = []
  const work = async (name: string, call: CallTurns, urls: number) => {
    for (let n = 1; n <= urls; n++) {
      const turn = call.next()
      if (turn !== undefined) await turn.then(() => seen.push(`${name} ${n}`))
    }
  }
  await Promise.all([work('one', one, 258), work('two', two, 1)])
  expect(seen).toEqual(['one 1', 'one 129', 'one 257', 'two 1']) // a call that has begun goes on
  await new Promise(setImmediate)
  let grants = 1
  await one.next(COST_OF_GRANT)
  while (one.next(COST_OF_GRANT) === undefined) grants++
  expect(grants).toBe(64)
})

test.each(['tenants', 'clients'])('large batches of one of two %s do not hold up a URL of the other', async (kind) => {
  const { ask, tenant } = await deskKit('', { maxConcurrent: 100_000, maxConcurrentPerKey: 100_000 })
  const [loud, quiet] =
    kind === 'tenants'
      ? [{ tenant: tenant('loud') }, { tenant: tenant('quiet') }]
      : [{ client: 'loud' }, { client: 'quiet' }]
  let batches = 0
  const flood = Array.from({ length: 20 }, () => ask(Array(500).fill('/a'), loud).then(() => batches++))
  await ask(['/b'], quiet)
  expect(batches).toBeLessThanOrEqual(1)
  await Promise.all(flood)
})

/** Fetches of robots.txt that end when the test says so. */
function fetchKit(isShared: boolean) {
  const fetches = new RobotsFetches(() => isShared)
  const started: string[] = []
  const end = new Map<string, () => void>()
  const join = (tenant: string, client: string, count: number) =>
    Array.from({ length: count }, (_, n) => {
      const name = `${tenant} ${client} ${n}`
      return fetches.join(tenant, client, `${n}`, () => {
        started.push(name)
        return new Promise<ClientVerdict>((resolve) => end.set(name, () => resolve({} as ClientVerdict)))
      })
    })
  const startedBy = (caller: string) => started.filter((name) => name.startsWith(caller)).length
  return { join, startedBy, end }
}

test('slow robots.txt of one client leave room for the next client', async () => {
  const { join, startedBy, end } = fetchKit(false)
  const [first] = join('A', 'slow', 500)
  const quick = join('A', 'quick', 5)
  await Promise.resolve()
  expect([startedBy('A slow'), startedBy('A quick')]).toEqual([134, 5])
  expect(quick.at(-1)?.count).toBe(5) // the time to wait grows with its own fetches only
  end.get('A slow 0')?.()
  await first?.fetch
  await new Promise(setImmediate)
  expect(startedBy('A slow')).toBe(134)
})

test('a tenant has at most 10,000 fetches, and one client leaves some of them to the next', () => {
  const { join } = fetchKit(false)
  const counts = ['a', 'b', 'c'].map((client) => join('A', client, 10_000).filter(({ fetch }) => fetch).length)
  expect(counts).toEqual([6_667, 2_222, 741])
})

test('a client that changes its name has no more fetches under way', async () => {
  const { join, startedBy } = fetchKit(true)
  for (let n = 0; n < 1_000; n++) join('A', `client-${n}`, 1)
  join('B', '', 1)
  await Promise.resolve()
  expect([startedBy('A'), startedBy('B')]).toEqual([64, 1])
})

test('slow robots.txt of one tenant leave room for another tenant', async () => {
  const { join, startedBy } = fetchKit(true)
  for (let n = 0; n < 50; n++) join('A', `client-${n}`, 10)
  join('B', '', 10)
  await Promise.resolve()
  expect(startedBy('B')).toBe(10)
  expect(startedBy('A')).toBeLessThanOrEqual(32 + 50)
})
