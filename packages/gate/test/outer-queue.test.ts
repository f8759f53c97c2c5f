// What the URLs of a `siteQueue` wait for outside of the gate, and when they go on.
import { expect, onTestFinished, test, vi } from 'vitest'
import type { PoliteGateOptions } from '../src/index.ts'
import { siteQueue } from '../src/site-queue/index.ts'
import { RemotePacer } from './remote-pacer.ts'
import { type Simulation, simulate } from './simulation.ts'

type Options = Omit<PoliteGateOptions, 'robots'>

/** Starts four consumers. Returns the yielded URLs, with the time of each. */
function crawl({ gate, site, start }: Simulation, names: readonly string[], tookMs: number) {
  const urls = names.map((name) => site.at(`${name.split('/')[0]}.test`, `/${name.split('/')[1]}`))
  const queue = siteQueue(urls, { gate })
  onTestFinished(async () => void (await queue.return?.()))
  const yielded: [path: string, atMs: number][] = []
  const work = async () => {
    for await (const { url, done } of queue) {
      yielded.push([names[urls.indexOf(url)] as string, Date.now() - start])
      const permit = await gate.enter(url)
      await new Promise((resolve) => setTimeout(resolve, tookMs))
      permit.release()
      done()
    }
  }
  for (let n = 0; n < 4; n++) void work()
  return { yielded }
}

test('a domain whose delay is over keeps no URL waiting until a request ends', async () => {
  const options: Options = { minDelayMs: 0, minDelayPerDomainMs: 1_000, pacer: new RemotePacer(() => Date.now()) }
  const simulation = await simulate({ 'a.x.test': '', 'b.x.test': '' }, options)
  const { yielded } = crawl(simulation, ['a.x/1', 'b.x/1'], 60_000)
  await simulation.advance(2_000)
  expect(yielded).toHaveLength(2)
})

test('a site goes on after the request that held its limit was aborted before its pacer replied', async () => {
  const pacer = new RemotePacer(() => Date.now())
  const simulation = await simulate({ 'a.test': '' }, { maxConcurrentPerKey: 1, pacer })
  const replied = Promise.withResolvers<void>()
  const reserve = pacer.reserve.bind(pacer)
  vi.spyOn(pacer, 'reserve').mockImplementationOnce(async (...given) => replied.promise.then(() => reserve(...given)))
  const controller = new AbortController()
  const other = simulation.enter('other', 'a.test', controller.signal)
  const { yielded } = crawl(simulation, ['a/1'], 10)
  await simulation.advance(100)
  controller.abort('no')
  await expect(other).rejects.toBe('no')
  await simulation.advance(100)
  expect(yielded).toEqual([])
  replied.resolve()
  await simulation.advance(5_000)
  expect(yielded).toHaveLength(1)
})

test('the delay of a domain holds up no other domain of the same pace key', async () => {
  const options: Options = { minDelayMs: 0, minDelayPerDomainMs: 5_000, paceBy: () => 'one' }
  const simulation = await simulate({ 'a.test': '', 'b.test': '', 'c.test': '' }, options)
  const { yielded } = crawl(simulation, ['a/1', 'b/1', 'c/1', 'a/2'], 10)
  await simulation.advance(5_100)
  expect(yielded.map(([name, atMs]) => [name, Math.floor(atMs / 1_000)])).toEqual([
    ['a/1', 0],
    ['b/1', 0],
    ['c/1', 0],
    ['a/2', 5],
  ])
})

test('the visit time of an origin holds up no other origin of the same pace key', async () => {
  const hosts = { 'a.x.test': 'Visit-time: 0600-0700', 'b.x.test': '' }
  const simulation = await simulate(hosts, { minDelayMs: 1_000, paceBy: () => 'one' })
  const { yielded } = crawl(simulation, ['a.x/1', 'b.x/1', 'b.x/2'], 10)
  await simulation.advance(5_000)
  expect(yielded.map(([name]) => name)).toEqual(['b.x/1', 'b.x/2'])
  await simulation.advance(6 * 3_600_000)
  expect(yielded).toHaveLength(3)
})
