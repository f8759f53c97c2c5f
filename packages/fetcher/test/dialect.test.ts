// Dialects in a client, which matches the URL that it sends.
import { expect } from 'vitest'
import { test } from './with-sites.ts'

test("our choice, the google dialect matches the URL that is sent, as Google's crawler does", async ({
  sites,
  newClient,
}) => {
  sites.respond('http://a.test:PORT/robots.txt', { status: 200, body: 'User-agent: *\nDisallow: /private\n' })
  const client = newClient({ dialect: 'google' })
  for (const path of ['/private', '/x/../private', '\\private', '/%2e/private']) {
    expect(await client.isAllowed(sites.withPort(`http://a.test:PORT${path}`)), path).toBe(false)
  }
})

test('the draft of 1996 §3.1, 403 restricts the whole site, and its crawl-delay is unknown', async ({
  sites,
  newClient,
}) => {
  sites.respond('http://a.test:PORT/robots.txt', { status: 403, body: 'User-agent: *\nCrawl-delay: 9\n' })
  const verdict = await newClient({ dialect: 'koster-1996' }).check(sites.withPort('http://a.test:PORT/page'))
  expect(verdict).toMatchObject({ allowed: false, because: 'restricted', crawlDelayMs: undefined })
})
