// The date of a refusal, found in the errors of each client.
import { RobotsClient } from '@politely/fetcher'
import { PoliteGate } from '@politely/gate'
import { startSites } from '@politely/testkit/servers/sites'
import { describe, expect, onTestFinished, test } from 'vitest'
import { retryAtOf } from '../retry-at.ts'
import { recipes } from './recipes.ts'

const SITE = 'http://127.0.0.1:PORT'

describe.each(recipes)('$name', ({ open }) => {
  test('a refusal has a date if the site rests, and none if robots.txt disallows the page', async () => {
    const sites = await startSites()
    sites.respond(`${SITE}/robots.txt`, { status: 200, body: 'User-agent: *\nDisallow: /private' })
    const robots = new RobotsClient({ userAgent: 'ExampleBot/1.0' })
    const circuit = { failures: 1, coolMs: 100, factor: 100 }
    const gate = new PoliteGate({ robots, minDelayMs: 0, circuit })
    const client = open(gate)
    onTestFinished(async () => {
      await client.close?.()
      gate.close()
      await robots.close()
      await sites.close()
    })
    const url = sites.withPort(`${SITE}/page`)
    for (let failures = 0; failures < 2; failures++) (await gate.enter(url)).release({ failed: true })
    const forecast = await gate.when(url)
    const refusal = await client.get(url, { retries: 0 }).catch((error: unknown) => error)
    expect(retryAtOf(refusal)).toBeTypeOf('number')
    expect(retryAtOf(refusal)).toBe('retryAt' in forecast && forecast.retryAt)
    const disallowed = await client
      .get(sites.withPort(`${SITE}/private`), { retries: 0 })
      .catch((error: unknown) => error)
    expect(disallowed).toBeInstanceOf(Error)
    expect(retryAtOf(disallowed)).toBeUndefined()
  })
})
