// One attempt: conditional requests, failures, the limit of redirects, retries. The other responses
// are in response-cases.ts.
import { describe, expect, test } from 'vitest'
import { type AttemptRequest, advance, isWorthRetrying, startAttempt } from '../src/access/attempt.ts'
import type { Copy } from '../src/access/copy.ts'
import { type AccessPolicy, defaultAccessPolicy } from '../src/access/policy.ts'
import type { Failure, Reply } from '../src/access/reply.ts'
import type { Headers } from '../src/http/headers.ts'

const ROBOTS = 'https://a.test/robots.txt'
const ELSEWHERE = 'https://b.test/robots.txt'

const response = (status: number, headers: Headers = {}): Reply => ({ kind: 'response', status, headers })
const failure = (reason: Failure['reason']): Failure => ({ kind: 'failure', reason, detail: 'the message' })
const copyOf = (given: Partial<Copy>): Copy => ({
  bytes: 'User-agent: *\n',
  truncated: false,
  confirmedAt: 0,
  url: ROBOTS,
  etag: undefined,
  lastModified: undefined,
  lifetimeMs: undefined,
  ...given,
})
/** Returns the next request after a redirect. @throws {Error} if the reply ends the attempt. */
function following(at: AttemptRequest, reply: Reply, policy: Partial<AccessPolicy> = {}): AttemptRequest {
  const next = advance(at, reply, { ...defaultAccessPolicy, ...policy })
  if (next.kind !== 'request') throw new Error(`the attempt ended with ${next.kind}`)
  return next
}
const movedTo = (location: string) => response(301, { location })

describe('the conditions of the first request (RFC 9110 §13.1)', () => {
  test.each<readonly [name: string, copy: Copy | undefined, conditions: object]>([
    ['without a copy: none', undefined, {}],
    ['with a copy without validators: none', copyOf({}), {}],
    ['with an ETag: If-None-Match', copyOf({ etag: 'W/"1"' }), { 'if-none-match': 'W/"1"' }],
    ['with an empty ETag: none', copyOf({ etag: '' }), {}],
    ['with a Last-Modified: If-Modified-Since', copyOf({ lastModified: 'Monday' }), { 'if-modified-since': 'Monday' }],
    [
      'with both: both',
      copyOf({ etag: '"1"', lastModified: 'Monday' }),
      { 'if-none-match': '"1"', 'if-modified-since': 'Monday' },
    ],
    ['with a truncated copy: none', copyOf({ etag: '"1"', lastModified: 'Monday', truncated: true }), {}],
    ['with a copy from another URL: none', copyOf({ etag: '"1"', url: ELSEWHERE }), {}],
  ])('%s', (_, copy, conditions) => {
    expect(startAttempt(ROBOTS, copy)).toEqual({ kind: 'request', url: ROBOTS, conditions, hops: [], copy })
  })

  test('a copy that came from a redirect is revalidated at the URL that sent it', () => {
    const copy = copyOf({ etag: '"1"', url: ELSEWHERE })
    const second = following(startAttempt(ROBOTS, copy), movedTo(ELSEWHERE))
    expect(second).toMatchObject({ url: ELSEWHERE, conditions: { 'if-none-match': '"1"' } })
    expect(advance(second, response(304), defaultAccessPolicy)).toMatchObject({
      kind: 'unchanged',
      copy,
      url: ELSEWHERE,
    })
  })

  test('a redirect to another URL than that of the copy drops the condition, and a 304 there is unreachable', () => {
    const second = following(startAttempt(ROBOTS, copyOf({ etag: '"1"' })), movedTo(ELSEWHERE))
    expect(second).toMatchObject({ url: ELSEWHERE, conditions: {} })
    expect(advance(second, response(304), defaultAccessPolicy)).toMatchObject({ kind: 'unreachable', status: 304 })
  })
})

describe('the response to a conditional request', () => {
  const copy = copyOf({ etag: '"1"' })
  test.each([
    [
      'RFC 9110 §15.4.5, 304: the copy is still current',
      response(304, { etag: '"2"' }),
      { kind: 'unchanged', copy, status: 304, headers: { etag: '"2"' } },
    ],
    ['RFC 9309 §2.3.1.1, 200: the file has changed', response(200), { kind: 'success', status: 200 }],
    ['our choice, 404: the same request without the condition', response(404), { kind: 'request', conditions: {} }],
    ['our choice, 412: the same request without the condition', response(412), { kind: 'request', conditions: {} }],
    ['RFC 9309 §2.3.1.4, 503: unreachable', response(503), { kind: 'unreachable', status: 503 }],
  ])('%s', (_, reply, expected) => {
    expect(advance(startAttempt(ROBOTS, copy), reply, defaultAccessPolicy)).toMatchObject(expected)
  })

  test('our choice, 304 to an unconditional request: unreachable', () => {
    expect(advance(startAttempt(ROBOTS, copyOf({})), response(304), defaultAccessPolicy)).toMatchObject({
      kind: 'unreachable',
      status: 304,
    })
  })
})

describe('a request without a usable response is unreachable (RFC 9309 §2.3.1.4)', () => {
  const reasons = [
    'dns',
    'dns-unavailable',
    'refused',
    'reset',
    'network',
    'tls',
    'timeout',
    'malformed',
    'undecodable',
    'truncated',
    'too-large',
    'blocked-address',
    'busy-target',
    'disallowed-target',
    'no-transport',
    'unusable-transport',
  ] as const
  test.each(reasons)('%s', (reason) => {
    expect(advance(startAttempt(ROBOTS), failure(reason), defaultAccessPolicy)).toEqual({
      kind: 'unreachable',
      reason,
      detail: 'the message',
      url: ROBOTS,
      hops: [],
    })
  })

  test('our choice, the outcome has the wait that an earlier response asked for', () => {
    const reply = { ...failure('busy-target'), retryAfterMs: 60_000 }
    expect(advance(startAttempt(ROBOTS), reply, defaultAccessPolicy)).toMatchObject({ retryAfterMs: 60_000 })
  })

  test('also after a redirect, which the outcome lists', () => {
    const second = following(startAttempt(ROBOTS), movedTo(ELSEWHERE))
    expect(advance(second, failure('dns'), defaultAccessPolicy)).toMatchObject({
      kind: 'unreachable',
      url: ELSEWHERE,
      hops: [{ url: ROBOTS, status: 301 }],
    })
  })

  test.each([100, 101, 103, 199])('our choice, an interim status as the final one: %i', (status) => {
    expect(advance(startAttempt(ROBOTS), response(status), defaultAccessPolicy)).toMatchObject({
      kind: 'unreachable',
      reason: 'status',
      status,
    })
  })
})

describe('redirects', () => {
  test('RFC 9309 §2.3, lead to ftp: URLs too', () => {
    expect(following(startAttempt(ROBOTS), movedTo('ftp://a.test/robots.txt')).url).toBe('ftp://a.test/robots.txt')
  })

  test.each([0, 1, 7])('our choice, are limited by maxRedirects: %i', (maxRedirects) => {
    let at = startAttempt(ROBOTS)
    for (let hop = 1; hop <= maxRedirects; hop++) {
      at = following(at, movedTo(`/hop${hop}`), { maxRedirects })
      expect(at.hops).toHaveLength(hop)
    }
    expect(advance(at, movedTo('/one-more'), { ...defaultAccessPolicy, maxRedirects })).toMatchObject({
      kind: 'unavailable',
      reason: 'too-many-redirects',
    })
  })

  test('our choice, are a loop if URLs differ only in userinfo and fragment', () => {
    const end = advance(startAttempt(ROBOTS), movedTo('https://me@a.test/robots.txt#again'), defaultAccessPolicy)
    expect(end).toMatchObject({ kind: 'unavailable', reason: 'redirect-loop' })
  })
})

describe('isWorthRetrying', () => {
  test.each<readonly [name: string, reply: Reply, expected: boolean]>([
    ['our choice, never after a success', response(200), false],
    ['our choice, never after a redirect', movedTo(ELSEWHERE), false],
    ['our choice, never after a 304', response(304), false],
    ['our choice, never after a 4xx', response(404), false],
    ['RFC 6585 §4, not after a 429', response(429), false],
    ['our choice, after 500', response(500), true],
    ['our choice, after 503', response(503), true],
    ['our choice, after a status above 599', response(999), true],
    ['RFC 9110 §10.2.3, not after a 503 with Retry-After', response(503, { 'retry-after': '1' }), false],
    ['RFC 9110 §10.2.3, not after a 429 with Retry-After', response(429, { 'retry-after': '1' }), false],
    ['our choice, after a reset connection', failure('reset'), true],
    ['our choice, after a refused connection', failure('refused'), true],
    ['our choice, after a truncated body', failure('truncated'), true],
    ['our choice, after a DNS resolver that did not respond', failure('dns-unavailable'), true],
    ['our choice, after another network failure', failure('network'), true],
    ['our choice, not after a host name without an address', failure('dns'), false],
    ['our choice, not after a timeout', failure('timeout'), false],
    ['our choice, not after malformed HTTP', failure('malformed'), false],
    ['our choice, not after an undecodable body', failure('undecodable'), false],
    ['our choice, not after headers over the size limit', failure('too-large'), false],
    ['our choice, not after a TLS failure', failure('tls'), false],
    ['our choice, not after an address that the network guard blocked', failure('blocked-address'), false],
    ['our choice, not while the target of a redirect takes no more requests', failure('busy-target'), false],
    ['our choice, not without a transport for the scheme', failure('no-transport'), false],
    ['our choice, not with a transport that does not do what it must', failure('unusable-transport'), false],
  ])('%s', (_, reply, expected) => {
    expect(isWorthRetrying(reply, defaultAccessPolicy)).toBe(expected)
  })
})
