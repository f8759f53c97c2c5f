// `onDisallowed: 'response'`: a refusal as a response, for callers that handle statuses.
import { OptionError, outcomeOf } from '@politely/core'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { type PolitelyOptions, politely, RobotsDisallowedError, refusalOf, WaitTooLongError } from '../src/index.ts'
import { kits } from './kits.ts'
import { lookup, Site } from './site.ts'

let site: Site
beforeEach(async () => {
  site = await Site.open({
    '*': 'User-agent: *\nDisallow: /private\n',
    'down.test': (_, response) => void response.writeHead(503, { 'retry-after': '120' }).end(),
  })
})
afterEach(() => site.close())

const options = () => ({
  userAgent: 'ExampleBot/1.0',
  minDelayMs: 0,
  lookup,
  network: 'any' as const,
  retries: 0,
  onDisallowed: 'response' as const,
})

test.each(kits)('$name: resolves to a 403 with the message as its body, and with the verdict', async ({ fetch }) => {
  await using polite = politely(fetch, options())
  const response = await polite(`${site.origin}/private`)
  expect([response.status, response.ok, response.url]).toEqual([403, false, `${site.origin}/private`])
  expect(await response.text()).toMatch(/is disallowed: line 2 of robots.txt says "Disallow: \/private" to \*\n$/)
  const refusal = refusalOf(response)
  expect(refusal).toBeInstanceOf(RobotsDisallowedError)
  expect(refusal?.verdict).toMatchObject({ because: 'rule', rule: { line: 2 } })
  expect(site.seen).toEqual([])
})

test('resolves to a 503 with a date in Retry-After if robots.txt is unreachable', async () => {
  await using polite = politely(globalThis.fetch, options())
  const response = await polite(site.at('down.test', '/page'))
  expect(response.status).toBe(503)
  const again = Date.parse(response.headers.get('retry-after') ?? '')
  expect(again - Date.now()).toBeGreaterThan(115_000)
  expect(again - Date.now()).toBeLessThanOrEqual(121_000)
  expect(refusalOf(response)?.retryAt).toBeGreaterThan(Date.now())
})

test('resolves to a 503 with Retry-After if the wait would be too long', async () => {
  await using polite = politely(globalThis.fetch, { ...options(), minDelayMs: 60_000, maxWaitMs: 1_000 })
  expect((await polite(`${site.origin}/1`)).status).toBe(200)
  const response = await polite(`${site.origin}/2`)
  expect([response.status, response.statusText]).toEqual([503, 'Refused by the gate'])
  expect(Number(response.headers.get('retry-after'))).toBeGreaterThan(30)
  expect(await response.text()).toMatch(/would have to wait \d+ s \(own-delay, origin\)/)
  expect(refusalOf(response)).toBeInstanceOf(WaitTooLongError)
  expect(outcomeOf(response)).toBeUndefined() // it says nothing about the site
  expect(outcomeOf({ status: response.status, headers: response.headers })?.kind).toBe('server-error')
  expect(outcomeOf(refusalOf(response))).toBeUndefined()
  expect(site.lines).toEqual(['GET /1'])
})

test('resolves to a response with the URL of the refused hop', async () => {
  site.pages.set('/go', (_, response) => void response.writeHead(302, { location: '/private' }).end())
  await using polite = politely(globalThis.fetch, options())
  const response = await polite(`${site.origin}/go`)
  expect([response.status, response.url]).toEqual([403, `${site.origin}/private`])
})

test('does not mistake a 403 of a site for a refusal', async () => {
  await using polite = politely(globalThis.fetch, options())
  const refused = await polite(`${site.origin}/private`)
  site.pages.set('/forged', (_, response) => {
    response.writeHead(403, 'Refused by robots.txt', Object.fromEntries(refused.headers)).end('is disallowed')
  })
  const forged = await polite(`${site.origin}/forged`)
  expect(forged.status).toBe(403)
  expect(refusalOf(forged)).toBeUndefined()
})

test('knows a clone of a refusal, and not a new response that was made of it', async () => {
  await using polite = politely(globalThis.fetch, options())
  const refused = await polite(`${site.origin}/private`)
  const clone = refused.clone().clone()
  expect(refusalOf(clone)).toBe(refusalOf(refused))
  expect([clone.status, clone.url, outcomeOf(clone)]).toEqual([refused.status, refused.url, outcomeOf(refused)])
  expect(await clone.text()).toBe(await refused.text())
  expect(refusalOf(new Response('', refused))).toBeUndefined()
})

test('throws other errors', async () => {
  await using polite = politely(globalThis.fetch, options())
  site.pages.set('/reset', (request) => request.socket.resetAndDestroy())
  await expect(polite(`${site.origin}/reset`)).rejects.toThrow(TypeError)
  await expect(polite(`${site.origin}/private`, { signal: AbortSignal.abort() })).rejects.toThrow('abort')
})

test('rejects an unknown value of onDisallowed', () => {
  const given = { ...options(), onDisallowed: 'ignore' } as unknown as PolitelyOptions
  expect(() => politely(globalThis.fetch, given)).toThrow(OptionError)
  expect(() => politely(globalThis.fetch, given)).toThrow(/^onDisallowed: .*throw, response/)
})
