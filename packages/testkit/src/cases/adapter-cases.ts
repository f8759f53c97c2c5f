// Test cases that every adapter and every recipe must pass, and the list of the adapters and
// recipes that cannot pass some. The tests of each adapter run the cases against the real package.
// docs/frameworks.md shows `adapterRows` as a table.
//
// Each case uses one server with two origins: `http://localhost:PORT`, where the visits begin, and
// `http://127.0.0.1:PORT`.
import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { type Reply, startSites } from '../servers/sites.ts'
import { htmlPage, redirectTo } from '../servers/small-pages.ts'

export type Capability =
  | 'first URL checked'
  | 'every hop checked'
  | 'crawl-delay kept'
  | 'sub-resources'
  | 'abort works'
  | 'verdict reaches the user'
  | 'own name on robots.txt'

export interface AdapterRow {
  readonly name: string
  /** The page of docs/ that describes the adapter. */
  readonly page: string
  /** What the adapter cannot do, and why. Tests cover everything else. */
  readonly cannot: Partial<Readonly<Record<Capability, string>>>
}

const LOADS_NOTHING = 'loads no sub-resources'

export const adapterRows: readonly AdapterRow[] = [
  { name: 'politely(fetch)', page: 'polite-fetch.md', cannot: { 'sub-resources': LOADS_NOTHING } },
  {
    name: 'politeAgent',
    page: 'undici-and-node-http.md#with-undici',
    cannot: { 'sub-resources': LOADS_NOTHING },
  },
  {
    name: 'politeHttpAgent',
    page: 'undici-and-node-http.md#with-nodehttp',
    cannot: { 'sub-resources': LOADS_NOTHING },
  },
  { name: 'Crawlee: HTTP crawlers', page: 'crawlee.md', cannot: { 'sub-resources': LOADS_NOTHING } },
  { name: 'Crawlee: browser crawlers', page: 'crawlee.md', cannot: {} },
  { name: 'Playwright', page: 'playwright.md', cannot: {} },
  { name: 'Puppeteer', page: 'puppeteer.md', cannot: {} },
  { name: 'got', page: 'http-clients.md#got', cannot: { 'sub-resources': LOADS_NOTHING } },
  { name: 'axios', page: 'http-clients.md#axios', cannot: { 'sub-resources': LOADS_NOTHING } },
  { name: 'ky', page: 'http-clients.md#ky', cannot: { 'sub-resources': LOADS_NOTHING } },
  {
    name: 'built-in fetch, global dispatcher',
    page: 'http-clients.md#the-built-in-fetch-of-a-whole-process',
    cannot: { 'sub-resources': LOADS_NOTHING },
  },
  { name: 'node-crawler', page: 'http-clients.md#node-crawler', cannot: { 'sub-resources': LOADS_NOTHING } },
  {
    name: 'LangChain web loaders',
    page: 'http-clients.md#langchains-web-loaders',
    cannot: { 'sub-resources': LOADS_NOTHING, 'abort works': 'loaders take no signal' },
  },
  { name: 'MCP server', page: 'mcp.md', cannot: { 'sub-resources': LOADS_NOTHING } },
]

/** The options of a RobotsClient and of a PoliteGate with which an adapter is opened. */
export interface AdapterSettings {
  readonly userAgent: string
  readonly minDelayMs: number
  readonly retries: number
}

export interface AdapterUnderTest {
  /**
   * Visits a page as a user of the adapter does. Aborts the visit with the signal, by whatever
   * means the adapter has.
   */
  visit(url: string, signal: AbortSignal): Promise<Visit>
  close(): Promise<void>
}

/**
 * The result of a visit, as the user of an adapter sees it. A visit that rejects counts as failed.
 */
export type Visit =
  | { readonly kind: 'answered'; readonly status: number }
  | { readonly kind: 'refused'; readonly verdict: SeenVerdict | undefined }
  | { readonly kind: 'failed'; readonly error: unknown }

/** The part of a verdict that the cases check. */
interface SeenVerdict {
  readonly access?: { readonly reason?: string | undefined } | undefined
  readonly url: string
  readonly because: string
  readonly rule?: { readonly line: number }
}

export interface AdapterCase {
  readonly capability: Capability
  readonly name: string
  /** The responses of the server by URL. All other URLs return 404. */
  readonly web: Readonly<Record<string, Reply>>
  /** The URLs to visit, all at once. */
  readonly visits: readonly string[]
  /** A URL to visit after `visits`. The visit is aborted as soon as it waits at the gate. */
  readonly abandoned?: string
  readonly expected: AdapterOutcome
}

export interface AdapterOutcome {
  /** The URLs that the server got requests for, each once, sorted. */
  readonly asked: readonly string[]
  /** The results of the visits, in order: a status, the refusal, or `failed`. */
  readonly visits: readonly string[]
  /** The User-Agent of the request for robots.txt. */
  readonly name?: string
  /** Whether the aborted visit has left the queue of the gate. */
  readonly abandoned?: boolean
  /** The delay that was kept between the starts of the requests. Milliseconds. */
  readonly delayMs?: number
}

const USER_AGENT = 'AdapterBot/1.0 (+https://adapter.example/bot)'
const SETTINGS: AdapterSettings = { userAgent: USER_AGENT, minDelayMs: 0, retries: 0 }

const HOME = 'http://localhost:PORT'
const OTHER = 'http://127.0.0.1:PORT'
const ROBOTS = `${HOME}/robots.txt`
const RULES: Reply = { status: 200, body: 'User-agent: AdapterBot\nDisallow: /private\n' }
const SHORT_DELAY: Reply = { status: 200, body: 'User-agent: *\nCrawl-delay: 0.3\n' }
const LONG_DELAY: Reply = { status: 200, body: 'User-agent: *\nCrawl-delay: 60\n' }
const IMAGE: Reply = { status: 200, headers: { 'content-type': 'image/svg+xml' }, body: '<svg/>' }

const refusedBy = (url: string, line: number) => `refused: rule of line ${line} for ${url}`

export const adapterCases: readonly AdapterCase[] = [
  {
    capability: 'first URL checked',
    name: 'requests an allowed page, and does not request a disallowed one',
    web: { [ROBOTS]: RULES, [`${HOME}/private`]: htmlPage(), [`${HOME}/open`]: htmlPage() },
    visits: [`${HOME}/private`, `${HOME}/open`],
    expected: {
      asked: [`${HOME}/open`, ROBOTS],
      visits: ['refused', '200'],
    },
  },
  {
    capability: 'first URL checked',
    name: 'requests nothing if robots.txt is unreachable (RFC 9309 §2.3.1.4)',
    web: { [ROBOTS]: { status: 503 }, [`${HOME}/open`]: htmlPage() },
    visits: [`${HOME}/open`],
    expected: { asked: [ROBOTS], visits: ['refused'] },
  },
  {
    capability: 'first URL checked',
    name: 'requests every page if robots.txt does not exist (RFC 9309 §2.3.1.3)',
    web: { [`${HOME}/open`]: htmlPage() },
    visits: [`${HOME}/open`],
    expected: { asked: [`${HOME}/open`, ROBOTS], visits: ['200'] },
  },
  {
    capability: 'every hop checked',
    name: 'follows a redirect to an allowed URL, and not to a disallowed one',
    web: {
      [ROBOTS]: RULES,
      [`${HOME}/hop`]: redirectTo('/private'),
      [`${HOME}/step`]: redirectTo('/open'),
      [`${HOME}/private`]: htmlPage(),
      [`${HOME}/open`]: htmlPage(),
    },
    visits: [`${HOME}/hop`, `${HOME}/step`],
    expected: { asked: [`${HOME}/hop`, `${HOME}/open`, ROBOTS, `${HOME}/step`], visits: ['refused', '200'] },
  },
  {
    capability: 'every hop checked',
    name: 'checks each hop to another origin against its own robots.txt',
    web: {
      [`${HOME}/hop`]: redirectTo('/step'),
      [`${HOME}/step`]: redirectTo(`${OTHER}/private`),
      [`${OTHER}/robots.txt`]: RULES,
      [`${OTHER}/private`]: htmlPage(),
    },
    visits: [`${HOME}/hop`],
    expected: {
      asked: [`${OTHER}/robots.txt`, `${HOME}/hop`, ROBOTS, `${HOME}/step`],
      visits: ['refused'],
    },
  },
  {
    capability: 'crawl-delay kept',
    name: 'keeps the delay between pages that are requested together',
    web: { [ROBOTS]: SHORT_DELAY, [`${HOME}/1`]: htmlPage(), [`${HOME}/2`]: htmlPage(), [`${HOME}/3`]: htmlPage() },
    visits: [`${HOME}/1`, `${HOME}/2`, `${HOME}/3`],
    expected: {
      asked: [`${HOME}/1`, `${HOME}/2`, `${HOME}/3`, ROBOTS],
      visits: ['200', '200', '200'],
      delayMs: 300,
    },
  },
  {
    capability: 'sub-resources',
    name: 'checks the sub-resources of a page',
    web: {
      [ROBOTS]: RULES,
      [`${HOME}/open`]: htmlPage('<img src="/image.svg"><img src="/private/image.svg"><img src="/hop.svg">'),
      [`${HOME}/hop.svg`]: redirectTo('/private/other.svg'),
      [`${HOME}/image.svg`]: IMAGE,
      [`${HOME}/private/image.svg`]: IMAGE,
      [`${HOME}/private/other.svg`]: IMAGE,
    },
    visits: [`${HOME}/open`],
    expected: { asked: [`${HOME}/hop.svg`, `${HOME}/image.svg`, `${HOME}/open`, ROBOTS], visits: ['200'] },
  },
  {
    capability: 'abort works',
    name: 'takes an aborted request out of the queue, and does not send it',
    web: { [ROBOTS]: LONG_DELAY, [`${HOME}/1`]: htmlPage(), [`${HOME}/2`]: htmlPage() },
    visits: [`${HOME}/1`],
    abandoned: `${HOME}/2`,
    expected: { asked: [`${HOME}/1`, ROBOTS], visits: ['200', 'failed'], abandoned: true },
  },
  {
    capability: 'verdict reaches the user',
    name: 'includes the line of the rule that decided',
    web: { [ROBOTS]: RULES },
    visits: [`${HOME}/private/1`],
    expected: { asked: [ROBOTS], visits: [refusedBy(`${HOME}/private/1`, 2)] },
  },
  {
    capability: 'verdict reaches the user',
    name: 'is about the refused hop of a redirect',
    web: { [ROBOTS]: RULES, [`${HOME}/hop`]: redirectTo('/private/2') },
    visits: [`${HOME}/hop`],
    expected: { asked: [`${HOME}/hop`, ROBOTS], visits: [refusedBy(`${HOME}/private/2`, 2)] },
  },
  {
    capability: 'own name on robots.txt',
    name: 'fetches robots.txt with the name whose group is applied (RFC 9309 §2.2.1)',
    web: { [ROBOTS]: RULES, [`${HOME}/open`]: htmlPage() },
    visits: [`${HOME}/open`],
    expected: { asked: [`${HOME}/open`, ROBOTS], visits: ['200'], name: USER_AGENT },
  },
]

/** Returns the cases for an adapter, without the cases that it cannot pass. */
export function adapterCasesFor(name: string): readonly AdapterCase[] {
  const row = adapterRows.find((one) => one.name === name)
  if (row === undefined) throw new Error(`adapterRows has no ${name}`)
  return adapterCases.filter(({ capability }) => row.cannot[capability] === undefined)
}

/**
 * Runs a case. The outcome has the same properties as `expected`, so that a test can compare the
 * two.
 */
export async function runAdapterCase(
  { web, visits, abandoned, expected }: AdapterCase,
  open: (settings: AdapterSettings) => AdapterUnderTest | Promise<AdapterUnderTest>,
): Promise<AdapterOutcome> {
  const sites = await startSites()
  sites.answerAll(web)
  const recorder = new GateRecorder(sites.withPort(HOME))
  const adapter = await open(SETTINGS)
  try {
    const results = await Promise.all(visits.map((url) => visitOf(adapter, sites.withPort(url))))
    if (abandoned !== undefined) {
      const controller = new AbortController()
      const url = sites.withPort(abandoned)
      const waits = recorder.waits(url)
      const visit = visitOf(adapter, url, controller.signal)
      // If the visit does not wait, it ends first. Then its result shows why.
      await Promise.race([waits, visit])
      controller.abort(new Error('aborted by the test case'))
      results.push(await visit)
    }
    const robots = sites.requests.find(({ url }) => url === ROBOTS)
    const withVerdict = expected.visits.some((visit) => visit.startsWith('refused:'))
    return {
      asked: [...new Set(sites.requestedUrls)].sort(),
      visits: results.map((visit) => described(visit, withVerdict).replaceAll(`:${sites.port}`, ':PORT')),
      ...(expected.name !== undefined && { name: robots?.headers['user-agent'] ?? '' }),
      ...(expected.abandoned !== undefined && { abandoned: recorder.abandoned }),
      ...(expected.delayMs !== undefined && {
        delayMs: keptDelay(
          expected.delayMs,
          recorder.starts,
          sites.requests.map(({ url, at }) => ({ url: sites.withPort(url), at: performance.timeOrigin + at })),
        ),
      }),
    }
  } finally {
    recorder.close()
    await adapter.close()
    await sites.close()
  }
}

async function visitOf(
  adapter: AdapterUnderTest,
  url: string,
  signal: AbortSignal = new AbortController().signal,
): Promise<Visit> {
  return adapter.visit(url, signal).catch((error: unknown): Visit => ({ kind: 'failed', error }))
}

function described(visit: Visit, withVerdict: boolean): string {
  switch (visit.kind) {
    case 'answered':
      return String(visit.status)
    case 'failed':
      return 'failed'
    case 'refused':
      if (!withVerdict) return 'refused'
      return `refused: ${visit.verdict?.because} of line ${visit.verdict?.rule?.line} for ${visit.verdict?.url}`
  }
}

/**
 * Returns `delayMs` if that delay was kept between the starts of the requests, otherwise the
 * shortest delay. Each request must arrive at the server after its start; if one does not,
 * returns by how much it came too early, as a negative number. A busy machine may make a request
 * arrive late, so the time between two arrivals says nothing.
 */
function keptDelay(delayMs: number, starts: readonly Start[], requests: readonly Start[]): number {
  const sorted = starts.toSorted((one, other) => one.at - other.at)
  const delays = sorted.slice(1).map(({ at }, i) => at - (sorted[i] as Start).at)
  const travels = requests.map(({ url, at }) => at - (starts.find((start) => start.url === url)?.at ?? at))
  return Math.min(delayMs, ...delays, ...travels.filter((ms) => ms < 0))
}

/** When a request started by the gate, or arrived at the server. */
interface Start {
  readonly url: string
  /** Milliseconds since 1970, by the default clock of a gate. */
  readonly at: number
}

/** Records the messages of the gates of this process about one origin. */
class GateRecorder {
  readonly starts: Start[] = []
  abandoned = false
  readonly #origin: string
  readonly #waiting = new Map<string, () => void>()

  constructor(origin: string) {
    this.#origin = origin
    for (const [name, listener] of this.#listeners) subscribe(name, listener)
  }

  /** Resolves as soon as a request for the URL waits at a gate. */
  waits(url: string): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>()
    this.#waiting.set(url, resolve)
    return promise
  }

  close(): void {
    for (const [name, listener] of this.#listeners) unsubscribe(name, listener)
  }

  readonly #ofOrigin =
    (handle: (message: Start) => void) =>
    (message: unknown): void => {
      const gateMessage = message as Start
      if (URL.parse(gateMessage.url)?.origin === this.#origin) handle(gateMessage)
    }

  readonly #listeners: readonly (readonly [string, (message: unknown) => void])[] = [
    ['politely:gate:start', this.#ofOrigin(({ url, at }) => void this.starts.push({ url, at }))],
    ['politely:gate:wait', this.#ofOrigin(({ url }) => this.#waiting.get(url)?.())],
    ['politely:gate:abandon', this.#ofOrigin(() => (this.abandoned = true))],
  ]
}
