// Set-ups in which pages take another way than usual: mocks, stubs, proxies. Each says what gets
// the request for robots.txt. robots-way-child.ts runs them, since they change the whole process.
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { type Inspection, RobotsClient, type RobotsClientOptions } from '@politely/fetcher'
import { PoliteGate, politely } from '@politely/gate'
import { politeAgent, politeInterceptor } from '@politely/gate/undici'
import * as undici from 'undici'
import * as undici6 from 'undici6'
import * as undici7 from 'undici7'

export interface WayCase {
  /** What the program does, as Markdown. */
  readonly name: string
  /** What gets the request for robots.txt. */
  readonly receiver: 'the site' | 'your fetch' | 'msw' | 'nock' | 'MockAgent' | 'the proxy' | 'the network' | 'nothing'
  readonly via: Inspection['via']
  /** A part of the verdict's `detail`, if robots.txt is unreachable. */
  readonly detail?: string
  /** Options and environment of Node, beside `HTTP_PROXY`. */
  readonly node?: { readonly args?: readonly string[]; readonly env?: Readonly<Record<string, string>> }
  /** Sets everything up, asks for a URL that robots.txt disallows, and cleans up. */
  readonly run: () => Promise<Seen>
}

/** What a case led to. */
export interface Seen {
  readonly because: string
  readonly detail: string | undefined
  readonly via: Inspection['via'] | undefined
  /** What has got a request for robots.txt. */
  readonly receivers: readonly string[]
}

const ROBOTS = 'User-agent: *\nDisallow: /private\n'
/** A site that no DNS knows. */
const SITE = 'https://site.example'
const OPTIONS = { userAgent: 'ExampleBot/1.0', retries: 0 }
const builtIn = globalThis.fetch

/** What has got a request for robots.txt. */
export const receivers: string[] = []
const bodyOf = (path: string, receiver: string): string => {
  if (path === '/robots.txt') receivers.push(receiver)
  return path === '/robots.txt' ? ROBOTS : 'a page'
}

async function seenBy(robots: RobotsClient, site = SITE): Promise<Seen> {
  receivers.length = 0
  const verdict = await robots.check(`${site}/private`)
  const inspection = await robots.inspect(site)
  const via = 'via' in inspection ? inspection.via : undefined
  return { because: verdict.because, detail: verdict.access?.detail, via, receivers: [...receivers] }
}

interface SetUp extends Pick<RobotsClientOptions, 'robotsVia'> {
  readonly site?: string
  /** Called when the client exists. */
  readonly before?: () => unknown
}

type AnyFetch = Parameters<typeof politely>[0]

/** Checks a URL with the client of `politely(fetch)`. Pages must take the same way as robots.txt. */
async function politelyWith(fetch: AnyFetch, { site = SITE, before, ...options }: SetUp = {}): Promise<Seen> {
  const polite = politely(fetch as typeof globalThis.fetch, { ...OPTIONS, ...options })
  try {
    await before?.()
    const seen = await seenBy(polite.gate.robots, site)
    if (seen.because === 'rule') await (await polite(`${site}/page`)).text()
    return seen
  } finally {
    await polite.close()
  }
}

async function clientWith({ site = SITE, before, ...options }: SetUp = {}): Promise<Seen> {
  const client = new RobotsClient({ ...OPTIONS, ...options })
  try {
    await before?.()
    return await seenBy(client, site)
  } finally {
    await client.close()
  }
}

/** Runs with a server on loopback that counts as the receiver of this name. */
export async function withServer<T>(name: 'the site' | 'the proxy', run: (url: string) => Promise<T>): Promise<T> {
  const server = createServer((request, response) =>
    response.end(bodyOf(new URL(request.url ?? '', 'http://x').pathname, name)),
  )
  server.on('connect', (_, socket) => {
    socket.write('HTTP/1.1 200 OK\r\n\r\n')
    server.emit('connection', socket)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  try {
    return await run(`http://127.0.0.1:${(server.address() as AddressInfo).port}`)
  } finally {
    server.closeAllConnections()
    server.close()
  }
}

const stub = async (input: unknown): Promise<Response> =>
  new Response(bodyOf(new URL(String(input)).pathname, 'your fetch'))

const lateFetch: typeof fetch = (...args) => fetch(...args)
const stubFetch = () => setGlobalFetch(stub)

function setGlobalFetch(fetch: unknown): void {
  globalThis.fetch = fetch as typeof globalThis.fetch
}

/** Runs with this global fetch, or with one that `run` sets itself. */
async function withGlobalFetch<T>(fetch: unknown, run: () => Promise<T>): Promise<T> {
  setGlobalFetch(fetch)
  return run().finally(() => setGlobalFetch(builtIn))
}

const PATHS = ['/robots.txt', '/page', '/private']

async function withMsw<T>(run: () => Promise<T>): Promise<T> {
  const [{ setupServer }, { http, HttpResponse }] = await Promise.all([import('msw/node'), import('msw')])
  const handlers = PATHS.map((path) => http.get(SITE + path, () => HttpResponse.text(bodyOf(path, 'msw'))))
  const server = setupServer(...handlers)
  server.listen({ onUnhandledFrame: 'error' })
  return run().finally(() => server.close())
}

async function withNock<T>(run: () => Promise<T>): Promise<T> {
  const { default: nock } = await import('nock')
  if (!nock.isActive()) nock.activate()
  nock.disableNetConnect()
  for (const path of PATHS)
    nock(SITE)
      .persist()
      .get(path)
      .reply(200, () => bodyOf(path, 'nock'))
  return run().finally(() => {
    nock.cleanAll()
    nock.enableNetConnect()
    nock.restore()
  })
}

/** The global dispatchers of undici 6 and 7, and of undici 8. */
const KEYS = [Symbol.for('undici.globalDispatcher.1'), Symbol.for('undici.globalDispatcher.2')]

async function withDispatcher<T>(set: () => unknown, run: () => Promise<T>): Promise<T> {
  const globals = globalThis as unknown as Record<symbol, unknown>
  const before = KEYS.map((key) => globals[key])
  set()
  return run().finally(() => {
    for (const [i, key] of KEYS.entries()) globals[key] = before[i]
  })
}

type UndiciMocks = Pick<typeof undici, 'MockAgent' | 'setGlobalDispatcher'>

function withMockAgent<T>(
  { MockAgent, setGlobalDispatcher }: UndiciMocks,
  run: () => Promise<T>,
  paths: readonly string[] = PATHS,
): Promise<T> {
  const agent = new MockAgent()
  agent.disableNetConnect()
  const pool = agent.get(SITE)
  for (const path of paths)
    pool
      .intercept({ path })
      .reply(200, () => bodyOf(path, 'MockAgent'))
      .persist()
  return withDispatcher(() => setGlobalDispatcher(agent), run)
}

const mocks6 = undici6 as unknown as UndiciMocks
const mocks7 = undici7 as unknown as UndiciMocks

const NOT_FOUND = 'ENOTFOUND site.example; '
const HTTP_SITE = 'http://site.example'

const throughEnvironment = () => politelyWith(fetch, { site: HTTP_SITE })

export const wayCases: readonly WayCase[] = [
  {
    name: '`politely(fetch)`',
    receiver: 'the site',
    via: 'own',
    run: () => withServer('the site', (site) => politelyWith(fetch, { site })),
  },
  {
    name: '`politely(fetch)` with the `fetch` of undici, also after `undici.install()`',
    receiver: 'the site',
    via: 'own',
    run: () =>
      withGlobalFetch(undici.fetch, () => withServer('the site', (site) => politelyWith(undici7.fetch, { site }))),
  },
  {
    name: '`politely(fetch, { robotsVia: "pages" })`',
    receiver: 'the site',
    via: 'pages-fetch',
    run: () => withServer('the site', (site) => politelyWith(fetch, { site, robotsVia: 'pages' })),
  },
  {
    name: '`globalThis.fetch = politely(fetch)`, and a client',
    receiver: 'the site',
    via: 'own',
    run: () =>
      withServer('the site', async (site) => {
        const polite = politely(builtIn, OPTIONS)
        return withGlobalFetch(polite, () => clientWith({ site })).finally(() => polite.close())
      }),
  },
  {
    name: '`setGlobalDispatcher(politeAgent(…))`',
    receiver: 'the site',
    via: 'own',
    run: () =>
      withServer('the site', (site) => {
        const agent = politeAgent(OPTIONS)
        return withDispatcher(
          () => undici.setGlobalDispatcher(agent),
          async () => {
            await (await fetch(`${site}/page`)).text()
            const client = await clientWith({ site })
            const { via } = await seenBy(agent.gate.robots, site)
            return { ...client, via }
          },
        ).finally(() => agent.destroy())
      }),
  },
  {
    name: '`setGlobalDispatcher(new Agent().compose(politeInterceptor(gate)))`',
    receiver: 'the site',
    via: 'global-dispatcher',
    run: () =>
      withServer('the site', (site) => {
        const robots = new RobotsClient(OPTIONS)
        const gate = new PoliteGate({ robots, minDelayMs: 0 })
        const agent = new undici.Agent()
        return withDispatcher(
          () => undici.setGlobalDispatcher(new undici.Dispatcher1Wrapper(agent.compose(politeInterceptor(gate)))),
          () => seenBy(robots, site),
        ).finally(() => Promise.all([robots.close(), agent.destroy()]))
      }),
  },
  {
    name: '`politely(yourFetch)`',
    receiver: 'your fetch',
    via: 'pages-fetch',
    run: () => politelyWith(stub as AnyFetch),
  },
  {
    name: '`globalThis.fetch = stub`, then `politely(fetch)`',
    receiver: 'your fetch',
    via: 'pages-fetch',
    run: () => withGlobalFetch(stub, () => politelyWith(globalThis.fetch)),
  },
  {
    name: '`politely((...args) => fetch(...args))`, then `globalThis.fetch = stub`',
    receiver: 'your fetch',
    via: 'pages-fetch',
    run: () => withGlobalFetch(builtIn, () => politelyWith(lateFetch as AnyFetch, { before: stubFetch })),
  },
  {
    name: '`politely(fetch)`, then `globalThis.fetch = stub`',
    receiver: 'the network',
    via: 'own',
    detail: `${NOT_FOUND}globalThis.fetch has been replaced, but requests for robots.txt do not use it: politely has wrapped another fetch; write politely((...args) => fetch(...args), { … })`,
    run: () => withGlobalFetch(builtIn, () => politelyWith(builtIn, { before: stubFetch })),
  },
  {
    name: '`new RobotsClient(…)`, then `globalThis.fetch = stub`',
    receiver: 'your fetch',
    via: 'global-fetch',
    run: () => withGlobalFetch(builtIn, () => clientWith({ before: stubFetch })),
  },
  {
    name: '`new RobotsClient({ robotsVia: "own" })` and `globalThis.fetch = stub`',
    receiver: 'the network',
    via: 'own',
    detail: `${NOT_FOUND}globalThis.fetch has been replaced, but requests for robots.txt do not use it: leave robotsVia: 'own' out`,
    run: () => withGlobalFetch(stub, () => clientWith({ robotsVia: 'own' })),
  },
  {
    name: '`new RobotsClient(…)` and msw',
    receiver: 'msw',
    via: 'global-fetch',
    run: () => withMsw(() => clientWith()),
  },
  {
    name: 'msw, then `politely(fetch)`',
    receiver: 'msw',
    via: 'pages-fetch',
    run: () => withMsw(() => politelyWith(globalThis.fetch)),
  },
  {
    name: '`new RobotsClient(…)` and nock with `disableNetConnect()`',
    receiver: 'nock',
    via: 'global-fetch',
    run: () => withNock(() => clientWith()),
  },
  {
    name: 'nock with `disableNetConnect()`, then `politely(fetch)`',
    receiver: 'nock',
    via: 'pages-fetch',
    run: () => withNock(() => politelyWith(globalThis.fetch)),
  },
  {
    name: '`politely(fetch)`, then nock: it has also replaced the sockets of `node:net`',
    receiver: 'nock',
    via: 'pages-fetch',
    run: () => withNock(() => politelyWith(builtIn)),
  },
  {
    name: '`politely(fetch)`, then msw',
    receiver: 'the network',
    via: 'pages-fetch',
    detail: `${NOT_FOUND}globalThis.fetch has been replaced, but requests for robots.txt do not use it: politely has wrapped another fetch; write politely((...args) => fetch(...args), { … })`,
    run: () => withMsw(() => politelyWith(builtIn)),
  },
  {
    name: '`politely(fetch)` and `setGlobalDispatcher(mockAgent)` with `disableNetConnect()`',
    receiver: 'MockAgent',
    via: 'global-dispatcher',
    run: () => withMockAgent(undici, () => politelyWith(fetch)),
  },
  {
    name: '`politely(fetch)` with the `fetch` of undici, and such a `MockAgent`',
    receiver: 'MockAgent',
    via: 'global-dispatcher',
    run: () => withMockAgent(undici, () => politelyWith(undici.fetch)),
  },
  {
    name: '`new RobotsClient(…)` and such a `MockAgent`',
    receiver: 'MockAgent',
    via: 'global-dispatcher',
    run: () => withMockAgent(undici, () => clientWith()),
  },
  {
    name: '`politely(fetch)` of undici 6 or 7, and a `MockAgent` of that version',
    receiver: 'MockAgent',
    via: 'global-dispatcher',
    run: async () => {
      await withMockAgent(mocks6, () => politelyWith(undici6.fetch))
      return withMockAgent(mocks7, () => politelyWith(undici7.fetch))
    },
  },
  {
    name: '`politely(fetch)` and a `MockAgent` that has no interceptor for robots.txt',
    receiver: 'nothing',
    via: 'global-dispatcher',
    detail: "Mock dispatch not matched for path '/robots.txt'",
    run: () => withMockAgent(undici, () => politelyWith(fetch), []),
  },
  {
    name: '`politeAgent(…)` and a `MockAgent` that is the global dispatcher',
    receiver: 'the network',
    via: 'own',
    detail: `${NOT_FOUND}the global dispatcher is a MockAgent, but requests for robots.txt do not use it: politeAgent makes its own connections, also for pages`,
    run: () =>
      withMockAgent(undici, async () => {
        const agent = politeAgent(OPTIONS)
        return seenBy(agent.gate.robots).finally(() => agent.destroy())
      }),
  },
  {
    name: '`politely(fetch)` and `setGlobalDispatcher(new ProxyAgent(…))`',
    receiver: 'the proxy',
    via: 'global-dispatcher',
    run: () =>
      withServer('the proxy', (proxy) =>
        withDispatcher(
          () => undici.setGlobalDispatcher(new undici.ProxyAgent(proxy)),
          () => politelyWith(fetch, { site: HTTP_SITE }),
        ),
      ),
  },
  {
    name: '`politely(fetch)`, with `NODE_USE_ENV_PROXY=1` and `HTTP_PROXY`',
    receiver: 'the proxy',
    via: 'global-dispatcher',
    node: { env: { NODE_USE_ENV_PROXY: '1' } },
    run: throughEnvironment,
  },
  {
    name: '`politely(fetch)`, with `node --use-env-proxy` and `HTTP_PROXY`',
    receiver: 'the proxy',
    via: 'global-dispatcher',
    node: { args: ['--use-env-proxy'] },
    run: throughEnvironment,
  },
  {
    name: '`politely(fetch)`, with `HTTP_PROXY` alone',
    receiver: 'the network',
    via: 'own',
    detail: `${NOT_FOUND}HTTP_PROXY is set, but this request did not use it: start Node with NODE_USE_ENV_PROXY=1, or write dispatcher: new EnvHttpProxyAgent()`,
    node: {},
    run: throughEnvironment,
  },
]
