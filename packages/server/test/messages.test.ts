// The sentence of each result.
import { BlockedAddressError } from '@politely/fetcher'
import { expect, test } from 'vitest'
import { permitMessage, shownAccess } from '../src/http/messages.ts'
import type { PermitResult } from '../src/permits/permit-call.ts'
import { applyReport } from '../src/permits/reports.ts'
import { type DeskKit, deskKit, permitOf, ticketOf } from './kit.ts'

const said = (results: readonly PermitResult[]) => results.map((result) => permitMessage(result as never))
const asTenant = (kit: DeskKit) => ({ tenant: kit.tenant('one', { waiting: 1, perSecond: 0.1 }) })

test('the message of a URL that waits says what for, how long, and whether it has a ticket', async () => {
  const kit = await deskKit('User-agent: *\nCrawl-delay: 2', { maxConcurrentPerKey: 9 })
  const tenant = asTenant(kit)
  const [, second, third] = await kit.ask(['/a', '/b', '/c'], tenant)
  expect(said([second, third] as never)).toEqual([
    "waits for the site's Crawl-delay; ask again in 3 s with the ticket",
    'your quota waiting is used up; ask again in 1 s',
  ])
  await kit.advance(2_100)
  expect(said(await kit.ask([`/b ${ticketOf(second)}`], tenant))).toEqual([
    'your quota per-second is used up; ask again in 8 s with the ticket',
  ])
  await kit.gate.robots.forget(kit.site.origin)
  expect(said(await kit.ask(['/d', '/e t.x']))).toEqual([
    'waits for robots.txt, which is being fetched; ask again in 202 ms',
    'the ticket is not yours, or of a server with another key (--key); ask again without it',
  ])
})

test('the message of a used-up budget names the site', async () => {
  const kit = await deskKit('', { budget: 1 })
  await kit.ask(['/a'])
  await kit.advance(2_100)
  expect(said(await kit.ask(['/b']))).toEqual([
    `does not start: the budget of ${kit.site.origin} is used up (1 requests); make no further requests to it`,
  ])
})

test('the message of an open circuit says how the last request ended, and when to try again', async () => {
  const kit = await deskKit('', { minDelayMs: 0, circuit: { failures: 2 } })
  const tenant = kit.tenant('one')
  for (const path of ['/a', '/b', '/probe']) {
    const [go] = await kit.ask([path], { tenant })
    applyReport(kit.desk, tenant, { permit: permitOf(go), outcome: 'failed' }, 1_000)
    await kit.advance(path === '/b' ? 40_000 : 200) // then a probe may start
  }
  expect(said(await kit.ask(['/c'], { tenant }))).toEqual([
    expect.stringMatching(
      /^does not start: the last requests to http:\S+ failed, and after the last .+; try again at \d.*Z$/,
    ),
  ])
})

test('the message of a long rule is cut', async () => {
  const kit = await deskKit(`User-agent: *\nDisallow: /${'x'.repeat(5_000)}\nDisallow: /*${'x'.repeat(2_000)}`)
  const [message] = said(await kit.ask([`/${'x'.repeat(5_000)}`]))
  expect(message).toMatch(/^disallowed: line 2 of robots.txt says "Disallow: \/x{900,}…$/)
})

test.each([
  [
    'https://site.example.com/robots.txt',
    [],
    ['10.0.0.1', '10.0.0.2'],
    '--allow-address 10.0.0.1 --allow-address 10.0.0.2',
  ],
  ['https://site.example.com/robots.txt', [], [], '--allow-private'],
  ['http://printer/robots.txt', [], ['10.0.0.1'], '--allow-address 10.0.0.1, or with --allow-private'],
  ['http://printer/robots.txt', ['https://site.example.com/robots.txt'], ['10.0.0.1'], '--allow-address 10.0.0.1'],
])(
  'the message of a blocked address (%s after %j, at %j) names the flag that allows it',
  (url, hops, addresses, flags) => {
    const detail = new BlockedAddressError(new URL(url).hostname, addresses).message
    const access = shownAccess({ reason: 'blocked-address', detail, url, hops } as never)
    expect(access.detail).toMatch(/; if this host is yours, start the server with [^;]*$/)
    expect(access.detail?.split('start the server with ')[1]).toBe(flags)
  },
)
