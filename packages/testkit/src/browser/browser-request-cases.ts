// What a browser can request, by kind: which requests are checked, which are switched off, and
// which are not seen. The table in docs/browsers.md is generated from these kinds.
import assert from 'node:assert/strict'
import type { Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import type { DocTable } from '../doc-table.ts'
import { withoutIssuer } from '../servers/self-signed.ts'
import { type Reply, type Sites, startSites } from '../servers/sites.ts'
import { htmlPage } from '../servers/small-pages.ts'
import { downloadsCase, downloadsInWindowsCase, emptyFrameCase } from './browser-download-cases.ts'
import { type BrowserCase, errorOf, HOME, RULES } from './browser-fixture.ts'
import { lostSessionCase } from './browser-lost-session-case.ts'
import { browserNavigationCase } from './browser-navigation-cases.ts'
import { browserServiceWorkerCases } from './browser-service-worker-cases.ts'
import { startEarlyHintsSite } from './early-hints-site.ts'

/** A kind of request that is checked. */
interface CheckedKind {
  readonly what: string
  /** Names of the resources. */
  readonly names: readonly string[]
  /** Returns HTML that requests the resources below a path. */
  readonly html: (base: string) => string
}

const script = (text: string) => `<script>${text}</script>`

const checked: readonly CheckedKind[] = [
  {
    what: 'images, `srcset`, `<picture>`, `poster`, `<input type=image>`, `<svg>` references and filters',
    names: ['img', 'srcset', 'picture', 'poster', 'input', 'use', 'svg-image', 'svg-fill', 'fe-image'],
    html: (base) => `<img src="${base}/img"><img srcset="${base}/srcset 1x"><video poster="${base}/poster"></video>
      <picture><source srcset="${base}/picture"><img></picture><input type="image" src="${base}/input">
      <svg><use href="${base}/use#a"/><image href="${base}/svg-image"/><rect fill="url(${base}/svg-fill#a)" width="1" height="1"/>
      <filter><feImage href="${base}/fe-image"/></filter></svg>`,
  },
  {
    what: 'style sheets and the files they name: `@import`, images, masks, clip paths, filters, cursors, fonts',
    names: ['style', 'alternate', 'import', 'background', 'mask', 'clip', 'filter', 'cursor', 'list', 'border', 'font'],
    html: (base) => `<link rel="stylesheet" href="${base}/style"><style>@import "${base}/import";
      @font-face { font-family: "${base}"; src: url(${base}/font) }</style>
      <link rel="alternate stylesheet" title="${base}" href="${base}/alternate">
      <p style="background: url(${base}/background); mask: url(${base}/mask); font-family: '${base}'">text</p>
      <p style="clip-path: url(${base}/clip#a); filter: url(${base}/filter#a); cursor: url(${base}/cursor), auto">text</p>
      <ul style="list-style-image: url(${base}/list); border: 1px solid; border-image: url(${base}/border) 1"><li>text</ul>`,
  },
  {
    what: 'scripts, modules, `import()`, modules of JSON and CSS, scripts in `<svg>`',
    names: ['script', 'svg-script', 'module', 'dynamic', 'json', 'css'],
    html: (base) => `<script src="${base}/script"></script><script type="module" src="${base}/module"></script>
      <svg><script href="${base}/svg-script"></script></svg>
      ${script(`import('${base}/dynamic').catch(() => 0); import('${base}/json', { with: { type: 'json' } }).catch(() => 0)
        import('${base}/css', { with: { type: 'css' } }).catch(() => 0)`)}`,
  },
  {
    what: '`<iframe>`, also with `credentialless`; `<object>`, `<embed>`',
    names: ['frame', 'credentialless', 'object', 'embed'],
    html: (base) =>
      `<iframe src="${base}/frame"></iframe><iframe credentialless src="${base}/credentialless"></iframe>
      <object data="${base}/object"></object><embed src="${base}/embed">`,
  },
  {
    what: 'video, audio, `<track>`',
    names: ['video', 'source', 'sound', 'track'],
    html: (base) => `<video src="${base}/video"></video><video><source src="${base}/source"></video>
      <audio src="${base}/sound"></audio><video><track default src="${base}/track"></video>`,
  },
  {
    what: '`<link>`: preload, modulepreload, prefetch, compression-dictionary; the header `Link` of a response other than 103',
    names: ['preload', 'modulepreload', 'prefetch', 'dictionary', 'header'],
    html: (
      base,
    ) => `<link rel="preload" as="image" href="${base}/preload"><link rel="modulepreload" href="${base}/modulepreload">
      <link rel="prefetch" href="${base}/prefetch"><link rel="compression-dictionary" href="${base}/dictionary">`,
  },
  {
    what: '`fetch`, also with `keepalive`; `fetchLater`, `XMLHttpRequest`, `EventSource`',
    names: ['fetch', 'keepalive', 'later', 'xhr', 'events'],
    html: (base) =>
      script(`fetch('${base}/fetch').catch(() => 0); fetch('${base}/keepalive', { keepalive: true }).catch(() => 0)
        fetchLater('${base}/later', { activateAfter: 0 }); new EventSource('${base}/events')
        const xhr${base.length} = new XMLHttpRequest(); xhr${base.length}.open('GET', '${base}/xhr'); xhr${base.length}.send()`),
  },
  {
    what: '`sendBeacon`, `<a ping>`, reports of a Content-Security-Policy (`report-uri`)',
    names: ['beacon', 'ping', 'report'],
    html: (base) =>
      `<a id="${base}" ping="${base}/ping" href="#"></a><base href="${base}">
      ${script(`navigator.sendBeacon('${base}/beacon'); document.getElementById('${base}').click()`)}`,
  },
  {
    what: 'workers, shared workers, worklets, and what workers load',
    names: ['worker', 'shared', 'imported', 'in-worker', 'paint', 'audio'],
    html: (base) =>
      script(`new Worker('${base}/worker'); new SharedWorker('${base}/shared')
        new Worker(URL.createObjectURL(new Blob(["try { importScripts('" + location.origin + "${base}/imported') } catch {}"])))
        new Worker(URL.createObjectURL(new Blob(["fetch('" + location.origin + "${base}/in-worker').catch(() => 0)"])))
        CSS.paintWorklet.addModule('${base}/paint').catch(() => 0)
        new OfflineAudioContext(1, 1, 8_000).audioWorklet.addModule('${base}/audio').catch(() => 0)`),
  },
  {
    what: 'web bundles',
    names: ['bundle'],
    html: (base) =>
      `<script type="webbundle">{ "source": "${base}/bundle", "resources": ["${base}/in-bundle"] }</script>`,
  },
]

const all = (base: string) => checked.flatMap(({ names }) => names.map((name) => `${base}/${name}`)).sort()
const pageOf = (base: string) => checked.map(({ html }) => html(base)).join('\n')

const ALL_KINDS = htmlPage(`${pageOf('/private')}${pageOf('/o')}`, {
  'content-security-policy': "base-uri 'none'; report-uri /private/report /o/report",
  link: '</private/header>; rel=preload; as=script, </o/header>; rel=preload; as=script',
})

const checkedCase: BrowserCase = {
  name: 'page requests are checked, whatever their kind',
  web: { '/robots.txt': RULES, '/open': ALL_KINDS },
  run: async ({ sites, tab, at, gateEvent }) => {
    const refusals = all('/private').map((path) => gateEvent('refuse', path))
    await tab.goto(at('/open'))
    await Promise.all(refusals)
    const missing = () => all('/o').some((path) => !sites.requestedPages.includes(`${HOME}${path}`))
    while (missing()) await sites.requested(sites.requests.length + 1)
  },
  requested: [...all('/o'), '/open'].sort(),
}

/** A kind of request that bypasses the DevTools protocol. */
interface UncheckedKind {
  readonly what: string
  readonly outcome: string
  readonly testCase: BrowserCase
}

/** A script that requests `/private/config`. It writes the outcome to the title. */
const FEDCM = (window: string) => `${window}.navigator.credentials.get({ identity: { providers: [
  { configURL: location.origin + '/private/config', clientId: '1' }] } })
  .then(() => { document.title = 'none' }, (error) => { document.title = error.name })`
const PAYMENT = `try { new PaymentRequest([{ supportedMethods: location.origin + '/private/method' }],
  { total: { label: 'it', amount: { currency: 'EUR', value: '1' } } }).canMakePayment(); document.title = 'none' }
  catch (error) { document.title = error.name }`

/** @param title The page's title when its script has finished. */
function titled(name: string, page: Reply, title: string): BrowserCase {
  return {
    name,
    web: { '/robots.txt': RULES, '/open': page },
    run: async ({ tab, at }) => {
      await tab.goto(at('/open'))
      await tab.waitForFunction(`document.title === '${title}'`)
    },
    requested: ['/open'],
  }
}

const switchedOff: readonly UncheckedKind[] = [
  {
    what: 'FedCM: `/.well-known/web-identity`, `configURL`',
    outcome: 'switched off: the call rejects with a `NotAllowedError`',
    testCase: titled('FedCM is switched off', htmlPage(script(FEDCM('window'))), 'NotAllowedError'),
  },
  {
    what: 'FedCM on a page whose own `Permissions-Policy` allows it or cannot be parsed',
    outcome: 'switched off',
    testCase: titled(
      'FedCM is switched off, whatever the site’s own Permissions-Policy is',
      htmlPage(script(FEDCM('window')), { 'permissions-policy': 'identity-credentials-get=*, ???' }),
      'NotAllowedError',
    ),
  },
  {
    what: 'PaymentRequest: payment method manifests',
    outcome: 'switched off: the constructor throws a `SecurityError`',
    testCase: titled('PaymentRequest is switched off', htmlPage(script(PAYMENT)), 'SecurityError'),
  },
  {
    what: '`<a download>`, for files that need a request',
    outcome: 'switched off: the page’s console says so',
    testCase: downloadsCase,
  },
]

/** Chromium shows this response as a page, because its `Location` is empty. */
const redirectToNowhere: BrowserCase = titled(
  'PaymentRequest is switched off on a page with status 302 and an empty Location',
  { ...htmlPage(script(PAYMENT), { location: '' }), status: 302 },
  'SecurityError',
)

const config: Reply = { status: 200, headers: { 'content-type': 'application/json' }, body: '{}' }
const rulesFor = (path: string) =>
  `{ "prefetch": [{ "urls": ["${path}"], "eagerness": "immediate" }], "prerender": [{ "urls": ["${path}"], "eagerness": "immediate" }] }`

/** Resolves when each of these pages was requested. */
async function requestedAll(sites: Sites, paths: readonly string[]): Promise<void> {
  while (!paths.every((path) => sites.requestedPages.includes(`${HOME}${path}`)))
    await sites.requested(sites.requests.length + 1)
}

/**
 * Pages with rules that the guard cannot remove: in a closed shadow root, and inserted by a
 * mutation observer.
 */
const PAGES_WITH_RULES: Readonly<Record<string, Reply>> = {
  '/robots.txt': RULES,
  '/root': htmlPage(`<div><template shadowrootmode="closed">
    <script type="speculationrules">${rulesFor('/private/in-root')}</script></template></div>
    <link rel="prefetch" href="/next">`),
  '/nested': htmlPage(
    script(`const add = (text) => {
      const rules = document.createElement('script'); rules.type = 'speculationrules'; rules.textContent = text
      document.head.append(rules)
    }
    new MutationObserver((_, observer) => { observer.disconnect(); add('${rulesFor('/private/nested')}') })
      .observe(document.head, { childList: true })
    add('${rulesFor('/private/removed')}')`),
  ),
}

/** The switches of Chromium that docs/browsers.md names, by what they stop. */
const SWITCHES = {
  speculationRules: [
    '--enable-features=PrefetchSchedulerTesting:kPrefetchSchedulerTestingActiveSetSizeLimitForBase/0/kPrefetchSchedulerTestingActiveSetSizeLimitForBurst/0',
  ],
  earlyHints: ['--disable-http2', '--disable-quic'],
}
const STOPPED = 'not seen, unless [a switch](#switches-of-chromium) stops it'

const POPUP_WITH_RULES: Readonly<Record<string, Reply>> = {
  '/robots.txt': RULES,
  '/open': htmlPage(script("open('/popup')")),
  '/popup': htmlPage(`<script type="speculationrules">${rulesFor('/private/prefetched')}</script>`),
  '/private/prefetched': htmlPage(),
}

/**
 * Runs with a site that sends Early Hints. Its robots.txt comes from `fetch`, since its certificate
 * is self-signed.
 */
function earlyHintsCase(name: string, switches: readonly string[], requestedPaths: readonly string[]): BrowserCase {
  return {
    name,
    switches: ['--ignore-certificate-errors', ...switches],
    options: { fetch: async () => new Response(String(RULES.body)) },
    run: async ({ browser, tab, defer }) => {
      const site = await startEarlyHintsSite('/private/hinted')
      defer(() => site.close())
      const ofLastVisit = () => site.requestedPaths.slice(-requestedPaths.length)
      for (let visits = 0; visits < 4 && ofLastVisit().join() !== requestedPaths.join(); visits++) {
        await tab.goto(site.url, { waitUntil: browser.networkIdle })
      }
      assert.deepEqual(ofLastVisit(), requestedPaths)
    },
  }
}

const notSeen: readonly UncheckedKind[] = [
  {
    what: '`<a download>` in an empty frame or popup, a document that no server sent, while two other downloads are pending',
    outcome: 'not seen',
    testCase: emptyFrameCase,
  },
  {
    what: 'WebSocket, WebSocketStream',
    outcome: 'not seen',
    testCase: {
      name: 'a WebSocket is not seen: its handshake cannot be paused',
      web: {
        '/robots.txt': RULES,
        '/open': htmlPage(
          script(`new WebSocket('ws://localhost:PORT/private/socket')
          new WebSocketStream('ws://localhost:PORT/private/stream').opened.catch(() => 0)`),
        ),
      },
      run: async ({ sites, tab, at }) => {
        await tab.goto(at('/open'))
        await sites.requested(4)
      },
      requested: ['/open', '/private/socket', '/private/stream'],
    },
  },
  {
    what: 'FedCM and PaymentRequest in a document that no server sent: `about:blank`, `blob:`',
    outcome: 'not seen',
    testCase: {
      name: 'FedCM in an empty window is not seen',
      web: {
        '/robots.txt': RULES,
        '/open': htmlPage(script(`const other = open('about:blank'); ${FEDCM('other')}`)),
        '/.well-known/web-identity': {
          ...config,
          body: '{ "provider_urls": ["http://localhost:PORT/private/config"] }',
        },
        '/private/config': config,
      },
      run: async ({ sites, tab, at }) => {
        await tab.goto(at('/open'))
        await sites.requested(3)
      },
    },
  },
  {
    what: 'speculation rules in the first document of a popup',
    outcome: STOPPED,
    testCase: {
      name: 'speculation rules in the first document of a popup are not seen',
      web: POPUP_WITH_RULES,
      run: async ({ sites, tab, at }) => {
        const prefetched = requestedAll(sites, ['/private/prefetched'])
        // On a busy machine the guard may remove the rules in time. Then another popup is opened.
        for (let isOver = false; !isOver; ) {
          await tab.goto(at('/open'))
          isOver = await Promise.race([prefetched.then(() => true), sleep(3_000, false)])
        }
      },
      requested: ['/open', '/popup', '/private/prefetched'],
    },
  },
  {
    what: 'speculation rules in a closed declarative shadow root, in an open one that is preceded by a script in its host, or inserted while mutation observers run',
    outcome: STOPPED,
    testCase: {
      name: 'speculation rules that a page hides are not seen',
      web: {
        ...PAGES_WITH_RULES,
        '/late': htmlPage(`<div><script>0</script><template shadowrootmode="open">
          <script type="speculationrules">${rulesFor('/private/late')}</script></template></div><script src="/slow"></script>`),
      },
      run: async ({ sites, tab, at }) => {
        const slow = Promise.withResolvers<Reply>()
        sites.respond(`${HOME}/slow`, slow.promise)
        const visit = tab.goto(at('/late'))
        await requestedAll(sites, ['/private/late'])
        slow.resolve({ status: 404 })
        await visit
        await tab.goto(at('/root'))
        await requestedAll(sites, ['/private/in-root', '/next'])
        await tab.goto(at('/nested'))
        await requestedAll(sites, ['/private/nested'])
      },
      requested: [
        '/late',
        '/nested',
        '/next',
        '/private/in-root',
        '/private/late',
        '/private/nested',
        '/root',
        '/slow',
      ],
    },
  },
  {
    what: 'preloads that a 103 response names (Early Hints)',
    outcome: STOPPED,
    testCase: earlyHintsCase('Early Hints are not seen', [], ['/open', '/private/hinted', '/last']),
  },
  {
    what: 'https: the missing certificate of an issuer, at an `http:` URL that the site’s certificate names (`caIssuers`)',
    outcome: 'not seen',
    testCase: {
      name: 'the request for the missing certificate of an issuer is not seen',
      options: { fetch: async () => new Response(String(RULES.body)) },
      run: async ({ sites, tab, at, defer }) => {
        const secure = await startSites({ certificate: withoutIssuer('localhost', at('/private/issuer')) })
        defer(() => secure.close())
        await errorOf(tab.goto(secure.withPort('https://localhost:PORT/')))
        await requestedAll(sites, ['/private/issuer'])
      },
    },
  },
]

const switchCases: readonly BrowserCase[] = [
  {
    name: 'a switch stops the requests of all speculation rules, and no others',
    switches: SWITCHES.speculationRules,
    web: PAGES_WITH_RULES,
    run: async ({ browser, sites, tab, at }) => {
      await tab.goto(at('/root'))
      await requestedAll(sites, ['/next'])
      await tab.goto(at('/nested'), { waitUntil: browser.networkIdle })
    },
    requested: ['/nested', '/next', '/root'],
  },
  {
    name: 'a switch stops the requests of speculation rules in the first document of a popup',
    switches: SWITCHES.speculationRules,
    web: {
      ...POPUP_WITH_RULES,
      '/open': htmlPage(script("open('/popup').onload = () => setTimeout(() => fetch('/last'), 500)")),
    },
    run: async ({ sites, tab, at }) => {
      await tab.goto(at('/open'))
      await sites.requested(4)
    },
    requested: ['/last', '/open', '/popup'],
  },
  earlyHintsCase('without HTTP/2 there are no Early Hints', SWITCHES.earlyHints, ['/open', '/last']),
]

/** Sends the beginning of a file that can be resumed, then closes the connection. */
const interruptedDownload = (socket: Socket) =>
  void socket.end(`HTTP/1.1 200 OK\r\nContent-Disposition: attachment\r\nContent-Length: 1000000\r\nAccept-Ranges: bytes\r\n\
ETag: "1"\r\nLast-Modified: Mon, 01 Jan 2024 00:00:00 GMT\r\n\r\n${'x'.repeat(100_000)}`)

/**
 * Requests that Chromium repeats by itself. The first one waits for its turn. Its network stack
 * repeats an authenticated request without a new challenge, so `Fetch.enable` with
 * `handleAuthRequests` does not report it. That option would also break Playwright's
 * `httpCredentials` (measured with Chromium 156).
 */
const repeated: readonly UncheckedKind[] = [
  {
    what: 'HTTP authentication: repetitions of a request after a `Digest` challenge with `stale=true`, up to 31 for each request',
    outcome: 'not seen',
    testCase: {
      name: 'repetitions of a request after a Digest challenge with stale=true are not seen',
      web: {
        '/robots.txt': RULES,
        '/open': htmlPage(),
        '/digest': {
          status: 401,
          headers: { 'www-authenticate': 'Digest realm="here", nonce="1", qop="auth", algorithm=MD5, stale=true' },
        },
      },
      run: async ({ sites, robots, tab, at }) => {
        await tab.goto(at('/open'))
        await tab.evaluate("void setTimeout(() => { location = 'http://user:secret@' + location.host + '/digest' })")
        await sites.requested(2 + 32)
        assert(robots.gate.counters.started <= 3)
      },
    },
  },
  {
    what: 'downloads: requests for the rest of an interrupted one, up to 5',
    outcome: 'not seen',
    testCase: {
      name: 'the requests that resume an interrupted download are not seen',
      browser: 'own', // the browser was gone once after a context with an unfinished download had been closed
      run: async ({ sites, robots, tab, at }) => {
        sites.respond(`${HOME}/file`, interruptedDownload, { status: 404 })
        await errorOf(tab.goto(at('/file')))
        await sites.requested(3)
        assert.equal(robots.gate.counters.started, 1)
      },
    },
  },
]

const SERVICE_WORKERS =
  'service workers and the requests that only they can make: navigation preload, static routes, update checks, Background Fetch'

/** The generated table of the documentation. */
export const requestTable: DocTable = {
  head: ['what a browser can request', 'checked?'],
  rows: [
    ...checked.map(({ what }) => [what, 'yes']),
    [SERVICE_WORKERS, 'switched off: `register()` rejects with a `TypeError`'],
    ...[...switchedOff, ...notSeen, ...repeated].map(({ what, outcome }) => [what, outcome]),
  ],
}

const ofWholeChromium = (testCase: BrowserCase): BrowserCase => ({ ...testCase, wholeChromium: true })

/** The ways in which a page can start a request. They need a page, and no more of a browser. */
export const browserRequestWays: readonly BrowserCase[] = [
  checkedCase,
  ...switchedOff.map(({ testCase }) => testCase),
  redirectToNowhere,
  downloadsInWindowsCase,
  browserNavigationCase,
  lostSessionCase,
].map(ofWholeChromium)

export const browserRequestCases: readonly BrowserCase[] = [
  ...browserRequestWays,
  ...[...browserServiceWorkerCases, ...[...notSeen, ...repeated].map(({ testCase }) => testCase), ...switchCases].map(
    ofWholeChromium,
  ),
]

assert.equal(new Set(all('')).size, all('').length, 'two kinds of request use the same resource name')
