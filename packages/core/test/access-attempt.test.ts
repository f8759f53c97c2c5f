// The steps of one attempt that need more than an answer: conditions, failures, the budget of redirects, retries.
import { describe, expect, test } from 'vitest'
import { advance, type RobotsRequest, startAttempt } from '../src/access/attempt.ts'
import type { Copy } from '../src/access/copy.ts'
import { type AccessPolicy, defaultAccessPolicy } from '../src/access/policy.ts'
import { type Failure, isWorthRetrying, type Reply } from '../src/access/reply.ts'
import type { Headers } from '../src/http/headers.ts'

const ROBOTS = 'https://a.test/robots.txt'
const ELSEWHERE = 'https://b.test/robots.txt'

const response = (status: number, headers: Headers = {}): Reply => ({ kind: 'response', status, headers })
const failure = (reason: Failure['reason']): Failure => ({ kind: 'failure', reason, detail: 'what happened' })
const copyOf = (given: Partial<Copy>): Copy => ({
  bytes: 'User-agent: *\n',
  truncated: false,
  confirmedAt: 0,
  url: ROBOTS,
  etag: undefined,
  lastModified: undefined,
  ...given,
})
/** The request after the reply, which must be a redirect. */
function following(at: RobotsRequest, reply: Reply, policy: Partial<AccessPolicy> = {}): RobotsRequest {
  const next = advance(at, reply, { ...defaultAccessPolicy, ...policy })
  if (next.kind !== 'request') throw new Error(`it ended: ${next.kind}`)
  return next
}
const movedTo = (location: string) => response(301, { location })

describe('RFC 9110 §13.1, conditions of the first request', () => {
  test.each<readonly [name: string, copy: Copy | undefined, conditions: object]>([
    ['no copy', undefined, {}],
    ['a copy without validators', copyOf({}), {}],
    ['ETag', copyOf({ etag: 'W/"1"' }), { 'if-none-match': 'W/"1"' }],
    ['an empty ETag is none', copyOf({ etag: '' }), {}],
    ['Last-Modified', copyOf({ lastModified: 'Monday' }), { 'if-modified-since': 'Monday' }],
    [
      'both',
      copyOf({ etag: '"1"', lastModified: 'Monday' }),
      { 'if-none-match': '"1"', 'if-modified-since': 'Monday' },
    ],
    ['a copy from another URL', copyOf({ etag: '"1"', url: ELSEWHERE }), {}],
  ])('%s', (_, copy, conditions) => {
    expect(startAttempt(ROBOTS, copy)).toEqual({ kind: 'request', url: ROBOTS, conditions, hops: [], copy })
  })

  test('a copy that came over a redirect: the condition goes to the URL that gave it', () => {
    const copy = copyOf({ etag: '"1"', url: ELSEWHERE })
    const second = following(startAttempt(ROBOTS, copy), movedTo(ELSEWHERE))
    expect(second).toMatchObject({ url: ELSEWHERE, conditions: { 'if-none-match': '"1"' } })
    expect(advance(second, response(304), defaultAccessPolicy)).toMatchObject({
      kind: 'unchanged',
      copy,
      url: ELSEWHERE,
    })
  })

  test('a redirect away from the URL of the copy: the condition does not go along, and a 304 is no answer', () => {
    const second = following(startAttempt(ROBOTS, copyOf({ etag: '"1"' })), movedTo(ELSEWHERE))
    expect(second).toMatchObject({ url: ELSEWHERE, conditions: {} })
    expect(advance(second, response(304), defaultAccessPolicy)).toMatchObject({ kind: 'unreachable', status: 304 })
  })
})

describe('what the answer to a conditional request means', () => {
  const copy = copyOf({ etag: '"1"' })
  test.each([
    [
      'RFC 9110 §15.4.5, 304: the copy is the file',
      response(304, { etag: '"2"' }),
      { kind: 'unchanged', copy, status: 304, headers: { etag: '"2"' } },
    ],
    ['RFC 9309 §2.3.1.1, 200: there is a new one', response(200), { kind: 'success', status: 200 }],
    ['RFC 9309 §2.3.1.3, 404', response(404), { kind: 'unavailable', status: 404 }],
    ['RFC 9309 §2.3.1.3, 412: a 4xx like others', response(412), { kind: 'unavailable', status: 412 }],
    ['RFC 9309 §2.3.1.4, 503', response(503), { kind: 'unreachable', status: 503 }],
  ])('%s', (_, reply, expected) => {
    expect(advance(startAttempt(ROBOTS, copy), reply, defaultAccessPolicy)).toMatchObject(expected)
  })

  test('our choice, 304 without a validator in the request: nobody asked for it', () => {
    expect(advance(startAttempt(ROBOTS, copyOf({})), response(304), defaultAccessPolicy)).toMatchObject({
      kind: 'unreachable',
      status: 304,
    })
  })
})

describe('RFC 9309 §2.3.1.4, no answer is unreachable', () => {
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
    'no-transport',
  ] as const
  test.each(reasons)('%s', (reason) => {
    expect(advance(startAttempt(ROBOTS), failure(reason), defaultAccessPolicy)).toEqual({
      kind: 'unreachable',
      reason,
      detail: 'what happened',
      url: ROBOTS,
      hops: [],
    })
  })

  test('after a redirect, with the way there', () => {
    const second = following(startAttempt(ROBOTS), movedTo(ELSEWHERE))
    expect(advance(second, failure('dns'), defaultAccessPolicy)).toMatchObject({
      kind: 'unreachable',
      url: ELSEWHERE,
      hops: [{ url: ROBOTS, status: 301 }],
    })
  })

  test.each([100, 101, 103, 199])('our choice, an interim status as the last word: %i', (status) => {
    expect(advance(startAttempt(ROBOTS), response(status), defaultAccessPolicy)).toMatchObject({
      kind: 'unreachable',
      reason: 'status',
      status,
    })
  })
})

describe('redirects', () => {
  test('RFC 9309 §2.3, ftp has a robots.txt too', () => {
    expect(following(startAttempt(ROBOTS), movedTo('ftp://a.test/robots.txt')).url).toBe('ftp://a.test/robots.txt')
  })

  test.each([0, 1, 7])('our choice, a budget of %i', (maxRedirects) => {
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

  test('our choice, a loop is seen whatever the userinfo and the fragment', () => {
    const end = advance(startAttempt(ROBOTS), movedTo('https://me@a.test/robots.txt#again'), defaultAccessPolicy)
    expect(end).toMatchObject({ kind: 'unavailable', reason: 'redirect-loop' })
  })
})

describe('is another try a moment later worth its request', () => {
  test.each<readonly [name: string, reply: Reply, expected: boolean]>([
    ['our choice, never after a success', response(200), false],
    ['our choice, never after a redirect', movedTo(ELSEWHERE), false],
    ['our choice, never after a 304', response(304), false],
    ['our choice, never after a 4xx', response(404), false],
    ['our choice, after 429', response(429), true],
    ['our choice, after 500', response(500), true],
    ['our choice, after 503', response(503), true],
    ['our choice, after a status that no standard names', response(999), true],
    ['RFC 9110 §10.2.3, not when the server said how long to wait: 503', response(503, { 'retry-after': '1' }), false],
    ['RFC 9110 §10.2.3, not when the server said how long to wait: 429', response(429, { 'retry-after': '1' }), false],
    ['our choice, after a reset', failure('reset'), true],
    ['our choice, after a refusal', failure('refused'), true],
    ['our choice, after half a body', failure('truncated'), true],
    ['our choice, after a resolver that did not answer', failure('dns-unavailable'), true],
    ['our choice, after what has no name', failure('network'), true],
    ['our choice, not after a name without address', failure('dns'), false],
    ['our choice, not after the deadline', failure('timeout'), false],
    ['our choice, not after what is no HTTP', failure('malformed'), false],
    ['our choice, not after a coding that cannot be decoded', failure('undecodable'), false],
    ['our choice, not after headers over the limit', failure('too-large'), false],
    ['our choice, not after a certificate that does not do', failure('tls'), false],
    ['our choice, not after the guard', failure('blocked-address'), false],
    ['our choice, not without a client for the scheme', failure('no-transport'), false],
  ])('%s', (_, reply, expected) => {
    expect(isWorthRetrying(reply, defaultAccessPolicy)).toBe(expected)
  })
})
