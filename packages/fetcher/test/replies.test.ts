// What well-formed answers mean, asked for over a socket. The same rows run as values in core.
import { askedPage, replyRows } from '@politely/testkit'
import { expect } from 'vitest'
import { test } from './with-sites.ts'

test.for(replyRows.map((row) => [row.name, row] as const))(
  '%s',
  async ([, { answers, expected }], { sites, newClient }) => {
    for (const [url, reply] of Object.entries(answers)) sites.answer(url, reply)

    const verdict = await newClient().check(sites.withPort(askedPage))

    const { asked, allowed, because, ...access } = expected
    expect(verdict).toMatchObject({ allowed, because, access })
    expect(sites.asked).toEqual(asked)
    const { hops = [], url } = 'access' in verdict ? verdict.access : {}
    expect([...hops.map((hop) => hop.url), url]).toEqual(asked.map((one) => sites.withPort(one)))
  },
)
