// A fetch or dispatcher that asks the client that it was given to. Our choice.
import { disallowsPage } from '@politely/testkit/cases/response-cases'
import { Agent, type Dispatcher } from 'undici'
import { expect } from 'vitest'
import type { RobotsClient } from '../src/index.ts'
import { clientPort } from '../src/internal.ts'
import { test } from './with-sites.ts'

const rules = { status: 200, body: disallowsPage }
const ROBOTS = 'http://127.0.0.1:PORT/robots.txt'
const PAGE = 'http://127.0.0.1:PORT/page'

test('a fetch that checks another page of the same origin is an error, not a failure of the site', async ({
  sites,
  newClient,
}) => {
  sites.respond(ROBOTS, rules)
  let asks = true
  const client: RobotsClient = newClient({
    fetch: async (url, init) => {
      if (asks) await client.check(sites.withPort(PAGE))
      return fetch(url, init)
    },
  })
  await expect(client.check(sites.withPort(PAGE))).rejects.toMatchObject({
    code: 'ERR_POLITELY_REENTRY',
    message: expect.stringContaining('give the client a fetch or dispatcher that does not ask it'),
  })
  expect(sites.requests).toEqual([])
  asks = false
  expect(await client.check(sites.withPort(PAGE))).toMatchObject({ because: 'rule' })
})

test('a fetch that handles the error may return any response', async ({ sites, newClient }) => {
  const client: RobotsClient = newClient({
    fetch: async () => {
      await client.isAllowed(sites.withPort(PAGE)).catch(() => undefined)
      return new Response(null, { status: 404 })
    },
  })
  expect(await client.check(sites.withPort(PAGE))).toMatchObject({ because: 'unavailable' })
})

test('a dispatcher that asks the client is an error', async ({ sites, newClient, onTestFinished }) => {
  const agent = new Agent()
  onTestFinished(() => agent.close())
  const asking = (dispatch: Dispatcher.Dispatch): Dispatcher.Dispatch => {
    return (options, handler) => {
      client.check(sites.withPort(PAGE)).catch((error) => handler.onResponseError?.(undefined as never, error))
      return options.method === 'POST' && dispatch(options, handler)
    }
  }
  const client: RobotsClient = newClient({ dispatcher: agent.compose(asking) })
  await expect(client.check(sites.withPort(PAGE))).rejects.toMatchObject({ code: 'ERR_POLITELY_REENTRY' })
})

test('a fetch may check a cached origin, and isOwnRequest recognises its request', async ({ sites, newClient }) => {
  sites.respond(ROBOTS, rules)
  const own: boolean[] = []
  const client: RobotsClient = newClient({
    fetch: async (url, init) => {
      own.push(clientPort(client).isOwnRequest(String(url)), clientPort(client).isOwnRequest(sites.withPort(PAGE)))
      if (String(url).includes('localhost')) await client.check(sites.withPort(PAGE))
      return fetch(url, init)
    },
  })
  await client.check(sites.withPort(PAGE))
  expect(await client.check(sites.withPort('http://localhost:PORT/page'))).toMatchObject({ because: 'unavailable' })
  expect(own).toEqual([true, false, true, false])
  expect(clientPort(client).isOwnRequest(sites.withPort(ROBOTS))).toBe(false)
})

test('a callback that outlives the request may ask the client', async ({ sites, newClient }) => {
  sites.respond(ROBOTS, rules)
  const later = Promise.withResolvers<unknown>()
  const client: RobotsClient = newClient({
    fetch: (url, init) => {
      if (String(url).includes('localhost')) return Promise.resolve(new Response(null, { status: 404 }))
      setTimeout(() => later.resolve(client.check(sites.withPort('http://localhost:PORT/page'))), 50)
      return fetch(url, init)
    },
  })
  await client.check(sites.withPort(PAGE))
  expect(await later.promise).toMatchObject({ because: 'unavailable' })
})
