// How often `siteQueue` asks a pacer of another process for one permit.
import { expect, test } from 'vitest'
import { LocalPacer, type Pacer } from '../src/index.ts'
import { siteQueue } from '../src/site-queue/index.ts'
import { RemotePacer } from './remote-pacer.ts'
import { simulate } from './simulation.ts'

const LIMITS = { ownDelayMs: 3_000, maxDelayMs: undefined, crawlDelayMs: undefined }

class AskedPacer extends RemotePacer {
  override estimate(...args: Parameters<RemotePacer['estimate']>) {
    this.calls.push('estimate')
    return super.estimate(...args)
  }

  /** The calls for permits since the last time. */
  asked(): string[] {
    return this.calls.splice(0).filter((call) => /^(?:reserve|estimate|cancel|admit)/.test(call))
  }
}

/** Also keeps circuits. */
class CircuitPacer extends AskedPacer implements Pacer {
  readonly #local = new LocalPacer(() => Date.now())

  async admit(...args: Parameters<LocalPacer['admit']>) {
    this.calls.push('admit')
    return this.#local.admit(...args)
  }

  async settle(...args: Parameters<LocalPacer['settle']>) {
    return this.#local.settle(...args)
  }
}

async function start(pacer: AskedPacer, paths: readonly string[], signal?: AbortSignal) {
  const simulation = await simulate({ 'a.test': '' }, { pacer, circuit: {}, maxConcurrentPerKey: 9 })
  const urls = paths.map((path) => simulation.site.at('a.test', path))
  return {
    ...simulation,
    key: simulation.site.at('a.test', ''),
    queue: siteQueue(urls, { gate: simulation.gate, signal }),
  }
}

test('one for a URL that may start at once, and none until the next slot', async () => {
  const pacer = new AskedPacer(() => Date.now())
  const { queue, advance } = await start(pacer, ['/1', '/2'])
  await queue.next()
  const next = queue.next()
  await advance(900)
  expect(pacer.asked()).toEqual(['reserve'])
  await advance(100)
  expect(await next).toMatchObject({ done: false })
  expect(pacer.asked()).toEqual(['reserve'])
})

test('one for a URL that has to wait, whose ticket is used when its time has come', async () => {
  const pacer = new AskedPacer(() => Date.now())
  const { queue, advance, key } = await start(pacer, ['/1'])
  await pacer.reserve(key, LIMITS) // another process has the slot
  pacer.asked()
  const next = queue.next()
  await advance(2_900)
  expect(pacer.asked()).toEqual(['reserve'])
  await advance(100)
  expect(await next).toMatchObject({ done: false })
  expect(pacer.asked()).toEqual(['reserve t1'])
  expect(pacer.isIdle).toBe(true)
})

test('two with a circuit that is not known', async () => {
  const pacer = new CircuitPacer(() => Date.now())
  const { queue } = await start(pacer, ['/1'])
  await queue.next()
  expect(pacer.asked()).toEqual(['admit', 'reserve'])
})

test('one to cancel the turn of a queue that ends', async () => {
  const pacer = new AskedPacer(() => Date.now())
  const { queue, advance, key } = await start(pacer, ['/1', '/2'])
  await pacer.reserve(key, LIMITS)
  pacer.asked()
  const next = queue.next()
  await advance(10)
  await queue.return?.()
  expect(await next).toMatchObject({ done: true })
  await advance()
  expect(pacer.asked()).toEqual(['reserve', 'cancel t1'])
  expect(pacer.isIdle).toBe(true)
})

test('a slot that comes after the end of its queue is given back', async () => {
  const pacer = new AskedPacer(() => Date.now())
  const ending = new AbortController()
  const { gate, queue, advance } = await start(pacer, ['/1'], ending.signal)
  const next = queue.next()
  while (pacer.calls.length === 0) await undefined
  ending.abort('stop')
  await expect(next).rejects.toBe('stop')
  await advance()
  expect(pacer.asked()).toEqual(['reserve', 'cancel 1'])
  expect(gate.gauges).toMatchObject({ waiting: 0, underWay: 0 })
})
