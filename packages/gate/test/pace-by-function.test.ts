// @module-tag timers
// A function as the option `paceBy`.

import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { Agent, get } from 'node:http'
import { RobotsClient } from '@politely/fetcher'
import { request } from 'undici'
import { expect, onTestFinished, test, vi } from 'vitest'
import { OptionError, PoliteGate, politeHttpAgent, politely, type StartMessage } from '../src/index.ts'
import { forgetLocalStarts } from '../src/pace/local-starts.ts'
import { politeAgent } from '../src/undici/index.ts'
import { simulate } from './simulation.ts'
import { lookup, Site } from './site.ts'
import { HOSTS, visits } from './visits.ts'

const byFirstLetter = (url: string) => new URL(url).hostname.slice(0, 1)

test('requests with one key share a pace, at the level `key`', async () => {
  const seen = await visits(['a.one.test', 'b.one.test', 'a.one.test', 'two.test'], {
    paceBy: (url) => (new URL(url).hostname === 'two.test' ? 'b' : byFirstLetter(url)),
  })
  expect(seen).toEqual([
    ['a.one.test', 0, 'none', undefined],
    ['b.one.test', 0, 'none', undefined],
    ['a.one.test', 1_000, 'own-delay', 'key'],
    ['two.test', 1_000, 'own-delay', 'key'],
  ])
})

test('one origin can have several keys, and `queues` and `when` name them', async () => {
  const { enter, gate, site, advance } = await simulate(HOSTS, { paceBy: (url) => new URL(url).pathname.slice(0, 2) })
  for (const name of ['a1', 'b1', 'a2'])
    void enter(name, 'two.test').then(
      (permit) => permit.release(),
      () => undefined,
    )
  await advance()
  expect(gate.queues()).toMatchObject([{ key: 'key:/a', waiting: 1, heldBy: 'own-delay', level: 'key' }])
  expect(await gate.when(site.at('two.test', '/b2'))).toMatchObject({ waitMs: 1_000, level: 'key', ahead: 0 })
  expect(await gate.when(site.at('two.test', '/c1'))).toMatchObject({ waitMs: 0 })
  gate.close()
})

test('the limits of domains and addresses apply beside the key, and no key collides with theirs', async () => {
  const seen = await visits(['a.one.test', 'b.one.test', 'c.one.test'], {
    paceBy: () => 'domain:one.test',
    minDelayMs: 100,
    minDelayPerDomainMs: 2_000,
  })
  expect(seen.map(([host, at, , level]) => [host, at, level])).toEqual([
    ['a.one.test', 0, undefined],
    ['b.one.test', 2_000, 'domain'],
    ['c.one.test', 4_000, 'domain'],
  ])
})

test('the function gets no credentials', async () => {
  const urls: string[] = []
  const { gate, site } = await simulate(HOSTS, {
    paceBy: (url) => {
      urls.push(url)
      return url
    },
  })
  const url = site.at('two.test', '/page')
  ;(await gate.enter(url.replace('http://', 'http://user:secret@'))).release()
  expect(urls).toEqual([url])
})

test.each<[given: unknown, text: string]>([
  [undefined, 'undefined'],
  ['', '""'],
  [5, '5'],
  [Promise.resolve('a'), 'an object of type Promise'],
  ['x'.repeat(501), '"xxx'],
])('rejects the request if the function returns %o', async (given, text) => {
  const { enter, gate, site } = await simulate(HOSTS, { paceBy: () => given as string })
  const error: Error = await enter('1', 'two.test').then(
    () => expect.unreachable(),
    (reason) => reason,
  )
  expect(error).toBeInstanceOf(OptionError)
  expect(error.message).toContain(`paceBy: the function returned ${text}`)
  expect(error.message).toContain(`for ${site.at('two.test', '/1')}; expected a text of 1 to 500 characters`)
  await expect(gate.when(site.at('two.test'))).rejects.toThrow(OptionError)
  expect(gate.queues()).toEqual([])
})

test('an error of the function rejects the request with itself', async () => {
  const error = new Error('no key')
  const { enter } = await simulate(HOSTS, {
    paceBy: () => {
      throw error
    },
  })
  await expect(enter('1', 'two.test')).rejects.toBe(error)
})

test('politely, politeAgent and politeHttpAgent keep the pace of a key across hosts', async () => {
  const site = await Site.open()
  const robots = new RobotsClient({ userAgent: 'ExampleBot/1.0', lookup, network: 'any' })
  const gate = new PoliteGate({ robots, paceBy: () => 'all', minDelayMs: 60 })
  const agent = politeAgent({ gate, lookup, network: 'any' })
  const httpAgent = politeHttpAgent(new Agent({ lookup }), gate)
  const polite = politely(fetch, { gate })
  const starts: StartMessage[] = []
  const listener = (message: unknown) => {
    if ((message as StartMessage).gate === gate) starts.push(message as StartMessage)
  }
  subscribe('politely:gate:start', listener)
  onTestFinished(async () => {
    unsubscribe('politely:gate:start', listener)
    await agent.close()
    httpAgent.destroy()
    await robots.close()
    await site.close()
  })
  await Promise.all([
    polite(`${site.origin}/fetch`).then((response) => response.text()),
    request(site.at('a.test', '/agent'), { dispatcher: agent }).then(({ body }) => body.dump()),
    new Promise((ended, failed) => {
      get(site.at('b.test', '/http'), { agent: httpAgent }, (response) => response.resume().on('end', ended)).on(
        'error',
        failed,
      )
    }),
  ])
  expect(starts.map(({ key }) => key)).toEqual(['key:all', 'key:all', 'key:all'])
  for (const [n, { at }] of starts.slice(1).entries()) expect(at - (starts[n]?.at ?? 0)).toBeGreaterThanOrEqual(60)
})

test('two gates whose functions return one text are compared by origin too', async () => {
  forgetLocalStarts()
  const site = await Site.open()
  const robots = new RobotsClient({ userAgent: 'ExampleBot/1.0', lookup, network: 'any' })
  onTestFinished(async () => {
    await robots.close()
    await site.close()
    vi.restoreAllMocks()
  })
  const warn = vi.spyOn(process, 'emitWarning').mockReturnValue()
  const gates = [1, 2].map(() => new PoliteGate({ robots, paceBy: () => 'all' }))
  for (const [n, gate] of gates.entries()) (await gate.enter(site.at(`h${n}.test`))).release()
  expect(warn).not.toHaveBeenCalled()
  const third = new PoliteGate({ robots, paceBy: () => 'all' })
  ;(await third.enter(site.at('h0.test'))).release()
  expect(warn).toHaveBeenCalledOnce()
  expect(warn.mock.calls[0]?.[0]).toContain(`visit ${new URL(site.at('h0.test')).origin} (key:all), and together`)
})
