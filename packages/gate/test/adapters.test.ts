// What every adapter has to do, done by the two that others are built on.
import { adapterCasesFor, playAdapter, type Visit } from '@politely/testkit'
import { request } from 'undici'
import { expect, test } from 'vitest'
import { politeAgent, politely, RobotsDisallowedError } from '../src/index.ts'

async function seen(answer: Promise<number>): Promise<Visit> {
  try {
    return { kind: 'answered', status: await answer }
  } catch (error) {
    if (error instanceof RobotsDisallowedError) return { kind: 'refused', verdict: error.verdict }
    throw error
  }
}

test.each(adapterCasesFor('politely(fetch)'))('politely(fetch), $capability: $name', async (row) => {
  const outcome = await playAdapter(row, (settings) => {
    const fetch = politely(globalThis.fetch, settings)
    return {
      visit: (url, signal) => seen(fetch(url, { signal }).then(({ status }) => status)),
      close: () => fetch.close(),
    }
  })
  expect(outcome).toEqual(row.expected)
})

test.each(adapterCasesFor('politeAgent'))('politeAgent, $capability: $name', async (row) => {
  const outcome = await playAdapter(row, (settings) => {
    const dispatcher = politeAgent({ ...settings, maxRedirections: 5 })
    const get = async (url: string, signal: AbortSignal) => {
      const { statusCode, body } = await request(url, { dispatcher, signal })
      await body.dump()
      return statusCode
    }
    return { visit: (url, signal) => seen(get(url, signal)), close: () => dispatcher.close() }
  })
  expect(outcome).toEqual(row.expected)
})
