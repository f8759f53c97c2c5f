// The option `obey`: for a site of one's own.
import { RobotsClient } from '@politely/fetcher'
import { beforeEach, expect, onTestFinished, test, vi } from 'vitest'
import { PoliteGate, RobotsDisallowedError } from '../src/index.ts'
import { forgetDisobedience } from '../src/robots/disobedience.ts'
import { simulate } from './simulation.ts'
import { lookup, Site } from './site.ts'

const RULES = 'Disallow: /private\nCrawl-delay: 10'

beforeEach(() => {
  forgetDisobedience()
  const warn = vi.spyOn(process, 'emitWarning').mockReturnValue()
  return () => warn.mockRestore()
})

const warnings = () =>
  vi
    .mocked(process.emitWarning)
    .mock.calls.filter(([, options]) => (options as { code?: string } | undefined)?.code === 'POLITELY_DISOBEY')
    .map(([text]) => String(text))

test('rules: false starts requests that robots.txt disallows, and says so', async () => {
  const warn: string[] = []
  const { enter, gate, site, advance, starts } = await simulate(
    { 'mine.test': RULES, 'other.test': RULES },
    {
      pace: (origin) => (new URL(origin).hostname === 'mine.test' ? { obey: { rules: false } } : undefined),
      logger: { warn: (line) => warn.push(line) },
    },
  )
  const first = await enter('private/1', 'mine.test')
  first.release()
  expect(first.verdict).toMatchObject({ allowed: false, because: 'rule' })
  void enter('private/2', 'mine.test').then((permit) => permit.release())
  expect(await gate.when(site.at('mine.test', '/private/3'))).toMatchObject({
    allowed: true,
    verdict: { allowed: false },
  })
  await advance(10_000)
  expect(starts).toEqual([
    ['private/1', 0],
    ['private/2', 10_000],
  ])
  await expect(enter('private/1', 'other.test')).rejects.toThrow(RobotsDisallowedError)
  expect(gate.counters).toMatchObject({ disobeyedRules: 2, ignoredDelays: 0, refusals: { rule: 1 } })
  const line = `${site.at('mine.test', '/private/1')} is requested, although line 2 of robots.txt says "Disallow: /private" to *: the option obey is { rules: false }; use it for your own site only`
  expect(warn).toEqual([line])
  expect(warnings()).toEqual([line])
})

test('delays: false ignores Crawl-delay, Request-rate and Visit-time, but not the own delay and Retry-After', async () => {
  const warn: string[] = []
  const host = 'mine.test'
  const { enter, gate, site, advance, starts } = await simulate(
    { [host]: `${RULES}\nRequest-rate: 1/60\nVisit-time: 0200-0300` },
    { obey: { delays: false }, logger: { warn: (line) => warn.push(line) } },
  )
  for (const name of ['1', '2', '3']) void enter(name, host).then((permit) => permit.release())
  await advance(2_000)
  expect(starts).toEqual([
    ['1', 0],
    ['2', 1_000],
    ['3', 2_000],
  ])
  await expect(enter('private', host)).rejects.toThrow(RobotsDisallowedError)
  expect(gate.counters).toMatchObject({ disobeyedRules: 0, ignoredDelays: 3 })
  const { origin } = new URL(site.at(host))
  expect(warn).toEqual([
    `Crawl-delay, Request-rate, Visit-time of robots.txt of ${origin} do not apply: the option obey is { delays: false }; use it for your own site only`,
  ])
  await advance(1_000)
  ;(await enter('4', host)).release({ status: 503, headers: { 'retry-after': '30' } })
  expect(await gate.when(site.at(host))).toMatchObject({ waitMs: 30_000, because: 'retry-after' })
  expect(warnings()).toHaveLength(1)
})

test('rules: false starts requests while robots.txt is unreachable, but refuses blocked addresses and invalid URLs', async () => {
  const site = await Site.open({ '*': (_, response) => void response.writeHead(500).end() })
  const open = new RobotsClient({ userAgent: 'ExampleBot/1.0', lookup, network: 'any', retries: 0 })
  const guarded = new RobotsClient({ userAgent: 'ExampleBot/1.0', lookup, network: 'public-only', retries: 0 })
  onTestFinished(async () => {
    await open.close()
    await guarded.close()
    await site.close()
  })
  const obey = { rules: false }
  const gate = new PoliteGate({ robots: open, obey })
  const permit = await gate.enter(site.at('mine.test', '/page'))
  permit.release()
  expect(permit.verdict).toMatchObject({ allowed: false, because: 'unreachable' })
  await expect(gate.enter('http://a b/')).rejects.toThrow(RobotsDisallowedError)
  const guardedGate = new PoliteGate({ robots: guarded, obey })
  await expect(guardedGate.enter(site.at('mine.test', '/page'))).rejects.toMatchObject({
    verdict: { access: { reason: 'blocked-address' } },
  })
  gate.close()
  await expect(gate.enter(site.at('mine.test', '/page'))).rejects.toMatchObject({ code: 'ERR_POLITELY_GATE_CLOSED' })
})

test('`check` returns the true verdict, and `admits` says that the gate lets it pass', async () => {
  const { gate, site } = await simulate({ 'mine.test': RULES }, { obey: { rules: false } })
  const verdict = await gate.check(site.at('mine.test', '/private/image'))
  expect(verdict).toMatchObject({ allowed: false, because: 'rule' })
  expect(gate.admits(verdict)).toBe(true)
  expect(gate.counters).toMatchObject({ disobeyedRules: 1, refusals: {} })
  const strict = new PoliteGate({ robots: gate.robots })
  expect(strict.admits(await strict.check(site.at('mine.test', '/private/image')))).toBe(false)
  expect(strict.counters).toMatchObject({ disobeyedRules: 0, refusals: { rule: 1 } })
})

test('says nothing if everything is obeyed', async () => {
  const { enter, gate } = await simulate({ 'mine.test': '' }, { obey: { rules: false, delays: false } })
  ;(await enter('1', 'mine.test')).release()
  expect(gate.counters).toMatchObject({ disobeyedRules: 0, ignoredDelays: 0 })
  expect(warnings()).toEqual([])
})
