// @module-tag nodes
// Runs the tests of all adapters on each recipe.
import { adapterCasesFor, runAdapterCase, type Visit } from '@politely/testkit/cases/adapter-cases'
import { describe, expect, test } from 'vitest'
import { findRefusal } from '../demo.ts'
import { recipes } from './recipes.ts'
import { openGate } from './test-web.ts'

describe.each(recipes)('$name', ({ name, open }) => {
  test.each(adapterCasesFor(name))('$capability: $name', async (row) => {
    const outcome = await runAdapterCase(row, ({ userAgent, retries, minDelayMs }) => {
      const { gate, close } = openGate({ userAgent, retries }, { minDelayMs })
      const recipe = open(gate)
      return {
        visit: (url, signal) => visitOutcome(recipe.get(url, { signal })),
        async close() {
          await close()
          await recipe.close?.()
        },
      }
    })
    expect(outcome).toEqual(row.expected)
  })
})

async function visitOutcome(response: Promise<number>): Promise<Visit> {
  try {
    return { kind: 'answered', status: await response }
  } catch (error) {
    const refusal = findRefusal(error)
    if (refusal) return { kind: 'refused', verdict: refusal.verdict }
    throw error
  }
}
