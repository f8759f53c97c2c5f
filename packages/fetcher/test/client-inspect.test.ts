// `inspect` of a client. All of it is our choice.
import { disallowsPage } from '@politely/testkit/cases/response-cases'
import { startClock } from '@politely/testkit/clock'
import type { Reply } from '@politely/testkit/servers/sites'
import { describe, expect } from 'vitest'
import type { Inspection } from '../src/index.ts'
import { test } from './with-sites.ts'

const DAY = 86_400_000
const ROBOTS = 'http://a.test:PORT/robots.txt'
const rules: Reply = { status: 200, body: disallowsPage }

describe('inspect', () => {
  test('shows all that is known about an origin, and sends no requests', async ({ sites, newClient }) => {
    sites.respond(ROBOTS, { ...rules, headers: { etag: '"1"' } }, { status: 503 })
    const clock = startClock()
    const client = newClient({ now: clock.now })
    const url = sites.withPort('http://a.test:PORT/x?y')
    expect(await client.inspect(url)).toMatchObject({
      origin: sites.withPort('http://a.test:PORT'),
      robotsUrl: sites.withPort(ROBOTS),
      productTokens: ['ExampleBot'],
      state: 'unknown',
      source: 'nowhere',
      flight: 'none',
      via: 'own',
      attempts: [],
      copy: undefined,
    })
    expect(sites.connections).toEqual([])
    await client.check(url)
    clock.advance(DAY)
    await client.check(url)
    const shown = (await client.inspect(url)) as Inspection
    expect(shown).toMatchObject({
      state: 'lost-with-copy',
      why: 'robots.txt has been unreachable since 2026-01-02T00:00:00Z (status 503): the copy from 2026-01-01T00:00:00Z is obeyed; the next attempt is due at 2026-01-02T00:00:30Z',
      source: 'memory',
      failures: 1,
      unreachableSince: clock.now(),
      nextAttemptAt: clock.now() + 30_000,
      attempts: [
        { kind: 'unreachable', status: 503 },
        { kind: 'success', status: 200 },
      ],
      copy: { bytes: disallowsPage.length, etag: '"1"', confirmedAt: clock.now() - DAY, records: [] },
    })
    expect(JSON.parse(JSON.stringify(shown))).toEqual(shown)
    expect(sites.requests).toHaveLength(2)
    clock.advance(30 * DAY)
    expect(await client.inspect(url)).toMatchObject({ state: 'lost-with-copy' })
    expect(sites.requests).toHaveLength(2)
    expect(client.counters).toMatchObject({ questions: 2 })
  })

  test('shows an internationalised name in Unicode, and a reason for an invalid URL', async ({ newClient }) => {
    const client = newClient()
    expect(await client.inspect('https://b\u00fccher.test/')).toMatchObject({
      origin: 'https://xn--bcher-kva.test',
      displayOrigin: 'https://b\u00fccher.test',
    })
    expect(await client.inspect('mailto:a@b.test')).toEqual({
      allowed: false,
      because: 'invalid-url',
      url: 'mailto:a@b.test',
      problem: 'scheme',
    })
    await client.close()
    await expect(client.inspect('https://a.test/')).rejects.toMatchObject({ code: 'ERR_POLITELY_CLIENT_CLOSED' })
  })
})
