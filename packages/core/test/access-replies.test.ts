// Well-formed responses, from the first request to the verdict, without a network. The fetcher runs
// the same cases over a socket.
import {
  type ConditionalCase,
  checkedPage,
  conditionalCases,
  disallowsPage,
  type ReplyCase,
  replyCases,
} from '@politely/testkit/cases/response-cases'
import { expect, test } from 'vitest'
import { type AttemptRequest, advance, startAttempt } from '../src/access/attempt.ts'
import type { Entry } from '../src/access/entry.ts'
import type { Outcome } from '../src/access/outcome.ts'
import { type AccessPolicy, defaultAccessPolicy } from '../src/access/policy.ts'
import { settle } from '../src/access/settle.ts'
import { latin1Of } from '../src/bytes.ts'
import { decide } from '../src/decide.ts'
import { parseRobots } from '../src/parse-robots.ts'

const PORT = ':8080'
const withPort = (text: string) => text.replaceAll(':PORT', PORT)
const NOW = Date.UTC(2026, 0, 1)

/** The entry of a client that has fetched a robots.txt with an ETag from this URL a day ago. */
function entryWithCopy(url: string): Entry {
  const body = { bytes: disallowsPage, truncated: false }
  const outcome = { kind: 'success', status: 200, headers: { etag: '"1"' }, body, url, hops: [] } as const
  return settle(undefined, withPort('http://a.test:PORT'), outcome, NOW - 86_400_000, defaultAccessPolicy)
}

const rows: readonly (ReplyCase & Partial<ConditionalCase>)[] = [...replyCases, ...conditionalCases]

test.each(rows.map((row) => [row.name, row] as const))('%s', (_, row) => {
  const { replies, notFoundPages = 'by-status', foreignBodies = 'obey', copyUrl, toCondition, expected } = row
  const policy: AccessPolicy = { ...defaultAccessPolicy, notFoundPages, foreignBodies }
  const last = copyUrl === undefined ? undefined : entryWithCopy(withPort(copyUrl))
  const requested: string[] = []
  let state: AttemptRequest | Outcome = startAttempt(withPort('http://a.test:PORT/robots.txt'), last?.copy)
  while (state.kind === 'request') {
    const url = state.url.replace(PORT, ':PORT')
    requested.push(url)
    const isConditional = Object.keys(state.conditions).length > 0
    const { status, headers = {}, body = '' } = (isConditional ? toCondition : replies[url]) ?? { status: 404 }
    const values = Object.entries(headers).map(([name, value]) => [
      name,
      typeof value === 'string' ? withPort(value) : value.map(withPort),
    ])
    state = advance(
      state,
      {
        kind: 'response',
        status,
        headers: Object.fromEntries(values),
        body: { bytes: latin1Of(typeof body === 'string' ? new TextEncoder().encode(body) : body), truncated: false },
      },
      policy,
    )
  }
  const entry = settle(last, withPort('http://a.test:PORT'), state, NOW, policy)
  const rules = parseRobots(entry.copy?.bytes ?? '').forCrawler('ExampleBot')
  const { verdict, access } = decide(entry, rules, withPort(checkedPage), NOW, policy)

  const { requestedUrls, allowed, because, ...expectedAccess } = expected
  expect(verdict).toMatchObject({ allowed, because })
  expect(access).toMatchObject(expectedAccess)
  expect(requested).toEqual(requestedUrls)
  expect([...access.hops.map(({ url }) => url), access.url]).toEqual([...new Set(requestedUrls)].map(withPort))
})
