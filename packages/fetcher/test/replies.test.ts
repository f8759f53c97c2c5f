// The meaning of valid responses, over a real connection. Core's tests run the same cases as values.
import { checkedPage, replyCases } from '@politely/testkit/response-cases'
import { expect } from 'vitest'
import { test } from './with-sites.ts'

test.for(replyCases.map((row) => [row.name, row] as const))(
  '%s',
  async ([, { replies: answers, expected }], { sites, newClient }) => {
    for (const [url, reply] of Object.entries(answers)) sites.respond(url, reply)

    const verdict = await newClient().check(sites.withPort(checkedPage))

    const { requestedUrls: asked, allowed, because, ...access } = expected
    expect(verdict).toMatchObject({ allowed, because, access })
    expect(sites.requestedUrls).toEqual(asked)
    const { hops = [], url } = verdict.access ?? {}
    expect([...hops.map((hop) => hop.url), url]).toEqual(asked.map((one) => sites.withPort(one)))
  },
)

test.for([
  ['RFC 9309 §2.3.1.2 recommends five, but the caller may choose 0', 0],
  ['our choice, more than five', 7],
] as const)('maxRedirects: %s', async ([, maxRedirects], { sites, newClient }) => {
  const urls = Array.from(
    { length: maxRedirects + 2 },
    (_, i) => `http://a.test:PORT/${i === 0 ? 'robots.txt' : `hop${i}`}`,
  )
  for (const [i, url] of urls.entries()) sites.respond(url, { status: 301, headers: { location: `/hop${i + 1}` } })
  const verdict = await newClient({ maxRedirects }).check(sites.withPort(checkedPage))
  expect(verdict).toMatchObject({ because: 'unavailable', access: { reason: 'too-many-redirects' } })
  expect(sites.requestedUrls).toEqual(urls.slice(0, -1))
})
