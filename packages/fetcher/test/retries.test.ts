// How often robots.txt is asked for. Retries wait for half a second and more, so these tests run side by side.
import { lookupIn } from '@politely/testkit/lookup'
import { askedPage, forbidsPage } from '@politely/testkit/response-cases'
import { type Answer, startSites } from '@politely/testkit/sites'
import { expect } from 'vitest'
import { RobotsClient } from '../src/index.ts'
import { test } from './with-sites.ts'

const ROBOTS = 'http://a.test:PORT/robots.txt'
const ELSEWHERE = 'http://b.test:PORT/robots.txt'
const rules = { status: 200, body: forbidsPage }
const reset: Answer = (socket) => socket.resetAndDestroy()
const halfBody: Answer = (socket) => socket.end('HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nUser-agent: *\n')

test.concurrent.for<
  readonly [name: string, retries: number, answers: readonly Answer[], requests: number, outcome: string]
>([
  ['our choice, never after a success', 2, [rules], 1, 'success'],
  ['our choice, never after a 404', 2, [{ status: 404 }, rules], 1, 'unavailable'],
  ['our choice, never after a 403', 2, [{ status: 403 }, rules], 1, 'unavailable'],
  ['our choice, never after a redirect without Location', 2, [{ status: 302 }, rules], 1, 'unavailable'],
  ['our choice, never after a 304', 2, [{ status: 304 }, rules], 1, 'unreachable'],
  ['our choice, not after what is no HTTP', 2, [(socket) => socket.end('SSH-2.0-x\r\n'), rules], 1, 'unreachable'],
  [
    'RFC 9110 §10.2.3, not when a 503 says when',
    2,
    [{ status: 503, headers: { 'retry-after': '1' } }, rules],
    1,
    'unreachable',
  ],
  [
    'RFC 9110 §10.2.3, not when a 429 says when',
    2,
    [{ status: 429, headers: { 'retry-after': '1' } }, rules],
    1,
    'unreachable',
  ],
  ['our choice, once more after a 500, and no more', 1, [{ status: 500 }], 2, 'unreachable'],
  ['our choice, twice more after a 500, and no more', 2, [{ status: 500 }], 3, 'unreachable'],
  ['our choice, not at all', 0, [{ status: 500 }, rules], 1, 'unreachable'],
  ['our choice, a 429 without Retry-After', 1, [{ status: 429 }], 2, 'unreachable'],
  ['our choice, a 500 that passes', 2, [{ status: 500 }, rules], 2, 'success'],
  ['our choice, a 500 and then a 404', 2, [{ status: 500 }, { status: 404 }], 2, 'unavailable'],
  [
    'our choice, a 500 and then a 503 that says when',
    2,
    [{ status: 500 }, { status: 503, headers: { 'retry-after': '1' } }],
    2,
    'unreachable',
  ],
  ['our choice, a reset', 1, [reset], 2, 'unreachable'],
  ['our choice, a reset that passes', 1, [reset, rules], 2, 'success'],
  ['our choice, half a body that is whole the next time', 1, [halfBody, rules], 2, 'success'],
])('%s', async ([, retries, answers, requests, outcome], { sites, newClient }) => {
  sites.answer(ROBOTS, ...answers)
  expect(await newClient({ retries }).check(sites.withPort(askedPage))).toMatchObject({ access: { outcome } })
  expect(sites.asked).toEqual(Array(requests).fill(ROBOTS))
})

test.concurrent('our choice, behind a redirect only the last request is made again', async ({ sites, newClient }) => {
  sites.answer(ROBOTS, { status: 301, headers: { location: ELSEWHERE } })
  sites.answer(ELSEWHERE, { status: 500 }, rules)
  expect(await newClient({ retries: 1 }).check(sites.withPort(askedPage))).toMatchObject({ because: 'rule' })
  expect(sites.asked).toEqual([ROBOTS, ELSEWHERE, ELSEWHERE])
})

test.concurrent('our choice, a deadline in the wait for the next try: what the site said last is the reason', async ({
  sites,
  newClient,
}) => {
  sites.answer(ROBOTS, { status: 502 })
  const verdict = await newClient({ retries: 20, timeoutMs: 400 }).check(sites.withPort(askedPage))
  expect(verdict).toMatchObject({ because: 'unreachable', access: { reason: 'status', status: 502 } })
  expect(sites.asked).toEqual([ROBOTS])
})

test.concurrent.for([
  ['a resolver that does not answer is asked again', 'EAI_AGAIN', 2],
  ['a name without address is not', 'ENOTFOUND', 1],
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
  sites.answer(ROBOTS, { status: 500 })
  await client.check(sites.withPort(askedPage))
  expect(sites.asked).toHaveLength(3)
})
