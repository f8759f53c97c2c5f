// @module-tag full
import { expect, it } from 'vitest'
import { findSlowestFile } from '../src/slowest-file.ts'

it('measures the worst files again before it reports one', async () => {
  const measuredAgain: number[] = []
  const truth = [0.5, 0.9, 0.4, 1.3, 0.8]
  const found = await findSlowestFile([0.5, 1.6, Number.NaN, 1.4, 0.81], async (file) => {
    measuredAgain.push(file)
    return truth[file] as number
  })
  expect(found).toEqual({ file: 3, ratio: 1.3, slower: 1 })
  expect(measuredAgain).toEqual([1, 3]) // the other files have better ratios than the worst new one
})
