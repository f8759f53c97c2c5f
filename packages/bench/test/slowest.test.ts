import { expect, it } from 'vitest'
import { slowestOf } from '../src/slowest.ts'

it('takes nobody at the word of one measurement', async () => {
  const again: number[] = []
  const truth = [0.5, 0.9, 0.4, 1.3, 0.8]
  const found = await slowestOf([0.5, 1.6, Number.NaN, 1.4, 0.81], async (file) => {
    again.push(file)
    return truth[file] as number
  })
  expect(found).toEqual({ file: 3, ratio: 1.3, slower: 1 })
  expect(again).toEqual([1, 3]) // the others are better than the worst that was measured again
})
