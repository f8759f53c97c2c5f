// @module-tag nodes
// Runs the adapter cases with the three wrappers that the other adapters are built on.
import { once } from 'node:events'
import { Agent, get } from 'node:http'
import { adapterCasesFor, runAdapterCase, type Visit } from '@politely/testkit/cases/adapter-cases'
import { request } from 'undici'
import { expect, test } from 'vitest'
import { politeHttpAgent, politely, RobotsDisallowedError, resolveGate } from '../src/index.ts'
import { politeAgent } from '../src/undici/index.ts'

async function visitResult(response: Promise<number>): Promise<Visit> {
  try {
    return { kind: 'answered', status: await response }
  } catch (error) {
    if (error instanceof RobotsDisallowedError) return { kind: 'refused', verdict: error.verdict }
    throw error
  }
}

test.each(adapterCasesFor('politely(fetch)'))('politely(fetch), $capability: $name', async (row) => {
  const outcome = await runAdapterCase(row, (settings) => {
    const fetch = politely(globalThis.fetch, settings)
    return {
      visit: (url, signal) => visitResult(fetch(url, { signal }).then(({ status }) => status)),
      close: () => fetch.close(),
    }
  })
  expect(outcome).toEqual(row.expected)
})

test.each(adapterCasesFor('politeAgent'))('politeAgent, $capability: $name', async (row) => {
  const outcome = await runAdapterCase(row, (settings) => {
    const dispatcher = politeAgent({ ...settings, maxRedirections: 5 })
    const get = async (url: string, signal: AbortSignal) => {
      const { statusCode, body } = await request(url, { dispatcher, signal })
      await body.dump()
      return statusCode
    }
    return { visit: (url, signal) => visitResult(get(url, signal)), close: () => dispatcher.close() }
  })
  expect(outcome).toEqual(row.expected)
})

test.each(adapterCasesFor('politeHttpAgent'))('politeHttpAgent, $capability: $name', async (row) => {
  const outcome = await runAdapterCase(row, (settings) => {
    const { gate, close } = resolveGate(settings)
    const agent = politeHttpAgent(new Agent(), gate)
    // node:http does not follow redirects, so this code does.
    const visit = async (url: string, signal: AbortSignal): Promise<number> => {
      const request = get(url, { agent, signal }).on('response', (response) => response.resume())
      const [{ statusCode, headers }] = await once(request, 'response')
      return headers.location === undefined ? statusCode : visit(new URL(headers.location, url).href, signal)
    }
    return { visit: (url, signal) => visitResult(visit(url, signal)), close }
  })
  expect(outcome).toEqual(row.expected)
})
