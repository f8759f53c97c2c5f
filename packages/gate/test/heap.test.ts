// @module-tag heap
// @module-tag full
import type { PaceLimits } from '@politely/core/engine'
import { RobotsClient } from '@politely/fetcher'
import { heapBytes, heldBytes } from '@politely/testkit/heap'
import { seededIntegers } from '@politely/testkit/random-robots'
import { expect, it } from 'vitest'
import { LocalPacer, PoliteGate } from '../src/index.ts'
import { lookup, Site } from './site.ts'

const limits: PaceLimits = { ownDelayMs: 1_000, maxDelayMs: undefined, crawlDelayMs: undefined }
const REQUESTS = 10_000

it.for([
  ['200 bytes for each origin with a delay to keep', 20, 200],
  ['430 bytes if its name is as long as a host name can be', 253, 430],
] as const)('LocalPacer keeps about %s', async ([, length, bytes]) => {
  const keys = 20_000
  const held = await heldBytes(() => {
    const pacer = new LocalPacer()
    for (let n = 0; n < keys; n++) {
      const host = `${n}.test`.padStart(length, 'a')
      pacer.reserve(Buffer.from(`http://${host}`).toString(), limits) // a string without parts
    }
    return pacer
  })
  expect(held / keys).toBeGreaterThan(0.5 * bytes)
  expect(held / keys).toBeLessThan(1.2 * bytes)
})

it('a gate frees the memory of ten thousand requests that were aborted while they waited', async () => {
  const site = await Site.open({ '*': 'User-agent: *\nCrawl-delay: 3600\n' })
  const robots = new RobotsClient({ userAgent: 'ExampleBot/1.0', lookup, network: 'any' })
  const gate = new PoliteGate({ robots })
  const url = site.at('a.test', '/page')
  ;(await gate.enter(url)).release() // from now on every request waits for an hour
  const abortMany = async () => {
    const random = seededIntegers(1)
    const controllers = Array.from({ length: REQUESTS }, () => new AbortController())
    const outcomes = Promise.allSettled(controllers.map(({ signal }) => gate.enter(url, { signal })))
    await gate.when(url)
    expect(gate.queues()).toMatchObject([{ waiting: REQUESTS }])
    while (controllers.length > 0) controllers.splice(random(controllers.length), 1)[0]?.abort()
    expect((await outcomes).every(({ status }) => status === 'rejected')).toBe(true)
  }
  for (let times = 0; times < 4; times++) await abortMany() // warm up: compiled code, and collections that grow once
  const before = await heapBytes()
  for (let times = 0; times < 3; times++) await abortMany()
  const perCaller = ((await heapBytes()) - before) / (3 * REQUESTS)
  expect(perCaller).toBeLessThan(30) // less than the size of one permit
  expect(gate.queues()).toEqual([])
  gate.close()
  await robots.close()
  await site.close()
})
