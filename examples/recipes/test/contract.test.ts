// What every adapter has to do, done by each of these recipes.
import { adapterCasesFor, playAdapter, type Visit } from '@politely/testkit/adapter-cases'
import { describe, expect, test } from 'vitest'
import { refusalIn } from '../small-web.ts'
import { openGate } from './kit.ts'
import { recipes } from './recipes.ts'

describe.each(recipes)('$name', ({ name, open }) => {
  test.each(adapterCasesFor(name))('$capability: $name', async (row) => {
    const outcome = await playAdapter(row, ({ userAgent, retries, minDelayMs }) => {
      const { gate, close } = openGate({ userAgent, retries }, { minDelayMs })
      const recipe = open(gate)
      return {
        visit: (url, signal) => seen(recipe.get(url, { signal })),
        async close() {
          await close()
          await recipe.close?.()
        },
      }
    })
    expect(outcome).toEqual(row.expected)
  })
})

async function seen(answer: Promise<number>): Promise<Visit> {
  try {
    return { kind: 'answered', status: await answer }
  } catch (error) {
    const refusal = refusalIn(error)
    if (refusal) return { kind: 'refused', verdict: refusal.verdict }
    throw error
  }
}
