// How often the client requests robots.txt. Retries wait for at least half a second, so these tests
// run concurrently.

import { checkedPage, disallowsPage } from '@politely/testkit/cases/response-cases'
import { lookupIn } from '@politely/testkit/servers/lookup'
import { type Answer, startSites } from '@politely/testkit/servers/sites'
import { expect } from 'vitest'
import { RobotsClient } from '../src/index.ts'
import { test } from './with-sites.ts'

const ROBOTS = 'http://a.test:PORT/robots.txt'
const ELSEWHERE = 'http://b.test:PORT/robots.txt'
const rules = { status: 200, body: disallowsPage }
const reset: Answer = (socket) => socket.resetAndDestroy()
const halfBody: Answer = (socket) => socket.end('HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nUser-agent: *\n')

test.concurrent.for<
  readonly [name: string, retries: number, answers: readonly Answer[], requests: number, outcome: string]
>([
  ['our choice, no retry after a success', 2, [rules], 1, 'success'],
  ['our choice, no retry after a 404', 2, [{ status: 404 }, rules], 1, 'unavailable'],
  ['our choice, no retry after a 403', 2, [{ status: 403 }, rules], 1, 'unavailable'],
  ['our choice, no retry after a redirect without Location', 2, [{ status: 302 }, rules], 1, 'unavailable'],
  ['our choice, no retry after a 304', 2, [{ status: 304 }, rules], 1, 'unreachable'],
  ['our choice, no retry after invalid HTTP', 2, [(socket) => socket.end('SSH-2.0-x\r\n'), rules], 1, 'unreachable'],
  [
    'RFC 9110 §10.2.3, no retry after a 503 with Retry-After',
    2,
    [{ status: 503, headers: { 'retry-after': '1' } }, rules],
    1,
    'unreachable',
  ],
  [
    'RFC 9110 §10.2.3, no retry after a 429 with Retry-After',
    2,
    [{ status: 429, headers: { 'retry-after': '1' } }, rules],
    1,
    'unreachable',
  ],
  ['our choice, one retry after a 500', 1, [{ status: 500 }], 2, 'unreachable'],
  ['our choice, two retries after a 500', 2, [{ status: 500 }], 3, 'unreachable'],
  ['our choice, no retry with retries: 0', 0, [{ status: 500 }, rules], 1, 'unreachable'],
  ['RFC 6585 §4, no retry after a 429', 2, [{ status: 429 }, rules], 1, 'unreachable'],
  ['our choice, a success after a 500', 2, [{ status: 500 }, rules], 2, 'success'],
  ['our choice, a 500 and then a 404', 2, [{ status: 500 }, { status: 404 }], 2, 'unavailable'],
  [
    'our choice, a 500 and then a 503 with Retry-After',
    2,
    [{ status: 500 }, { status: 503, headers: { 'retry-after': '1' } }],
    2,
    'unreachable',
  ],
  ['our choice, a reset', 1, [reset], 2, 'unreachable'],
  ['our choice, a success after a reset', 1, [reset, rules], 2, 'success'],
  ['our choice, a complete body after a truncated one', 1, [halfBody, rules], 2, 'success'],
])('%s', async ([, retries, answers, requests, outcome], { sites, newClient }) => {
  sites.respond(ROBOTS, ...answers)
  expect(await newClient({ retries }).check(sites.withPort(checkedPage))).toMatchObject({ access: { outcome } })
  expect(sites.requestedUrls).toEqual(Array(requests).fill(ROBOTS))
})

test.concurrent('our choice, after a redirect, only the last request is repeated', async ({ sites, newClient }) => {
  const within = 'http://www.a.test:PORT/robots.txt'
  sites.respond(ROBOTS, { status: 301, headers: { location: within } })
  sites.respond(within, { status: 500 }, rules)
  expect(await newClient({ retries: 1 }).check(sites.withPort(checkedPage))).toMatchObject({ because: 'rule' })
  expect(sites.requestedUrls).toEqual([ROBOTS, within, within])
})

test.concurrent.for([
  ['a 500', { status: 500 }],
  ['a 503', { status: 503 }],
  ['a reset', reset],
] as const)(
  'our choice, after a redirect to another domain, no retry: %s',
  async ([, answer], { sites, newClient }) => {
    sites.respond(ROBOTS, { status: 301, headers: { location: ELSEWHERE } })
    sites.respond(ELSEWHERE, answer, rules)
    expect(await newClient({ retries: 2 }).check(sites.withPort(checkedPage))).toMatchObject({ because: 'unreachable' })
    expect(sites.requestedUrls).toEqual([ROBOTS, ELSEWHERE])
  },
)

test.concurrent('our choice, a redirect that leads back to its own domain has retries again', async ({
  sites,
  newClient,
}) => {
  const back = 'http://www.a.test:PORT/back'
  sites.respond(ROBOTS, { status: 301, headers: { location: ELSEWHERE } })
  sites.respond(ELSEWHERE, { status: 301, headers: { location: back } })
  sites.respond(back, { status: 500 }, rules)
  expect(await newClient({ retries: 1 }).check(sites.withPort(checkedPage))).toMatchObject({ because: 'rule' })
  expect(sites.requestedUrls).toEqual([ROBOTS, ELSEWHERE, back, back])
})

test.concurrent('our choice, if the deadline passes before a retry, the last response is the reason', {
  tags: 'full',
}, async ({ sites, newClient }) => {
  sites.respond(ROBOTS, { status: 502 })
  // Retries follow after 0.5, 1.5 and 3.5 s. The deadline is far from all of them, because the
  // machine may be busy.
  const verdict = await newClient({ retries: 20, timeoutMs: 2_500 }).check(sites.withPort(checkedPage))
  expect(verdict).toMatchObject({ because: 'unreachable', access: { reason: 'status', status: 502 } })
  expect(sites.requestedUrls).toEqual([ROBOTS, ROBOTS, ROBOTS])
})

test.concurrent.for([
  ['repeats a lookup that fails temporarily', 'EAI_AGAIN', 2],
  ['does not repeat the lookup of a missing name', 'ENOTFOUND', 1],
] as const)('our choice, %s', async ([, code, lookups], { newClient }) => {
  const lookup = lookupIn({ 'away.test': code })
  let count = 0
  const client = newClient({
    retries: 1,
    lookup: (...given) => {
      count++
      lookup(...given)
    },
  })
  expect(await client.check('http://away.test/page')).toMatchObject({ because: 'unreachable' })
  expect(count).toBe(lookups)
})

test.concurrent('our choice, two retries are the default', async ({ onTestFinished }) => {
  const sites = await startSites()
  onTestFinished(() => sites.close())
  const client = new RobotsClient({ userAgent: 'ExampleBot/1.0', lookup: lookupIn() })
  onTestFinished(() => client.close())
  sites.respond(ROBOTS, { status: 500 })
  await client.check(sites.withPort(checkedPage))
  expect(sites.requestedUrls).toHaveLength(3)
})
