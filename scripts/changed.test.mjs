// @module-tag full
import { expect, test } from 'vitest'
import { createVitest } from 'vitest/node'

test('`vitest --changed` runs the tests of the packages above a changed file', async () => {
  const related = ['packages/core/src/match/pattern.ts']
  const vitest = await createVitest('test', { related, watch: false, reporters: [] })
  try {
    const ofFiles = ['packages/gate/test/pacing.test.ts', 'scripts/workflows.test.mjs']
    const selected = await vitest.getRelevantTestSpecifications(ofFiles)
    expect(selected.map(({ moduleId }) => moduleId)).toEqual([expect.stringContaining(ofFiles[0])])
  } finally {
    await vitest.close()
  }
})
