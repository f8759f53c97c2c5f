// The process warning about two gates that visit one site within its delay.
import { RobotsClient } from '@politely/fetcher'
import { afterEach, beforeEach, expect, type MockInstance, test, vi } from 'vitest'
import { LocalPacer, PoliteGate, type PoliteGateOptions, politely } from '../src/index.ts'
import { forgetLocalStarts, LocalStarts } from '../src/pace/local-starts.ts'
import { lookup, Site } from './site.ts'

let site: Site
let warn: MockInstance<typeof process.emitWarning>

beforeEach(async () => {
  warn = vi.spyOn(process, 'emitWarning').mockReturnValue()
  forgetLocalStarts() // the warning is emitted once for the process
  site = await Site.open()
})
afterEach(async () => {
  warn.mockRestore()
  await site.close()
})

const messages = () =>
  warn.mock.calls.filter((call) => String((call[1] as { code?: string })?.code) === 'POLITELY_TWO_GATES')

test('politely in a function emits one warning, which says what to write', async () => {
  const get = async (path: string) => {
    await using fetch = politely(globalThis.fetch, {
      userAgent: 'ExampleBot/1.0',
      network: 'any',
      minDelayMs: 60_000,
    })
    return (await fetch(site.origin + path)).status
  }
  expect([await get('/1'), await get('/2'), await get('/3')]).toEqual([200, 200, 200])
  expect(messages()).toEqual([
    [
      `two gates of this process visit ${site.origin}, and together they do not keep its delay of 60000 ms, since each gate keeps a pace of its own; create one gate for all requests: call politely once, outside of functions, or write politely(fetch, { gate })`,
      { type: 'PolitelyWarning', code: 'POLITELY_TWO_GATES' },
    ],
  ])
})

type Row = readonly [
  what: string,
  options: () => readonly Omit<PoliteGateOptions, 'robots'>[],
  hosts: readonly string[],
  warnings: number,
]

/** Two gates start one request each. */
test.each<Row>([
  ['two gates', () => [{}, {}], ['a.test', 'a.test'], 1],
  ['two LocalPacers', () => [{ pacer: new LocalPacer() }, {}], ['a.test', 'a.test'], 1],
  ['other sites', () => [{}, {}], ['a.test', 'b.test'], 0],
  ['no delay', () => [{ minDelayMs: 0 }, { minDelayMs: 0 }], ['a.test', 'a.test'], 0],
  ['a clock of the caller', () => [{ now: () => Date.now() }, {}], ['a.test', 'a.test'], 0],
  ['a delay that is over', () => [{ minDelayMs: 0.001 }, {}], ['a.test', 'a.test'], 0],
])('%s', async (_, options, hosts, warnings) => {
  await using robots = new RobotsClient({ userAgent: 'ExampleBot/1.0', network: 'any', lookup })
  for (const [n, one] of options().entries()) {
    await using gate = new PoliteGate({ robots, minDelayMs: 60_000, ...one })
    ;(await gate.enter(site.at(hosts[n] as string))).release()
  }
  expect(messages()).toHaveLength(warnings)
})

test('gates that share a pacer do not warn', async () => {
  await using robots = new RobotsClient({ userAgent: 'ExampleBot/1.0', network: 'any', lookup })
  const pacer = new LocalPacer()
  for (const _ of [1, 2]) {
    await using gate = new PoliteGate({ robots, minDelayMs: 1, pacer })
    ;(await gate.enter(site.at('a.test'))).release()
  }
  expect(messages()).toEqual([])
})

test('a site that more than a thousand others have followed is forgotten', () => {
  const [one, other] = [new LocalStarts(new LocalPacer()), new LocalStarts(new LocalPacer())]
  one.started('first', 'first', 0, 1_000)
  for (let n = 0; n < 1_000; n++) one.started(`site ${n}`, `site ${n}`, 0, 1_000)
  other.started('first', 'first', 1, 1_000)
  expect(messages()).toEqual([])
  other.started('site 999', 'site 999', 1, 1_000)
  expect(messages()).toHaveLength(1)
})
