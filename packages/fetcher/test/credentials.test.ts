// Events, channels, log lines and messages of a client contain no credentials of a URL
// (`user:password@`). Our choice.
import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { inspect } from 'node:util'
import { describeVerdict } from '@politely/core'
import { disallowsPage } from '@politely/testkit/cases/response-cases'
import { invalidSecretUrls, SECRET, secretUrls } from '@politely/testkit/cases/secret-urls'
import { expect, onTestFinished } from 'vitest'
import type { RobotsClient } from '../src/index.ts'
import { loggableVerdict } from '../src/index.ts'
import { test } from './with-sites.ts'

const CHANNELS = ['politely:check', 'politely:fetch'].flatMap((name) =>
  ['start', 'end', 'asyncStart', 'asyncEnd', 'error'].map((event) => `tracing:${name}:${event}`),
)

/**
 * Listens to the channels. Returns what they publish and what a test adds; `text` shows all of it.
 */
function hear(): { readonly told: unknown[]; readonly text: () => string } {
  const told: unknown[] = []
  const listen = (message: unknown, name: unknown) => void told.push([name, message])
  for (const name of CHANNELS) subscribe(name, listen)
  onTestFinished(() => CHANNELS.forEach((name) => void unsubscribe(name, listen)))
  return { told, text: () => inspect(told, { depth: null, maxArrayLength: null, maxStringLength: null }) }
}

/** Calls every method with a URL. Returns the verdicts. */
async function callAll(client: RobotsClient, url: string, told: unknown[]) {
  const errors = (error: unknown) => void told.push(error)
  const verdict = await client.check(url)
  const now = client.checkNow(url)
  const { verdict: explained } = await client.explain(url)
  told.push(await client.inspect(url))
  await client.isAllowed(url).catch(errors)
  await client.robots(url).catch(errors)
  await client.sitemaps(url).catch(errors)
  await client.usage(url).then((usage) => void told.push(usage), errors)
  await client.forget(url).catch(errors)
  await client.check('http://a.test/', { redirectedFrom: [url, ` ${url}\u0000:`] }).catch(errors)
  await client.check('http://a.test/', url as never).catch(errors)
  await client.check('http://a.test/', { signal: url as never }).catch(errors)
  return [verdict, now, explained]
}

test('a client tells no password, and returns the URL in the verdict as it was given', async ({ sites, newClient }) => {
  const { told, text } = hear()
  const log = (line: string) => void told.push(line)
  const client = newClient({ logger: { debug: log, info: log, warn: log } })
  for (const name of ['verdict', 'fetch', 'tdmrep-fetch', 'store-failed'] as const) {
    client.events.on(name, (event: unknown) => void told.push([name, event]))
  }
  sites.respond('http://a.test:PORT/robots.txt', { status: 200, body: disallowsPage })
  const host = sites.withPort('a.test:PORT')
  const [valid, invalid] = [secretUrls(host), invalidSecretUrls(host)]
  for (const url of [...valid, ...invalid]) {
    const verdicts = await callAll(client, url, told)
    for (const verdict of verdicts) {
      expect(verdict?.url).toBe(url)
      expect(verdict?.because === 'invalid-url').toBe(invalid.includes(url))
      if (verdict) told.push(loggableVerdict(verdict))
    }
  }
  expect(told.length).toBeGreaterThan(20 * valid.length)
  expect(text()).not.toMatch(new RegExp(SECRET, 'i'))
})

test('a client tells no password that a site sends in the Location of robots.txt', async ({ sites, newClient }) => {
  const { told, text } = hear()
  const log = (line: string) => void told.push(line)
  const client = newClient({ logger: { debug: log, info: log, warn: log } })
  client.events.on('fetch', (event) => void told.push(event))
  const all = (host: string) => [...secretUrls(host), ...invalidSecretUrls(host)]
  // Each location has a domain of its own: redirects to one domain have a pace.
  const targets = all('').map((_, n) => all(sites.withPort(`z${n}.test:PORT`))[n] ?? '')
  // Without slashes, `http:u:password@host` is a path, relative to a URL with the same scheme.
  const isPath = (location: string) => URL.parse(location, 'http://a.test/')?.host === 'a.test'
  const locations = targets.filter((location) => !isPath(location))
  for (const [n, location] of locations.entries()) {
    sites.respond(`http://a${n}.test:PORT/robots.txt`, {
      status: 301,
      headers: {
        location: Buffer.from(location)
          .toString('latin1')
          .replace(/[\0\n]/g, ''),
      },
    })
    const url = sites.withPort(`http://a${n}.test:PORT/`)
    told.push(await client.check(url), await client.inspect(url), await client.explain(url))
  }
  expect(text()).not.toMatch(new RegExp(SECRET, 'i'))
})

test('an error about a given fetch contains no password of the URL that it fetched', async ({ newClient }) => {
  for (const url of secretUrls('b.test')) {
    const fetch = async () => Object.defineProperty(new Response(''), 'url', { value: url })
    const verdict = await newClient({ fetch }).check('http://a.test/')
    expect(verdict).toMatchObject({ because: 'unreachable', access: { reason: 'unusable-transport' } })
    expect(inspect(verdict)).not.toMatch(new RegExp(SECRET, 'i'))
  }
})

test('a rule with a URL shows no password', async ({ sites, newClient }) => {
  const { told, text } = hear()
  const url = sites.withPort(`http://a.test:PORT/go?to=http://u:${SECRET}@b.test`)
  sites.respond('http://a.test:PORT/robots.txt', {
    status: 200,
    body: `User-agent: *\nDisallow: ${new URL(url).pathname}?to=http://u:${SECRET}@`,
  })
  const verdict = await newClient().check(url)
  expect(verdict.because).toBe('rule')
  const loggable = loggableVerdict(verdict)
  told.splice(0, told.length, { ...loggable, url: '' }, describeVerdict(verdict))
  expect(text()).not.toMatch(new RegExp(SECRET, 'i'))
  expect(loggable).toMatchObject({ rule: { text: '/go?to=http://', line: 2 } })
})
