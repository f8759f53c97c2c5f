// Compares the queue with an array that does the same in the simplest way.
import { pick, seededRandom } from '@politely/testkit/random-robots'
import { expect, test } from 'vitest'
import { Fifo } from '../src/base/fifo.ts'

test.each([1, 2, 3])('behaves like an array, seed %i', (seed) => {
  const roll = seededRandom(seed)
  const fifo = new Fifo<number>()
  let plain: number[] = []
  for (let step = 0; step < 2_000; step++) {
    const item = Math.floor(roll() * 20)
    const act = pick(roll, ['add', 'add', 'delete', 'delete', 'shift', 'drain'] as const)
    if (act === 'add') {
      fifo.add(item)
      if (!plain.includes(item)) plain.push(item)
    } else if (act === 'drain' && roll() < 0.05) {
      expect(fifo.drain()).toEqual(plain)
      plain = []
    } else if (act !== 'drain') {
      const gone = act === 'shift' ? (fifo.first ?? -1) : item
      expect(fifo.delete(gone)).toBe(plain.includes(gone))
      plain = plain.filter((one) => one !== gone)
    }
    expect(fifo.first).toBe(plain[0])
    expect([fifo.size, fifo.has(item)]).toEqual([plain.length, plain.includes(item)])
  }
  expect(fifo.drain()).toEqual(plain)
})
