// What every adapter and every recipe has to do, on one small web, and which of them cannot. The tests of each run the cases
// against the real package; docs/frameworks.md shows the rows.
//
// The web is one server with two origins: `http://localhost:PORT`, where the visits go, and `http://127.0.0.1:PORT`.
import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { type Reply, startSites } from './sites.ts'
import { htmlPage, redirectTo } from './small-pages.ts'

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
  /** The page of docs/ that tells how. */
  readonly page: string
  /** What it cannot do, and why. All else is tested. */
  readonly cannot: Partial<Readonly<Record<Capability, string>>>
}

const LOADS_NOTHING = 'loads no sub-resources'

export const adapterRows: readonly AdapterRow[] = [
  { name: 'politely(fetch)', page: 'waiting.md', cannot: { 'sub-resources': LOADS_NOTHING } },
  { name: 'politeAgent', page: 'waiting.md', cannot: { 'sub-resources': LOADS_NOTHING } },
  { name: 'politeHttpAgent', page: 'waiting.md', cannot: { 'sub-resources': LOADS_NOTHING } },
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

/** What an adapter is opened with, as it stands: options of a RobotsClient and of a PoliteGate. */
export interface AdapterSettings {
  readonly userAgent: string
  readonly minDelayMs: number
  readonly retries: number
}

export interface AdapterUnderTest {
  /** Visits a page as those who use the adapter do; it is told when to give up by whatever means they have. */
  visit(url: string, signal: AbortSignal): Promise<Visit>
  close(): Promise<void>
}

/** What the user of an adapter sees of a visit. A visit that rejects has failed. */
export type Visit =
  | { readonly kind: 'answered'; readonly status: number }
  | { readonly kind: 'refused'; readonly verdict: SeenVerdict | undefined }
  | { readonly kind: 'failed'; readonly error: unknown }

/** As much of a verdict as is looked at. */
interface SeenVerdict {
  readonly url: string
  readonly because: string
  readonly rule?: { readonly line: number }
}

export interface AdapterCase {
  readonly capability: Capability
  readonly name: string
  /** What the URLs answer; all others 404. */
  readonly web: Readonly<Record<string, Reply>>
  /** These all at once. */
  readonly visits: readonly string[]
  /** After them this one, which is told to give up as soon as it waits at the gate. */
  readonly abandoned?: string
  readonly expected: AdapterOutcome
}

export interface AdapterOutcome {
  /** URLs that the server was asked for, each once, sorted. */
  readonly asked: readonly string[]
  /** What came of the visits, in their order: a status, the refusal, or `failed`. */
  readonly visits: readonly string[]
  /** The User-Agent that asked for robots.txt. */
  readonly name?: string
  /** Whether a visit that gave up has left its place in the queue. */
  readonly abandoned?: boolean
  /** The requests left the gate with this pause, and came to the server one after another. Milliseconds. */
  readonly pausedFor?: number
}

const USER_AGENT = 'AdapterBot/1.0 (+https://adapter.example/bot)'
const SETTINGS: AdapterSettings = { userAgent: USER_AGENT, minDelayMs: 0, retries: 0 }

const HOME = 'http://localhost:PORT'
const OTHER = 'http://127.0.0.1:PORT'
const ROBOTS = `${HOME}/robots.txt`
const RULES: Reply = { status: 200, body: 'User-agent: AdapterBot\nDisallow: /private\n' }
const PAUSE: Reply = { status: 200, body: 'User-agent: *\nCrawl-delay: 0.3\n' }
const LONG_PAUSE: Reply = { status: 200, body: 'User-agent: *\nCrawl-delay: 60\n' }
const IMAGE: Reply = { status: 200, headers: { 'content-type': 'image/svg+xml' }, body: '<svg/>' }

const refusedBy = (url: string, line: number) => `refused: rule of line ${line} for ${url}`

export const adapterCases: readonly AdapterCase[] = [
  {
    capability: 'first URL checked',
    name: 'a page that robots.txt disallows is not asked for, one that it allows is',
    web: { [ROBOTS]: RULES, [`${HOME}/private`]: htmlPage(), [`${HOME}/open`]: htmlPage() },
    visits: [`${HOME}/private`, `${HOME}/open`],
    expected: {
      asked: [`${HOME}/open`, ROBOTS],
      visits: ['refused', '200'],
    },
  },
  {
    capability: 'first URL checked',
    name: 'RFC 9309 §2.3.1.4: where robots.txt is unreachable, nothing is asked for',
    web: { [ROBOTS]: { status: 503 }, [`${HOME}/open`]: htmlPage() },
    visits: [`${HOME}/open`],
    expected: { asked: [ROBOTS], visits: ['refused'] },
  },
  {
    capability: 'first URL checked',
    name: 'RFC 9309 §2.3.1.3: where there is none, everything is',
    web: { [`${HOME}/open`]: htmlPage() },
    visits: [`${HOME}/open`],
    expected: { asked: [`${HOME}/open`, ROBOTS], visits: ['200'] },
  },
  {
    capability: 'every hop checked',
    name: 'a redirect to what is disallowed is not followed, one to what is allowed is',
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
    name: 'a redirect to another origin is a matter of its own robots.txt, at any hop',
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
    name: 'pages that are asked for together leave one by one',
    web: { [ROBOTS]: PAUSE, [`${HOME}/1`]: htmlPage(), [`${HOME}/2`]: htmlPage(), [`${HOME}/3`]: htmlPage() },
    visits: [`${HOME}/1`, `${HOME}/2`, `${HOME}/3`],
    expected: {
      asked: [`${HOME}/1`, `${HOME}/2`, `${HOME}/3`, ROBOTS],
      visits: ['200', '200', '200'],
      pausedFor: 300,
    },
  },
  {
    capability: 'sub-resources',
    name: 'what a page shows is checked as the page is',
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
    name: 'who gives up while waiting leaves the queue, and nothing is asked for',
    web: { [ROBOTS]: LONG_PAUSE, [`${HOME}/1`]: htmlPage(), [`${HOME}/2`]: htmlPage() },
    visits: [`${HOME}/1`],
    abandoned: `${HOME}/2`,
    expected: { asked: [`${HOME}/1`, ROBOTS], visits: ['200', 'failed'], abandoned: true },
  },
  {
    capability: 'verdict reaches the user',
    name: 'it says which line decided',
    web: { [ROBOTS]: RULES },
    visits: [`${HOME}/private/1`],
    expected: { asked: [ROBOTS], visits: [refusedBy(`${HOME}/private/1`, 2)] },
  },
  {
    capability: 'verdict reaches the user',
    name: 'of a redirect, it is the hop that was not made',
    web: { [ROBOTS]: RULES, [`${HOME}/hop`]: redirectTo('/private/2') },
    visits: [`${HOME}/hop`],
    expected: { asked: [`${HOME}/hop`, ROBOTS], visits: [refusedBy(`${HOME}/private/2`, 2)] },
  },
  {
    capability: 'own name on robots.txt',
    name: 'RFC 9309 §2.2.1: robots.txt is asked for under the name whose group is obeyed',
    web: { [ROBOTS]: RULES, [`${HOME}/open`]: htmlPage() },
    visits: [`${HOME}/open`],
    expected: { asked: [`${HOME}/open`, ROBOTS], visits: ['200'], name: USER_AGENT },
  },
]

/** The cases that the tests of an adapter run: those of its row that it can. */
export function adapterCasesFor(name: string): readonly AdapterCase[] {
  const row = adapterRows.find((one) => one.name === name)
  if (row === undefined) throw new Error(`adapterRows has no ${name}`)
  return adapterCases.filter(({ capability }) => row.cannot[capability] === undefined)
}

/** Plays a case, and says as much of what happened as the case says what is expected. */
export async function playAdapter(
  { web, visits, abandoned, expected }: AdapterCase,
  open: (settings: AdapterSettings) => AdapterUnderTest | Promise<AdapterUnderTest>,
): Promise<AdapterOutcome> {
  const sites = await startSites()
  sites.answerAll(web)
  const listener = new GateListener(sites.withPort(HOME))
  const adapter = await open(SETTINGS)
  try {
    const seen = await Promise.all(visits.map((url) => visitOf(adapter, sites.withPort(url))))
    if (abandoned !== undefined) {
      const giveUp = new AbortController()
      const url = sites.withPort(abandoned)
      const visit = visitOf(adapter, url, giveUp.signal)
      // A visit that does not wait is over first; then what it was is told.
      await Promise.race([listener.waits(url), visit])
      giveUp.abort(new Error('who asked for it has given up'))
      seen.push(await visit)
    }
    const robots = sites.requests.find(({ url }) => url === ROBOTS)
    const tellsVerdict = expected.visits.some((visit) => visit.startsWith('refused:'))
    return {
      asked: [...new Set(sites.asked)].sort(),
      visits: seen.map((visit) => described(visit, tellsVerdict).replaceAll(`:${sites.port}`, ':PORT')),
      ...(expected.name !== undefined && { name: robots?.headers['user-agent'] ?? '' }),
      ...(expected.abandoned !== undefined && { abandoned: listener.abandoned }),
      ...(expected.pausedFor !== undefined && {
        pausedFor: pauseKept(expected.pausedFor, listener.left, sites.requests),
      }),
    }
  } finally {
    listener.close()
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

function described(visit: Visit, tellsVerdict: boolean): string {
  switch (visit.kind) {
    case 'answered':
      return String(visit.status)
    case 'failed':
      return 'failed'
    case 'refused':
      if (!tellsVerdict) return 'refused'
      return `refused: ${visit.verdict?.because} of line ${visit.verdict?.rule?.line} for ${visit.verdict?.url}`
  }
}

/**
 * Returns the pause that was asked for if it was kept, otherwise the shortest one. It counts between the moments at which requests start. At the
 * server each request also has its way, so there the requests together must take at least half of what the pauses come to.
 */
function pauseKept(asked: number, left: readonly number[], requests: readonly { url: string; at: number }[]): number {
  const arrived = requests.filter(({ url }) => url !== ROBOTS).map(({ at }) => at)
  if (shortest(left) < asked) return shortest(left)
  const spread = (Math.max(...arrived) - Math.min(...arrived)) / (arrived.length - 1)
  return spread < asked / 2 ? spread : asked
}

function shortest(moments: readonly number[]): number {
  const sorted = moments.toSorted((a, b) => a - b)
  return Math.min(...sorted.slice(1).map((at, i) => at - (sorted[i] ?? 0)))
}

/** Hears what the gates of this process say of one origin. */
class GateListener {
  readonly left: number[] = []
  abandoned = false
  readonly #origin: string
  readonly #waiting = new Map<string, () => void>()

  constructor(origin: string) {
    this.#origin = origin
    for (const [name, hear] of this.#ears) subscribe(name, hear)
  }

  /** Resolves as soon as a request for the URL waits at a gate. */
  waits(url: string): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>()
    this.#waiting.set(url, resolve)
    return promise
  }

  close(): void {
    for (const [name, hear] of this.#ears) unsubscribe(name, hear)
  }

  readonly #hear =
    (act: (message: { readonly url: string; readonly at: number }) => void) =>
    (message: unknown): void => {
      const said = message as { readonly url: string; readonly at: number }
      if (URL.parse(said.url)?.origin === this.#origin) act(said)
    }

  readonly #ears: readonly (readonly [string, (message: unknown) => void])[] = [
    ['politely:gate:start', this.#hear(({ at }) => void this.left.push(at))],
    ['politely:gate:wait', this.#hear(({ url }) => this.#waiting.get(url)?.())],
    ['politely:gate:abandon', this.#hear(() => (this.abandoned = true))],
  ]
}
