import { spawnSync } from 'node:child_process'
import { sampled } from '@politely/testkit/scope'
import fc from 'fast-check'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { describeOutcome, OptionError, outcomeOf, type PageOutcomeKind } from '../src/index.ts'

const HTML = { 'content-type': 'text/html; charset=utf-8' }
const NOW = Date.UTC(2026, 10, 27, 12)

function bytes(text: string): Uint8Array {
  return new TextEncoder().encode(text)
}

/** The kind and the reason of a response, such as `denied: status`. */
function outcome(status: number, headers: Record<string, unknown> = {}, more: object = {}): string {
  const found = outcomeOf({ status, headers, ...more })
  return found === undefined ? 'undefined' : `${found.kind}: ${found.because}`
}

function page(html: string, headers: Record<string, unknown> = HTML, status = 200): string {
  return outcome(status, headers, { head: bytes(html) })
}

function failed(error: unknown): string {
  const found = outcomeOf(error)
  return found === undefined ? 'undefined' : `${found.kind}: ${found.because}`
}

function coded(code: string, message = 'failed'): Error {
  return Object.assign(new Error(message), { code })
}

function named(name: string, message = 'failed', more: object = {}): Error {
  return Object.assign(new Error(message), { name, ...more })
}

describe('the outcome of a status', () => {
  const others: Readonly<Record<number, PageOutcomeKind>> = {
    304: 'served',
    401: 'denied',
    402: 'payment-required',
    403: 'denied',
    407: 'connection',
    408: 'server-error',
    410: 'gone',
    421: 'server-error',
    425: 'server-error',
    429: 'rate-limited',
    430: 'rate-limited',
    451: 'denied',
    511: 'connection',
  }
  const classes: readonly PageOutcomeKind[] = ['connection', 'served', 'redirect', 'not-found', 'server-error']

  it('is known for each status from 100 to 599', () => {
    for (let status = 100; status <= 599; status++) {
      const expected = others[status] ?? classes[Math.floor(status / 100) - 1]
      expect(outcomeOf({ status, headers: { location: '/next' } })?.kind, String(status)).toBe(expected)
    }
  })

  it.each([
    [101, 'connection: malformed'],
    [302, 'redirect: no-usable-location'],
    [300, 'redirect: no-usable-location'],
    [407, 'connection: proxy'],
    [511, 'connection: proxy'],
    [999, 'server-error: status'],
  ])('of %i is %s', (status, expected) => {
    expect(outcome(status)).toBe(expected)
  })

  it.each([0, -1, Number.NaN, 99, 200.5, 1000, Number.POSITIVE_INFINITY])(
    'is undefined for %d, which is no status',
    (status) => {
      expect(outcome(status)).toBe('undefined')
    },
  )

  it('is that of a Response of fetch, whose body is not read', () => {
    const response = new Response('<form><input type="password"></form>', { status: 403, headers: HTML })
    expect(outcomeOf(response)).toEqual({ kind: 'denied', because: 'status', status: 403 })
    expect(response.bodyUsed).toBe(false)
    expect(outcomeOf(Response.error())).toBeUndefined()
  })
})

describe('Retry-After', () => {
  const date = 'Fri, 27 Nov 2026 12:02:00 GMT'
  it.each([
    ['seconds', 429, { 'retry-after': '120' }, undefined, 120_000],
    ['a date, by the given time', 503, { 'retry-after': date }, NOW, 120_000],
    [
      'a date, by the Date header',
      503,
      { 'retry-after': date, date: 'Fri, 27 Nov 2026 12:01:00 GMT' },
      undefined,
      60_000,
    ],
    ['a date at an unknown time', 503, { 'retry-after': date }, undefined, undefined],
    ['a date in the past', 503, { 'retry-after': date }, NOW + 1e6, undefined],
    ['a time of a year', 403, { 'retry-after': '31536000' }, undefined, 86_400_000],
    ['zero', 429, { 'retry-after': '0' }, undefined, undefined],
    ['no time', 429, { 'retry-after': 'soon' }, NOW, undefined],
  ])('with %s', (_, status, headers, now, expected) => {
    expect(outcomeOf({ status, headers }, now)?.retryAfterMs).toBe(expected)
  })
})

describe('a price', () => {
  const offer = { scheme: 'exact', network: 'eip155:8453', asset: '0x83', amount: '10000', payTo: '0x20' }
  const v1 = JSON.stringify({
    x402Version: 1,
    accepts: [{ network: 'base', asset: '0x03', maxAmountRequired: '2500' }],
  })
  const v2 = btoa(JSON.stringify({ x402Version: 2, accepts: [offer] }))

  it.each([
    [
      'Cloudflare',
      { 'crawler-price': 'USD 0.01' },
      { source: 'crawler-price', amount: '0.01', currency: 'USD', raw: 'USD 0.01' },
    ],
    ['Cloudflare, in an unknown form', { 'crawler-price': 'ask us' }, { source: 'crawler-price', raw: 'ask us' }],
    [
      'x402, version 2',
      { 'PAYMENT-REQUIRED': v2 },
      { source: 'x402', amount: '10000', currency: '0x83', network: 'eip155:8453', raw: v2 },
    ],
    ['x402, corrupt', { 'payment-required': '%%%' }, { source: 'x402', raw: '%%%' }],
    [
      'L402',
      { 'www-authenticate': 'L402 macaroon="AG", invoice="lnbc1"' },
      { source: 'www-authenticate', raw: 'L402 macaroon="AG", invoice="lnbc1"' },
    ],
    ['a login', { 'www-authenticate': 'Basic realm="Payment"' }, undefined],
    ['nothing', {}, undefined],
  ])('of %s is data', (_, headers, price) => {
    expect(outcomeOf({ status: 402, headers })).toEqual({
      kind: 'payment-required',
      because: 'status',
      status: 402,
      ...(price && { price }),
    })
  })

  it('of x402, version 1, is in the body', () => {
    const found = outcomeOf({ status: 402, headers: { 'content-type': 'application/json' }, head: bytes(v1) })
    expect(found?.price).toEqual({ source: 'x402', amount: '2500', currency: '0x03', network: 'base', raw: v1 })
    expect(outcomeOf({ status: 402, headers: {}, head: bytes(v1.slice(0, 40)) })?.price).toEqual({
      source: 'x402',
      raw: v1.slice(0, 40),
    })
  })

  it('counts only with 402, and a charge only with a page', () => {
    expect(outcomeOf({ status: 403, headers: { 'crawler-price': 'USD 1' } })?.price).toBeUndefined()
    expect(outcomeOf({ status: 200, headers: { 'crawler-charged': 'USD 0.01' } })).toEqual({
      kind: 'served',
      because: 'status',
      status: 200,
      price: { source: 'crawler-charged', amount: '0.01', currency: 'USD', raw: 'USD 0.01' },
    })
  })
})

describe('a challenge', () => {
  it.each([
    ['Cloudflare', 403, { 'cf-mitigated': 'challenge', 'cf-ray': '8a-FRA', server: 'cloudflare' }],
    ['Cloudflare, in another case', 200, { 'CF-Mitigated': 'Challenge' }],
    ['AWS WAF', 202, { 'x-amzn-waf-action': 'challenge', 'content-length': '1998' }],
    ["AWS WAF's captcha", 405, { 'x-amzn-waf-action': 'captcha' }],
  ])('of %s is in the headers', (_, status, headers) => {
    expect(outcome(status, headers)).toBe('challenge: challenge-header')
  })

  it.each([
    [
      'Cloudflare',
      '<html lang="en-US"><head><title>Just a moment...</title></head><body><script nonce="a">(function(){window._cf_chl_opt = {cvId: "3", cZone: "a.example"};}());</script>',
    ],
    [
      'AWS WAF',
      '<!DOCTYPE html><html><head><script type="text/javascript">\nwindow.awsWafCookieDomainList = [];\nwindow.gokuProps = {"key":"A"};</script>',
    ],
    [
      'DataDome',
      `<html><head><title>a.example</title></head><body><p id="cmsg">Please enable JS</p><script data-cfasync="false">var dd={'rt':'c','cid':'A','host':'geo.captcha.example'}</script>`,
    ],
    [
      'HUMAN',
      '<html><body><div class="main"><div id="px-captcha"></div></div><script>window._pxAppId = "PXa";</script>',
    ],
    [
      'Imperva',
      '<html style="height:100%"><head><META NAME="ROBOTS" CONTENT="NOINDEX, NOFOLLOW"></head><body><iframe id="main-iframe" src="/_Incapsula_Resource?CWUDNSAI=9&xinfo=1" frameborder=0>',
    ],
    [
      "Imperva's script",
      '<html>\n<head>\n<META NAME="robots" CONTENT="noindex,nofollow">\n<script src="/_Incapsula_Resource?SWJIYLWA=5074a">\n</script>\n<body>\n</body></html>',
    ],
    [
      'Sucuri',
      `<html><title>You are being redirected...</title><script>var s={},u,c,U,r,sucuri_cloudproxy_js='',S='A';</script>`,
    ],
    [
      'DDoS-Guard',
      '<html><title>DDoS-Guard</title><script src="/.well-known/ddos-guard/js-challenge/index.js"></script>',
    ],
    ['Akamai', '<!DOCTYPE html><html><body><div id="sec-if-cpt-container" data-key="" role="main"></div>'],
    ['HUMAN, after a comment that ends at once', '<html><!--><div id="px-captcha"></div>'],
    ['HUMAN, after a comment that ends with --!>', '<html><!-- a --!><div id="px-captcha"></div>'],
    ['HUMAN, with a comment in the element', '<html><div <!-- > --> id="px-captcha"></div>'],
    ['Cloudflare, after a script with <!--', '<script><!--\n//</script><script>window._cf_chl_opt={}</script>'],
    ["Akamai's check", `<html><head><meta http-equiv="refresh" content="5; URL='/?bm-verify=AAQ'"></head>`],
    [
      'Anubis',
      '<!doctype html><title>Making sure you are not a bot!</title><script id="anubis_challenge" type="application/json">{}</script>',
    ],
  ])('of %s is the page, with any status', (_, html) => {
    for (const status of [200, 403, 429, 503]) expect(page(html, HTML, status)).toBe('challenge: challenge-page')
    expect(page(html, {})).toBe('challenge: challenge-page')
    expect(page(`<!-- -->\n${html}`)).toBe('challenge: challenge-page')
  })

  it.each([
    [
      'an article about captchas',
      '<html><title>CAPTCHA - A wiki</title><p>A challenge, such as "Just a moment...", asks whether the visitor is human. Sites of cf-mitigated: challenge show px-captcha.</p>',
    ],
    [
      'an article with code of a challenge',
      '<html><pre>&lt;script>window._cf_chl_opt={&lt;/script> &lt;div id="px-captcha"></pre><code>window._cf_chl_opt = {}</code>',
    ],
    [
      'an article whose text is also in a script',
      '<html><script type="application/json">{"text":"window._cf_chl_opt = {}; var dd={\'rt\':1}; gokuProps"}</script>',
    ],
    [
      'a form with a captcha',
      '<html><form action="/contact"><div class="g-recaptcha" data-sitekey="A"></div><script src="https://challenges.example/turnstile/v0/api.js"></script></form>',
    ],
    [
      'a page that Cloudflare measures',
      `<html><p>Text</p><script>(function(){var a=document.createElement('script');a.innerHTML="window.__CF$cv$params={r:'8a'}";a.src='/cdn-cgi/challenge-platform/scripts/jsd/main.js'})();</script>`,
    ],
    [
      'a page that Imperva measures',
      '<html><script src="/_Incapsula_Resource?SWJIYLWA=719d" async></script><p>Text</p>',
    ],
    ['a page with the sensor of HUMAN', '<html><script>window._pxAppId = "PXa";</script><p>Text</p>'],
    [
      'a page that names its domains to AWS WAF',
      '<html><script>window.awsWafCookieDomainList = ["a.example"];</script><p>Text</p>',
    ],
    ['a commented challenge', '<html><!-- <div id="px-captcha"> --><p>Text</p>'],
  ])('is not %s', (_, html) => {
    expect(page(html)).toBe('served: status')
  })

  it.each([
    ['DataDome', '{"url":"https://geo.captcha-delivery.com/captcha/?initialCid=A"}'],
    ['HUMAN', '{"appId":"PXa","jsClientSrc":"/a/init.js"}'],
    ['Akamai', '{"sec-cp-challenge": "true","provider":"crypto"}'],
  ])('of %s can be JSON', (_, json) => {
    expect(page(json, { 'content-type': 'application/json' }, 403)).toBe('challenge: challenge-page')
    expect(page(`{"text":${JSON.stringify(json)}}`, { 'content-type': 'application/json' })).toBe('served: status')
  })

  it('is not a script or a text with such marks', () => {
    expect(page('<div id="px-captcha">', { 'content-type': 'text/plain' })).toBe('served: status')
  })

  it.each([
    ['cf-mitigated', 'block'],
    ['x-amzn-waf-action', 'allow'],
    ['x-datadome', 'protected'],
    ['x-iinfo', '1-2-3'],
    ['server', 'AkamaiGHost'],
  ])('is not a response with %s: %s', (name, value) => {
    expect(outcome(200, { [name]: value })).toBe('served: status')
    expect(outcome(403, { [name]: value })).toBe('denied: status')
  })
})

describe('a login', () => {
  const at = (location: string, url?: string) => outcome(302, { location }, { url })

  it.each([
    '/login',
    '/login/',
    'login.php?next=%2Forders',
    '/users/sign_in',
    '/en/Account/SignIn?ReturnUrl=%2Fa',
    '/wp-login.php?redirect_to=https%3A%2F%2Fa.example%2F',
    '/index.php?title=Special:UserLogin&returnto=Main_Page',
    'https://sso.example.org/cas/login?service=https%3A%2F%2Fa.example%2Fa',
    'https://login.example.com/?returnTo=/a',
    'https://accounts.example.com/v3/?continue=https://a.example',
    'https://idp.example/authorize?response_type=code&client_id=a&redirect_uri=b',
    'https://idp.example/x?SAMLRequest=fZJ',
    '/login#top',
    '/login;jsessionid=1A?next=/',
    '/sessions/new',
    'https://a.access.example/cdn-cgi/access/login/a.example?redirect_url=%2F',
    '/%6Cogin',
  ])('is a redirect to %s', (location) => {
    expect(at(location)).toBe('login: login-redirect')
    expect(at(location, 'https://a.example/orders')).toBe('login: login-redirect')
  })

  it.each([
    '/blog/login-tips',
    '/login-tips',
    '/docs/login/overview',
    '/catalogin',
    '/?next=/login',
    '/redirect?to=/login',
    'https://login.example.com/',
    'https://accounts.example.com/help',
    '/signings',
    'https://id.example.org/wiki/A?from=en&redirect=no',
    'https://account.example.com/help?ref=footer',
    '/login/2024/report',
    '//login/a',
    'http://[',
    '',
  ])('is not a redirect to %j', (location) => {
    expect(at(location)).toMatch(/^redirect: /)
  })

  it.each([
    ['/login/', 'https://a.example/login'],
    ['https://www.a.example/login', 'http://a.example/login'],
    ['/en/sign-in', 'https://a.example/login'],
  ])('is not a redirect of a login page to %s', (location, url) => {
    expect(at(location, url)).toBe('redirect: status')
  })

  it('is a redirect that fetch followed to a login page', () => {
    const url = 'https://a.example/login?next=/orders'
    expect(outcome(200, HTML, { url, redirected: true })).toBe('login: login-redirect')
    expect(outcome(200, HTML, { url, redirected: false })).toBe('served: status')
    expect(outcome(404, HTML, { url, redirected: true })).toBe('not-found: status')
  })

  const form = '<form action="/session" method="post"><input name="user"><input type="password" name="p"></form>'
  const links = '<p><a href="/thread">A thread about gardens and roses</a></p>'.repeat(60)
  it.each([
    ['a small page', `<html><body>${form}</body></html>`],
    ['a start of a page that is all there is', form],
    ['a page whose title says so', `<html><title>Log in | A shop</title>${form}${links}`],
    ['a page whose title says so in Russian', `<html><title>Вход</title>${form}${links}`],
    ['a page with <!-- in its title', `<html><title>Log in <!-- now</title>${form}${links}`],
    ['a field with other quotes', `<title>Sign in</title><input id=p type='PASSWORD'>`],
    ['a field with no quotes', '<title>Login</title><input type=password>'],
  ])('is %s with a password', (_, html) => {
    expect(page(html)).toBe('login: password-form')
    expect(page(html, {})).toBe('login: password-form')
    expect(page(html, HTML, 401)).toBe('denied: status')
    expect(page(html, HTML, 404)).toBe('not-found: status')
  })

  it.each([
    ['a forum with a field for the password on each page', `<html><title>Gardens</title>${form}${links}</html>`],
    ['the start of a forum', `<html><title>Gardens</title><style>${'a{}'.repeat(500)}</style>${form}`],
    ['an article about logging in', `<html><title>How to log in</title><code>&lt;input type="password"></code></html>`],
    ['a page with a field in a comment', `<html><title>Login</title><!-- ${form} --></html>`],
    ['a page with a field in a script', `<html><title>Login</title><script>a = '${form}'</script></html>`],
    ['a page with another field', '<html><title>Login</title><input data-type="password" type="text"></html>'],
  ])('is not %s', (_, html) => {
    expect(page(html)).toBe('served: status')
  })

  it('is a page with a password at the URL of a login', () => {
    const head = bytes(`<html><title>A shop</title>${form}${links}`)
    expect(outcome(200, HTML, { head, url: 'https://a.example/login' })).toBe('login: password-form')
    expect(outcome(200, HTML, { head, url: 'https://a.example/' })).toBe('served: status')
  })

  describe('in another charset', () => {
    const long = `${form}${links}`
    const latin1 = (text: string) => Uint8Array.from(text, (c) => c.charCodeAt(0))
    const russian = latin1(`<html><title>\xc2\xf5\xee\xe4</title>${long}`) // "Вход" in windows-1251
    it.each([
      ['of Content-Type', russian, { 'content-type': 'text/html; charset="windows-1251"' }],
      [
        'of a meta element',
        latin1(
          `<html><meta http-equiv="Content-Type" content="text/html; charset=windows-1251"><title>\xc2\xf5\xee\xe4</title>${long}`,
        ),
        { 'content-type': 'text/html' },
      ],
      [
        'of a meta element that cannot be true: the element was read as ASCII',
        bytes(`<html><meta charset="utf-16le"><title>Вход</title>${long}`),
        { 'content-type': 'text/html' },
      ],
      [
        'of a byte order mark',
        new Uint8Array(Uint16Array.from(`\ufeff<html><title>Вход</title>${long}`, (c) => c.charCodeAt(0)).buffer),
        HTML,
      ],
    ])('%s', (_, head, headers) => {
      expect(outcome(200, headers, { head })).toBe('login: password-form')
    })

    it('that is unknown, as UTF-8', () => {
      const headers = { 'content-type': 'text/html; charset=x-none' }
      expect(outcome(200, headers, { head: bytes(`<title>Вход</title>${long}`) })).toBe('login: password-form')
    })
  })
})

describe('the forms of headers', () => {
  it.each([
    ['a Headers', new Headers({ 'cf-mitigated': 'challenge' })],
    ['an object in any case', { 'Cf-Mitigated': 'challenge' }],
    ['lists', { 'cf-mitigated': ['challenge'] }],
    ['pairs', [['CF-Mitigated', 'challenge']]],
    ['a Map', new Map([['CF-Mitigated', 'challenge']])],
    ['a flat list of Node', ['Server', 'a', 'CF-Mitigated', 'challenge']],
    ['a flat list of bytes, of undici', [bytes('Server'), bytes('a'), bytes('CF-Mitigated'), bytes('challenge')]],
  ])('%s', (_, headers) => {
    expect(outcomeOf({ status: 403, headers })?.kind).toBe('challenge')
    expect(outcomeOf({ statusCode: 403, headers })?.kind).toBe('challenge')
  })

  const throwing = {
    get: () => {
      throw new Error('no')
    },
  }
  it.each([
    ['undefined', undefined],
    ['null', null],
    ['a number', 7],
    ['a text', 'cf-mitigated: challenge'],
    ['headers that throw', throwing],
    ['numbers', { 'cf-mitigated': 7, 'retry-after': 9, location: {} }],
    ['a getter that throws', Object.defineProperty({}, 'cf-mitigated', { get: throwing.get, enumerable: true })],
    ['a huge value', { 'cf-mitigated': 'challenge'.repeat(1e5), 'retry-after': '9'.repeat(1e6) }],
  ])('%s: the status counts', (_, headers) => {
    expect(outcomeOf({ status: 403, headers })).toMatchObject({ kind: 'denied', because: 'status' })
  })
})

describe('the outcome of an error', () => {
  it.each([
    ['ECONNREFUSED', 'refused'],
    ['ECONNRESET', 'reset'],
    ['EPIPE', 'reset'],
    ['ENOTFOUND', 'dns'],
    ['EAI_AGAIN', 'dns-unavailable'],
    ['EHOSTUNREACH', 'network'],
    ['ETIMEDOUT', 'timeout'],
    ['CERT_HAS_EXPIRED', 'tls'],
    ['ERR_TLS_CERT_ALTNAME_INVALID', 'tls'],
    ['DEPTH_ZERO_SELF_SIGNED_CERT', 'tls'],
    ['EPROTO', 'tls'],
    ['UND_ERR_SOCKET', 'reset'],
    ['UND_ERR_CONNECT_TIMEOUT', 'timeout'],
    ['UND_ERR_HEADERS_TIMEOUT', 'timeout'],
    ['UND_ERR_HEADERS_OVERFLOW', 'too-large'],
    ['HPE_INVALID_CONSTANT', 'malformed'],
    ['Z_DATA_ERROR', 'undecodable'],
    ['ERR_ANOTHER', 'network'],
  ])('with the code %s is %s', (code, because) => {
    const expected = `connection: ${because}`
    expect(failed(coded(code))).toBe(expected)
    expect(failed(new TypeError('fetch failed', { cause: coded(code) }))).toBe(expected)
    expect(failed(named('RequestError', 'got', { code, cause: coded(code) }))).toBe(expected)
    expect(failed({ message: 'an object', code })).toBe(expected)
  })

  it.each([
    ['page.goto: net::ERR_NAME_NOT_RESOLVED at https://a.example/', 'connection: dns'],
    ['net::ERR_CONNECTION_REFUSED at https://a.example/', 'connection: refused'],
    ['net::ERR_EMPTY_RESPONSE', 'connection: reset'],
    ['net::ERR_CONNECTION_TIMED_OUT', 'connection: timeout'],
    ['net::ERR_CERT_DATE_INVALID', 'connection: tls'],
    ['net::ERR_TOO_MANY_REDIRECTS', 'redirect: too-many-redirects'],
    ['net::ERR_ABORTED', 'undefined'],
    ['net::ERR_BLOCKED_BY_CLIENT', 'undefined'],
    ['page.goto: NS_ERROR_CONNECTION_REFUSED', 'connection: refused'],
    ['fetch failed', 'connection: network'],
    ['Failed to fetch', 'connection: network'],
    ['a request was refused by my own check', 'undefined'],
  ])('with the message %j is %s', (message, expected) => {
    expect(failed(new Error(message))).toBe(expected)
  })

  it('is that of the errors of all addresses', () => {
    const error = new AggregateError([coded('EHOSTUNREACH'), coded('ECONNREFUSED')], '')
    expect(failed(error)).toBe('connection: refused')
    expect(failed(new TypeError('fetch failed', { cause: error }))).toBe('connection: refused')
  })

  it('is that of too many redirects', () => {
    expect(failed(new TypeError('fetch failed', { cause: new Error('redirect count exceeded') }))).toBe(
      'redirect: too-many-redirects',
    )
    expect(failed(coded('ERR_FR_TOO_MANY_REDIRECTS'))).toBe('redirect: too-many-redirects')
  })

  const response = { status: 403, headers: { 'cf-mitigated': 'challenge' } }
  it.each([
    ['axios', named('AxiosError', 'status 403', { code: 'ERR_BAD_REQUEST', status: 403, response })],
    [
      'got',
      named('HTTPError', 'code 403', {
        code: 'ERR_NON_2XX_3XX_RESPONSE',
        response: { statusCode: 403, headers: response.headers },
      }),
    ],
    ['ky', named('HTTPError', 'status 403', { response: new Response('', response) })],
    [
      'undici',
      named('ResponseError', 'status 403', { code: 'UND_ERR_RESPONSE', statusCode: 403, headers: response.headers }),
    ],
    ['a wrapper', new Error('it failed', { cause: named('HTTPError', '', { response }) })],
  ])('of %s is that of the response that it carries', (_, error) => {
    expect(failed(error)).toBe('challenge: challenge-header')
  })

  it('without a response in the field of axios is a failed connection', () => {
    expect(failed(named('AxiosError', 'socket hang up', { code: 'ECONNRESET', response: undefined }))).toBe(
      'connection: reset',
    )
  })

  it('is a connection for a time limit', () => {
    expect(failed(new DOMException('time', 'TimeoutError'))).toBe('connection: timeout')
    const aborted = named('AbortError', 'aborted', {
      code: 'ABORT_ERR',
      cause: new DOMException('time', 'TimeoutError'),
    })
    expect(failed(aborted)).toBe('connection: timeout')
  })

  it.each([
    ['an abort', new DOMException('aborted', 'AbortError')],
    ['an abort of Node', coded('ABORT_ERR')],
    ['an abort of axios', named('CanceledError', 'canceled', { code: 'ERR_CANCELED' })],
    ['an abort in a cause', new TypeError('fetch failed', { cause: new DOMException('aborted', 'AbortError') })],
    ['a refusal of Politely', named('WaitTooLongError', '', { code: 'ERR_POLITELY_WAIT_TOO_LONG' })],
    ['a blocked address', new TypeError('fetch failed', { cause: coded('ERR_POLITELY_BLOCKED_ADDRESS') })],
    ['an invalid URL', new TypeError('Failed to parse URL', { cause: coded('ERR_INVALID_URL') })],
    ['an invalid argument', coded('UND_ERR_INVALID_ARG')],
    ['a closed dispatcher', coded('UND_ERR_CLOSED')],
    ['a lack of file descriptors', coded('EMFILE')],
    ['a body over maxResponseSize of undici', coded('UND_ERR_RES_EXCEEDED_MAX_SIZE')],
    ['a body over maxContentLength of axios', named('AxiosError', 'maxContentLength size of 5 exceeded')],
    ['a body over size of node-fetch', named('FetchError', 'content size at https://a.test/ over limit: 5')],
    ['a mistake in the program', new TypeError('a.b is not a function')],
    ['a text', 'ECONNRESET'],
    ['nothing', undefined],
    ['null', null],
    ['an object', {}],
  ])('is undefined for %s', (_, error) => {
    expect(failed(error)).toBe('undefined')
  })

  it('ends for errors that contain each other', () => {
    const error = coded('ECONNRESET')
    error.cause = new AggregateError([error, error])
    expect(failed(error)).toBe('connection: reset')
  })
})

describe('outcomeOf', () => {
  it('never throws', () => {
    const warn = vi.spyOn(process, 'emitWarning').mockImplementation(() => undefined)
    onTestFinished(() => warn.mockRestore())
    const hostile = new Proxy(
      {},
      { get: () => fail(), getPrototypeOf: () => fail(), has: () => fail(), ownKeys: () => fail() },
    )
    const text = fc.oneof(
      fc.string(),
      fc.constantFrom('challenge', '/login?next=', 'USD 1', '{"x402Version":1,"accepts":[null]}'),
    )
    const any = fc.oneof(
      fc.anything(),
      fc.constantFrom<unknown>(() => 0, new Headers(), Symbol('a')),
      text,
    )
    const names = fc.constantFrom(
      'location',
      'retry-after',
      'cf-mitigated',
      'date',
      'content-type',
      'payment-required',
      'crawler-price',
    )
    const headers = fc.oneof(any, fc.dictionary(names, any), fc.array(fc.tuple(names, text)))
    const html = fc.constantFrom(
      '<title>',
      '<input type=password',
      '<script>window._cf_chl_opt=',
      '<!--',
      '<a ',
      '</html>',
      '{"x402Version"',
    )
    const head = fc.oneof(
      any,
      fc.uint8Array({ maxLength: 200 }),
      fc.array(html).map((parts) => bytes(parts.join(''))),
    )
    const status = fc.oneof(fc.integer({ min: 100, max: 599 }), fc.double(), any)
    const response = fc.record(
      {
        status,
        statusCode: status,
        headers,
        head,
        body: head,
        url: any,
        redirected: any,
        message: any,
        code: any,
        cause: any,
        errors: any,
        response: any,
      },
      { requiredKeys: [] },
    )
    fc.assert(
      fc.property(fc.oneof(response, any), fc.option(fc.double(), { nil: undefined }), (result, now) => {
        const found = outcomeOf(result, now)
        if (found !== undefined) {
          expect(JSON.parse(JSON.stringify(found))).toEqual(found)
          expect(describeOutcome(found).length).toBeLessThan(100_000)
        }
      }),
      { numRuns: sampled(20_000) },
    )
    expect(outcomeOf(hostile)).toBeUndefined()
    expect(outcomeOf({ status: 200, headers: hostile, head: hostile, body: hostile, url: hostile })?.kind).toBe(
      'served',
    )
    for (const field of ['name', 'message', 'cause', 'errors', 'response']) {
      expect(outcomeOf({ code: 'ECONNRESET', [field]: hostile })?.because).toBe('reset')
    }
  })

  it.each([
    ['a text', (text: string) => ({ head: text })],
    ['an ArrayBuffer', (text: string) => ({ head: bytes(text).buffer })],
    ['the body of got', (text: string) => ({ body: text })],
    ['the data of axios', (text: string) => ({ data: text })],
    [
      'bytes in an error of axios',
      (text: string) => ({ message: 'failed', response: { status: 403, headers: {}, data: bytes(text) } }),
    ],
  ])('reads %s', (_, parts) => {
    const page = '<title>Just a moment...</title><script>window._cf_chl_opt = {cvId: "3"};</script>'
    expect(outcomeOf({ status: 200, headers: {}, ...parts(page) })?.kind).toBe('challenge')
    expect(outcomeOf({ status: 200, headers: HTML, ...parts('<p>Hello</p>') })?.kind).not.toBe('challenge')
    expect(outcomeOf({ status: 200, headers: {}, ...parts('<p>') })?.kind).not.toBe('challenge')
  })

  it('warns once of a number and once of a promise', () => {
    const calls = [404, 200, 'Promise.resolve(new Response())', 'Promise.resolve(200)', 'null', "'thrown'", '{}']
    const program = `import { outcomeOf } from ${JSON.stringify(import.meta.resolve('../src/index.ts'))}
      if ([${calls}].some((value) => outcomeOf(value) !== undefined)) throw new Error('not undefined')`
    const args = ['--disable-warning=ExperimentalWarning', '--input-type=module', '--eval', program]
    const { status, stderr } = spawnSync(process.execPath, args, { encoding: 'utf8' })
    expect(status).toBe(0)
    expect(stderr.match(/\[POLITELY_NOT_A_RESPONSE\] .*/g)).toEqual([
      '[POLITELY_NOT_A_RESPONSE] PolitelyWarning: outcomeOf: 404 is not a response, so the result is undefined; write outcomeOf(response) or outcomeOf({ status: 404, headers: {} })',
      '[POLITELY_NOT_A_RESPONSE] PolitelyWarning: outcomeOf: a promise is not a response, so the result is undefined; write outcomeOf(await response)',
    ])
  })

  it('takes linear time for long heads', () => {
    for (const part of [
      '<script>',
      '<form ',
      '<input ',
      '<!--',
      '<meta ',
      '<a ',
      ' ',
      '<title>',
      'charset=',
      '<iframe _',
      "type='",
    ]) {
      const head = bytes(part.repeat(1e6 / part.length))
      expect(outcomeOf({ status: 200, headers: HTML, head })?.kind).toBe('served')
    }
  })
})

function fail(): never {
  throw new Error('a trap')
}

describe('describeOutcome', () => {
  it.each([
    [{ status: 200, headers: {} }, 'the page was served (status 200)'],
    [{ status: 402, headers: { 'crawler-price': 'USD 0.01' } }, 'the site asks for payment (status 402, USD 0.01)'],
    [
      { status: 402, headers: { 'crawler-price': 'a\u001b[2J' } },
      'the site asks for payment (status 402, crawler-price: a\\u{1b}[2J)',
    ],
    [
      { status: 429, headers: { 'retry-after': '90' } },
      'the site asks for fewer requests (status 429, asked to wait 90 s)',
    ],
    [{ status: 302, headers: { location: '/login' } }, 'the site asks for a login (status 302, by its redirect)'],
    [coded('ECONNREFUSED'), 'there was no usable response (refused)'],
    [
      { status: 407, headers: {} },
      "there was no usable response (status 407, the crawler's proxy or network asks for a login)",
    ],
  ])('describes %j', (result, expected) => {
    const found = outcomeOf(result)
    expect(found && describeOutcome(found)).toBe(expected)
  })

  it.each([
    [undefined, /^outcome: undefined is not an outcome; outcomeOf returns it for .*, so check for it first$/],
    [
      null,
      /^outcome: null is not an outcome; expected what outcomeOf returns; write describeOutcome\(outcomeOf\(response\)\)$/,
    ],
    [404, /^outcome: 404 is not an outcome;/],
    [{ kind: 'toString' }, /^outcome: an object is not an outcome;/],
  ])('refuses %j', (value, message) => {
    const describing = () => describeOutcome(value as never)
    expect(describing).toThrow(OptionError)
    expect(describing).toThrow(message)
  })
})
