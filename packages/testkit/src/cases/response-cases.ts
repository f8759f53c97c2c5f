// Test cases: well-formed responses to a request for robots.txt, and the verdict that follows. Each
// runs in core without a network, and in the fetcher over a socket.
import { gzipSync } from 'node:zlib'
import type { Reply } from '../servers/sites.ts'

export interface ReplyCase {
  /**
   * The source (a section of a standard, Google or our choice), a comma, and the case; variants
   * follow after a colon.
   */
  readonly name: string
  /**
   * The responses by URL; `:PORT` stands for the port of the server. Other URLs respond with 404.
   */
  readonly replies: Readonly<Record<string, Reply>>
  /** The options of the client; their defaults if undefined. */
  readonly notFoundPages?: 'unavailable'
  readonly foreignBodies?: 'unreachable'
  readonly expected: ReplyExpectation
}

/** A case in which the client has a copy from an earlier fetch. */
export interface ConditionalCase extends ReplyCase {
  /** The URL of the copy. Requests for it carry a condition at first. */
  readonly copyUrl: string
  /**
   * The response to the request with the condition. `replies` has the responses to requests without
   * one.
   */
  readonly toCondition: Reply
}

export interface ReplyExpectation {
  readonly allowed: boolean
  readonly because: string
  readonly outcome: string
  readonly reason: string
  readonly status: number
  /** What the response looks like, if it is not a robots.txt. */
  readonly looksLike?: string | undefined
  /**
   * The URLs that the client requests, in order and with `:PORT`. Each but the last is a hop, or
   * was requested with a condition before.
   */
  readonly requestedUrls: readonly string[]
}

/** The URL that every case checks. */
export const checkedPage = 'http://a.test:PORT/page'
/**
 * A robots.txt that disallows `askedPage`, so that the verdict shows whether the client obeyed it.
 */
export const disallowsPage = 'User-agent: *\nDisallow: /page\n'

const FIRST = 'http://a.test:PORT/robots.txt'
const OTHER_PATH = 'http://a.test:PORT/elsewhere/robots.txt'
const OTHER_HOST = 'http://b.test:PORT/robots.txt'

/** The parts of the expected verdict that do not depend on the requests. */
export type ExpectedAccess = Omit<ReplyExpectation, 'requestedUrls' | 'status'>
const obeyed: ExpectedAccess = { allowed: false, because: 'rule', outcome: 'success', reason: 'status' }
const noRules: ExpectedAccess = { allowed: true, because: 'no-group', outcome: 'success', reason: 'status' }
const unavailable: ExpectedAccess = { allowed: true, because: 'unavailable', outcome: 'unavailable', reason: 'status' }
const unreachable: ExpectedAccess = { allowed: false, because: 'unreachable', outcome: 'unreachable', reason: 'status' }

/** A single response without a redirect. */
function singleReply(name: string, reply: Reply, access: ExpectedAccess): ReplyCase {
  return { name, replies: { [FIRST]: reply }, expected: { ...access, status: reply.status, requestedUrls: [FIRST] } }
}

function forStatuses(
  statuses: readonly number[],
  name: string,
  access: ExpectedAccess,
  reply: Omit<Reply, 'status'> = {},
): ReplyCase[] {
  return statuses.map((status) => singleReply(`${name}: ${status}`, { ...reply, status }, access))
}

/**
 * A response that is not a robots.txt: to a client by default, and with `foreignBodies:
 * 'unreachable'`.
 */
function foreign(name: string, reply: Reply, looksLike: string, byDefault = noRules): ReplyCase[] {
  return [
    singleReply(`our choice, ${name} is reported, and RFC 9309 §2.3.1 decides`, reply, { ...byDefault, looksLike }),
    {
      ...singleReply(`our choice, with \`foreignBodies\`, ${name} is unreachable`, reply, {
        ...unreachable,
        reason: 'foreign-body',
        looksLike,
      }),
      foreignBodies: 'unreachable',
    },
  ]
}

/** A response to a client with `notFoundPages: 'unavailable'`. */
function page(name: string, reply: Reply, access: ExpectedAccess): ReplyCase {
  const html = String(reply.body).replaceAll('\n', ' ')
  return { ...singleReply(`${name}: ${html}`, reply, access), notFoundPages: 'unavailable' }
}

/** A redirect to a robots.txt that disallows the page, with a Location that leads to `to`. */
function redirected(name: string, location: string | readonly string[], to: string, status = 302): ReplyCase {
  return {
    name,
    replies: { [FIRST]: { status, headers: { location } }, [to]: { status: 200, body: disallowsPage } },
    expected: { ...obeyed, status: 200, requestedUrls: [FIRST, to] },
  }
}

/**
 * A redirect without a usable Location. Its body disallows the page, so that the verdict shows that
 * it is not read as rules.
 */
function withoutTarget(name: string, location: string | readonly string[] | undefined, status = 302): ReplyCase {
  const reply = { status, headers: location === undefined ? {} : { location }, body: disallowsPage }
  return singleReply(name, reply, { ...unavailable, reason: 'no-usable-location' })
}

/**
 * Redirects through `urls`, each to the next. The last one responds with a robots.txt that
 * disallows the page.
 */
function chained(name: string, urls: readonly string[], expected: Partial<ReplyExpectation> = {}): ReplyCase {
  const redirects = urls.slice(1).map((to, i) => [urls[i], { status: 301, headers: { location: to } }] as const)
  return {
    name,
    replies: { [urls.at(-1) ?? FIRST]: { status: 200, body: disallowsPage }, ...Object.fromEntries(redirects) },
    expected: { ...obeyed, status: 200, requestedUrls: urls, ...expected },
  }
}

/** One redirect, followed by a response other than 2xx. */
function redirectedTo(name: string, reply: Reply, access: ExpectedAccess, body = ''): ReplyCase {
  return {
    name,
    replies: { [FIRST]: { status: 301, headers: { location: OTHER_HOST }, body }, [OTHER_HOST]: reply },
    expected: { ...access, status: reply.status, requestedUrls: [FIRST, OTHER_HOST] },
  }
}

/**
 * A conditional request, which `toCondition` answers, and the same request without the condition,
 * which `then` answers.
 */
function repeated(name: string, toCondition: number, then: Reply, access: ExpectedAccess): ConditionalCase {
  return {
    name,
    replies: { [FIRST]: then },
    copyUrl: FIRST,
    toCondition: { status: toCondition },
    expected: { ...access, status: then.status, requestedUrls: [FIRST, FIRST] },
  }
}

const hops = (count: number) => [FIRST, ...Array.from({ length: count }, (_, i) => `http://a.test:PORT/hop${i + 1}`)]
const hosts = ['a', 'b', 'c', 'd', 'e', 'f'].map((name) => `http://${name}.test:PORT/robots.txt`)

export const replyCases: readonly ReplyCase[] = [
  ...forStatuses(
    [200, 201, 202, 203, 207, 208, 226, 299],
    'RFC 9309 §2.3.1.1, a 2xx is success, and its rules are obeyed',
    obeyed,
    {
      body: disallowsPage,
    },
  ),
  ...forStatuses([204, 205], 'RFC 9309 §2.3.1.1, a 2xx without a body has no rules', noRules),
  singleReply('RFC 9309 §2.3.1.1, an empty file has no rules', { status: 200, body: '' }, noRules),
  singleReply(
    'RFC 9309 §2.3.1.1, HTML instead of robots.txt has no rules',
    { status: 200, body: '<!doctype html><p>Hello' },
    noRules,
  ),
  singleReply(
    'RFC 9309 §2.3.1.1, parseable rules are obeyed even inside HTML',
    { status: 200, headers: { 'content-type': 'text/html' }, body: `<!doctype html><pre>\n${disallowsPage}</pre>` },
    obeyed,
  ),
  ...[
    '',
    'text',
    ';;;',
    'image/png',
    'application/octet-stream',
    'application/json; charset="',
    'multipart/byteranges; boundary=x',
    'text/plain; charset=utf-16',
  ].map((type) =>
    singleReply(
      `our choice, the media type is ignored: "${type}"`,
      { status: 200, headers: { 'content-type': type }, body: disallowsPage },
      obeyed,
    ),
  ),
  singleReply(
    'RFC 9110 §15.3.7, a 206 with the whole file',
    { status: 206, headers: { 'content-range': 'bytes 0-29/30' }, body: disallowsPage },
    obeyed,
  ),
  ...['bytes 0-30/31', 'bytes 0-2999/3000', 'bytes 0-28/29', 'bytes 0-0/1'].map((range) =>
    singleReply(
      `RFC 9110 §14.4, a 206 whose body of 30 bytes is not as long as the file: "${range}"`,
      { status: 206, headers: { 'content-range': range }, body: disallowsPage },
      { ...unreachable, reason: 'truncated' },
    ),
  ),
  singleReply(
    'RFC 9110 §15.3.7.1, a 206 without Content-Range may hold only a part of the file',
    { status: 206, body: disallowsPage },
    { ...unreachable, reason: 'truncated' },
  ),
  ...[
    'bytes 0-29/100',
    'bytes 70-99/100',
    'bytes 1-29/30',
    'bytes 0-29/*',
    'bytes */30',
    'lines 1-2/2',
    '',
    'bytes 0-9007199254740992/9007199254740992',
    ['bytes 0-29/30', 'bytes 0-29/30'],
    ['bytes 0-29/30', 'bytes 30-59/60'],
  ].map((range) =>
    singleReply(
      `RFC 9110 §14.4, a 206 that may hold only a part of the file: ${JSON.stringify(range)}`,
      { status: 206, headers: { 'content-range': range }, body: disallowsPage },
      { ...unreachable, reason: 'truncated' },
    ),
  ),
  ...['multipart/byteranges; boundary=x', 'Multipart/ByteRanges;boundary="x"', 'multipart/byteranges'].map((type) =>
    singleReply(
      `RFC 9110 §14.6, a multipart 206 is not the whole file: "${type}"`,
      {
        status: 206,
        headers: { 'content-type': type },
        body: '--x\r\nContent-Range: bytes 0-9/30\r\n\r\nUser-agent\r\n--x--\r\n',
      },
      { ...unreachable, reason: 'truncated' },
    ),
  ),
  singleReply(
    'RFC 3229 §10.4.1, a 226 whose IM header says that the body is a delta or a part of the file',
    { status: 226, headers: { im: 'vcdiff' }, body: disallowsPage },
    { ...unreachable, reason: 'truncated' },
  ),
  ...[
    ['Location', { location: OTHER_PATH }],
    ['Refresh', { refresh: `0; url=${OTHER_PATH}` }],
  ].map(([name, headers]) =>
    singleReply(
      `Google, only a 3xx is a redirect: a 200 with ${name} is not`,
      { status: 200, headers: headers as Reply['headers'] & {}, body: '' },
      noRules,
    ),
  ),
  singleReply(
    'Google, a meta refresh or a script in the body is not a redirect',
    {
      status: 200,
      body: `<meta http-equiv="refresh" content="0; url=${OTHER_PATH}"><script>location = "${OTHER_PATH}"</script>`,
    },
    noRules,
  ),
  singleReply(
    'RFC 9309 §2.3.1.3, the Location of a 404 is not followed',
    { status: 404, headers: { location: OTHER_PATH } },
    unavailable,
  ),

  ...[300, 301, 302, 303, 305, 306, 307, 308, 309, 399].map((status) =>
    redirected(`RFC 9309 §2.3.1.2, a redirect is followed: ${status}`, OTHER_PATH, OTHER_PATH, status),
  ),
  redirected('RFC 9309 §2.3.1.2, also to another host, for the initial origin', OTHER_HOST, OTHER_HOST),
  redirected('RFC 9110 §10.2.2, Location may be a path', '/elsewhere/robots.txt', OTHER_PATH),
  redirected('RFC 9110 §10.2.2, Location may be a relative path', 'elsewhere/./robots.txt', OTHER_PATH),
  redirected('RFC 9110 §10.2.2, Location may be a query', '?lang=en', `${FIRST}?lang=en`),
  redirected('RFC 9110 §10.2.2, Location may omit the scheme', '//b.test:PORT/robots.txt', OTHER_HOST),
  redirected('RFC 9110 §10.2.2, the fragment of Location is not sent', `${OTHER_PATH}#rules`, OTHER_PATH),
  redirected('RFC 3986 §3.1, scheme and host of Location in upper case', 'HTTP://B.TEST:PORT/robots.txt', OTHER_HOST),
  redirected('WHATWG URL, a backslash in Location is a slash', '\\\\b.test:PORT\\robots.txt', OTHER_HOST),
  redirected('WHATWG URL, a Location without a path leads to /', 'http://b.test:PORT', 'http://b.test:PORT/'),
  redirected('WHATWG Fetch, the bytes of a Location are UTF-8', '/\u00c3\u00b6', 'http://a.test:PORT/%C3%B6'),
  redirected('our choice, a Location that is not valid UTF-8 is latin1', '/caf\u00e9', 'http://a.test:PORT/caf%C3%A9'),
  redirected('our choice, two equal Locations count as one', ['/ok', '/ok'], 'http://a.test:PORT/ok'),
  redirected('WHATWG URL, tabs in Location are removed', '/o\tk', 'http://a.test:PORT/ok'),
  redirected('WHATWG URL, a space in Location becomes %20', '/o k', 'http://a.test:PORT/o%20k'),
  redirected('WHATWG URL, %0D%0A in Location stays in the path', '/%0D%0AX:y', 'http://a.test:PORT/%0D%0AX:y'),
  redirected(
    'our choice, a Location of 10,000 bytes',
    `/${'x'.repeat(10_000)}`,
    `http://a.test:PORT/${'x'.repeat(10_000)}`,
  ),
  redirected('our choice, userinfo in Location is removed', 'http://user:secret@b.test:PORT/robots.txt', OTHER_HOST),

  chained('RFC 9309 §2.3.1.2, five redirects are followed', hops(5)),
  chained('RFC 9309 §2.3.1.2, five redirects across six hosts are followed', hosts),
  chained('RFC 9309 §2.3.1.2, a sixth redirect is not followed, and robots.txt is unavailable', hops(6), {
    ...unavailable,
    reason: 'too-many-redirects',
    status: 301,
    requestedUrls: hops(5),
  }),
  chained('our choice, a redirect to the same URL is unavailable at once', [FIRST, FIRST], {
    ...unavailable,
    reason: 'redirect-loop',
    status: 301,
    requestedUrls: [FIRST],
  }),
  chained('our choice, a redirect loop is unavailable at once', [FIRST, OTHER_HOST, FIRST], {
    ...unavailable,
    reason: 'redirect-loop',
    status: 301,
    requestedUrls: [FIRST, OTHER_HOST],
  }),
  chained('our choice, a redirect loop of five URLs is unavailable at once', [...hosts.slice(0, 5), FIRST], {
    ...unavailable,
    reason: 'redirect-loop',
    status: 301,
    requestedUrls: hosts.slice(0, 5),
  }),
  chained(
    'our choice, a redirect loop that begins later is unavailable at once',
    [FIRST, OTHER_HOST, OTHER_PATH, OTHER_HOST],
    {
      ...unavailable,
      reason: 'redirect-loop',
      status: 301,
      requestedUrls: [FIRST, OTHER_HOST, OTHER_PATH],
    },
  ),

  ...[300, 301, 302, 303, 307, 308, 399].map((status) =>
    withoutTarget(`our choice, a redirect without Location is unavailable: ${status}`, undefined, status),
  ),
  ...[
    '',
    'mailto:webmaster@a.test',
    'javascript:alert(1)',
    'data:text/plain,User-agent:%20*%0ADisallow:%20/page',
    'file:///robots.txt',
    'ws://b.test:PORT/robots.txt',
    'about:blank',
    'http://',
    'http://[b.test/robots.txt',
    'http://b.test:99999/robots.txt',
    ['/one', '/other'],
  ].map((location) =>
    withoutTarget(`our choice, a redirect with an unusable Location is unavailable: "${location}"`, location),
  ),

  redirectedTo('RFC 9309 §2.3.1.3, a redirect to a 404 is unavailable', { status: 404 }, unavailable),
  redirectedTo('RFC 9309 §2.3.1.4, a redirect to a 500 is unreachable', { status: 500 }, unreachable),
  redirectedTo(
    'RFC 9309 §2.3.1.4, a redirect to a 304 without a condition in the request is unreachable',
    { status: 304 },
    unreachable,
  ),
  redirectedTo(
    'RFC 9309 §2.3.1.2, the body of a redirect to a 404 is not read as rules',
    { status: 404 },
    unavailable,
    disallowsPage,
  ),
  singleReply('our choice, a 304 to an unconditional request is unreachable', { status: 304 }, unreachable),
  singleReply(
    'our choice, a 304 to an unconditional request is unreachable, and its Location is not followed',
    { status: 304, headers: { location: OTHER_PATH } },
    unreachable,
  ),

  ...forStatuses(
    [400, 401, 402, 403, 404, 405, 406, 410, 418, 421, 425, 428, 431, 451, 499],
    'RFC 9309 §2.3.1.3, a 4xx is unavailable, and its body is not read as rules',
    unavailable,
    { body: disallowsPage },
  ),
  singleReply('Google, 429 counts as a server error: unreachable', { status: 429 }, unreachable),
  singleReply(
    'Google, 429 with Retry-After is unreachable',
    { status: 429, headers: { 'retry-after': '120' } },
    unreachable,
  ),
  ...forStatuses(
    [500, 501, 502, 503, 504, 505, 507, 511, 520, 599],
    'RFC 9309 §2.3.1.4, a 5xx is unreachable',
    unreachable,
    {
      body: 'User-agent: *\nAllow: /\n',
    },
  ),
  singleReply(
    'RFC 9309 §2.3.1.4, 503 with Retry-After in seconds is unreachable',
    { status: 503, headers: { 'retry-after': '3600' } },
    unreachable,
  ),
  singleReply(
    'RFC 9309 §2.3.1.4, 503 with Retry-After as a date is unreachable',
    { status: 503, headers: { 'retry-after': 'Fri, 31 Dec 2049 23:59:59 GMT' } },
    unreachable,
  ),
  ...['-120', '500ms', '1e3', 'soon', '', 'Sun, 06 Nov 1994 08:49:37 GMT', '9'.repeat(400)].map((value) =>
    singleReply(
      `our choice, 503 with an invalid or extreme Retry-After is unreachable: "${value.length > 40 ? `9, ${value.length} times` : value}"`,
      { status: 503, headers: { 'retry-after': value } },
      unreachable,
    ),
  ),
  ...[
    '<h1>Page Not Found</h1>',
    '<h1><svg viewBox="0 0 1 1"><path d="M0 0"/></svg>Page not found</h1>',
    '<title>404</title>',
    '<TITLE>Error 404</TITLE>',
    '<title>404 Not Found</title><h1>Out of order</h1>',
    '<title>Page not found &#8211; Example</title>',
    '<title>Example | 404: This page could not be found.</title>',
    '<title>Example</title><h3 class="big">\n404 <small>File not\nfound!</small></h3>',
    '<h2>Seite nicht gefunden — 404',
  ].map((body) =>
    page(
      'Google, with `notFoundPages`, a 5xx whose title or heading says "not found" is unavailable',
      { status: 500, body },
      { ...unavailable, reason: 'not-found-page' },
    ),
  ),
  ...[
    'Not Found',
    '<h1>Call 404-555-0100</h1>',
    '<h1>Call (404) 555-0100</h1>',
    '<h1>404-555-0100</h1>',
    '<h1>404.555.0100</h1>',
    '<a href="/404">404</a>',
    '<h1><a href="/404">/404</a></h1>',
    '<h1>Upstream not found</h1>',
    '<h1>Host not found</h1>',
    '<h1>Out of order</h1><p>Page not found</p>',
    '<h1 title="Page not found">Out of order</h1>',
    '<!-- <h1>Page not found</h1> --><h1>Out of order</h1>',
    '<script>show("<h1>Page not found</h1>")</script><h1>Out of order</h1>',
    '<template><h1>Page not found</h1></template><h1>Out of order</h1>',
    '<svg><title>Not found</title></svg><h1>Out of order</h1>',
    '<h10>Page not found</h10>',
  ].map((body) =>
    page(
      'our choice, with `notFoundPages`, a 5xx that says "not found" elsewhere, or about something else, is unreachable',
      { status: 500, body },
      unreachable,
    ),
  ),
  page(
    'our choice, with `notFoundPages`, a 503 that says "not found" is unreachable',
    { status: 503, body: '<h1>Not Found</h1>' },
    unreachable,
  ),
  page(
    'our choice, with `notFoundPages`, a 5xx with Retry-After that says "not found" is unreachable',
    { status: 500, headers: { 'retry-after': '120' }, body: '<h1>Not Found</h1>' },
    unreachable,
  ),
  page(
    'our choice, with `notFoundPages`, a status above 599 that says "not found" is unreachable',
    { status: 600, body: '<h1>Not Found</h1>' },
    unreachable,
  ),
  ...foreign('an HTML page', { status: 200, body: '<!DOCTYPE html>\n<title>Shop</title><div id="app"></div>' }, 'html'),
  ...foreign('an HTML page with a rule', { status: 200, body: `<html><pre>\n${disallowsPage}</pre>` }, 'html', obeyed),
  ...foreign(
    'an XML document',
    { status: 200, body: '<?xml version="1.0"?><Error><Code>AccessDenied</Code></Error>' },
    'xml',
  ),
  ...foreign('a JSON document', { status: 200, body: '{"message":"Forbidden"}' }, 'json'),
  ...foreign('UTF-16 text', { status: 200, body: Buffer.from(`\ufeff${disallowsPage}`, 'utf16le') }, 'utf-16'),
  ...foreign('a gzip file without Content-Encoding', { status: 200, body: gzipSync(disallowsPage) }, 'gzip'),
  ...foreign('an image', { status: 200, body: Buffer.from('89504e470d0a1a0a0000000d', 'hex') }, 'binary'),
  ...foreign('text without a line of a robots.txt', { status: 200, body: 'Access denied\n' }, 'text'),
  ...foreign(
    "Cloudflare's challenge",
    { status: 403, headers: { 'cf-mitigated': 'challenge' }, body: '<!DOCTYPE html>' },
    'challenge',
    unavailable,
  ),
  ...foreign("AWS WAF's challenge", { status: 202, headers: { 'x-amzn-waf-action': 'challenge' } }, 'challenge'),
  ...foreign(
    "AWS WAF's captcha",
    { status: 405, headers: { 'x-amzn-waf-action': 'captcha' }, body: '<html>' },
    'challenge',
    unavailable,
  ),
  ...['', '\n', '# no rules\n', 'Sitemap: https://a.test/map.xml\n', 'Noindex: /x\n'].map((body) => ({
    ...singleReply(
      `our choice, a file that may be a robots.txt is obeyed with \`foreignBodies\`: ${JSON.stringify(body)}`,
      { status: 200, body },
      { ...noRules },
    ),
    foreignBodies: 'unreachable' as const,
  })),
  ...forStatuses([600, 700, 999], 'our choice, a status above 599 is unreachable', unreachable, {
    body: 'User-agent: *\nAllow: /\n',
  }),
]

export const conditionalCases: readonly ConditionalCase[] = [
  ...[400, 401, 403, 404, 412, 428, 431, 499].map((status) =>
    repeated(
      `our choice, after a 4xx to a conditional request only the response without the condition counts: ${status}`,
      status,
      { status: 200, body: disallowsPage },
      obeyed,
    ),
  ),
  repeated('RFC 9309 §2.3.1.3, a 4xx with and without the condition is unavailable', 404, { status: 404 }, unavailable),
  repeated(
    'RFC 9309 §2.3.1.4, a 4xx with the condition and a 5xx without it is unreachable',
    412,
    { status: 500 },
    { ...unreachable, because: 'rule' },
  ),
  {
    name: 'our choice, a 4xx to a conditional request after a redirect',
    replies: {
      [FIRST]: { status: 301, headers: { location: OTHER_HOST } },
      [OTHER_HOST]: { status: 200, body: disallowsPage },
    },
    copyUrl: OTHER_HOST,
    toCondition: { status: 412 },
    expected: { ...obeyed, status: 200, requestedUrls: [FIRST, OTHER_HOST, OTHER_HOST] },
  },
  {
    name: 'Google, 429 to a conditional request is unreachable, and the client does not repeat it',
    replies: {},
    copyUrl: FIRST,
    toCondition: { status: 429 },
    expected: { ...unreachable, because: 'rule', status: 429, requestedUrls: [FIRST] },
  },
]
