// The rows of the table in docs/http-clients.md: what each HTTP client takes, as an expression that
// http-clients.test.ts runs with the real package. The expressions use the names that the first
// example of the page declares.
import { Agent as HttpAgent } from 'node:http'
import { Agent as HttpsAgent } from 'node:https'
import { type PoliteGate, politeHttpAgent, politely } from '@politely/gate'
import { type PoliteAgent, politeAgent } from '@politely/gate/undici'
import type { LargePackage } from './import-source.ts'

/** What the expressions may use. */
export interface Names {
  readonly politely: typeof politely
  readonly gate: PoliteGate
  readonly userAgent: string
  readonly fetch: typeof globalThis.fetch
  readonly httpAgent: HttpAgent
  readonly httpsAgent: HttpsAgent
  readonly agentFor: (url: string | URL) => HttpAgent
  readonly dispatcher: PoliteAgent
}

export function namesOf(gate: PoliteGate): Names {
  const httpAgent = politeHttpAgent(new HttpAgent(), gate)
  const httpsAgent = politeHttpAgent(new HttpsAgent(), gate)
  return {
    politely,
    gate,
    userAgent: gate.robots.userAgent,
    fetch: politely(globalThis.fetch, { gate }),
    httpAgent,
    httpsAgent,
    agentFor: (url) => (new URL(url).protocol === 'https:' ? httpsAgent : httpAgent),
    dispatcher: politeAgent({ gate }),
  }
}

export interface ClientRow {
  readonly name: string
  readonly imports: string
  /** Creates a client, or requests `url`. */
  readonly code: string
  /** The status of the page at `url`; `client` is the value of `code`. */
  readonly status: string
  /** The verdict of `error`, the client's error for a refused request. */
  readonly verdict: string
  readonly followsRedirects: boolean
  /** What to know, such as what enters the gate if that is not each request and each hop. */
  readonly trap: string
  /** It reads feeds, and no HTML. */
  readonly readsFeeds?: boolean
  readonly large?: LargePackage
}

const HOPS = { followsRedirects: true }
const NO_HOPS = { followsRedirects: false }
const OWN = { verdict: 'error.verdict' }
const CAUSE = { verdict: 'error.cause.verdict' }

/** Its last version for Node 22.19. */
export const JSDOM: LargePackage = { name: 'jsdom', version: '29.1.1' }
const NEST: LargePackage = { name: '@nestjs/axios', version: '12.0.1' }

export const clientRows: readonly ClientRow[] = [
  {
    name: 'fetch of Node',
    imports: '',
    code: 'politely(globalThis.fetch, { gate })',
    status: '(await client(url)).status',
    ...OWN,
    ...HOPS,
    trap: '[A polite fetch](polite-fetch.md)',
  },
  {
    name: 'fetch of Node, dispatcher',
    imports: '',
    code: 'globalThis.fetch(url, { dispatcher })',
    status: 'client.then((response) => response.text().then(() => response.status))',
    ...CAUSE,
    ...HOPS,
    trap: '[For all libraries that call the global fetch](#the-built-in-fetch-of-a-whole-process): `setGlobalDispatcher(dispatcher)`',
  },
  {
    name: 'undici, `fetch`',
    imports: "import { fetch as undiciFetch } from 'undici'",
    code: 'politely(undiciFetch, { gate })',
    status: '(await client(url)).status',
    ...OWN,
    ...HOPS,
    trap: '',
  },
  {
    name: 'undici, `request`',
    imports: "import { request } from 'undici'",
    code: 'request(url, { dispatcher })',
    status: 'client.then(({ statusCode, body }) => body.dump().then(() => statusCode))',
    ...OWN,
    ...NO_HOPS,
    trap: 'Follows no redirects; `politeAgent({ gate, maxRedirections: 5 })` does, and checks each hop. [More](undici-and-node-http.md#with-undici)',
  },
  {
    name: 'node:http, node:https',
    imports: "import { once } from 'node:events'\nimport { get } from 'node:http'",
    code: 'get(url, { agent: agentFor(url) })',
    status:
      "once(client.on('response', (response) => response.resume()), 'response').then(([response]) => response.statusCode)",
    ...OWN,
    ...NO_HOPS,
    trap: 'Follows no redirects. The verdict is in the event `error`. [More](undici-and-node-http.md#with-nodehttp)',
  },
  {
    name: 'got',
    imports: "import got from 'got'",
    code: "got.extend({ agent: { http: httpAgent, https: httpsAgent }, headers: { 'user-agent': userAgent } })",
    status: '(await client(url)).statusCode',
    ...CAUSE,
    ...HOPS,
    trap: '[More](#got)',
  },
  {
    name: 'axios, adapter `fetch`',
    imports: "import axios from 'axios'",
    code: "axios.create({ adapter: 'fetch', env: { fetch }, headers: { 'User-Agent': userAgent } })",
    status: '(await client.get(url)).status',
    ...CAUSE,
    ...HOPS,
    trap: 'Before 1.12 it ignores `env.fetch`. [More](#axios)',
  },
  {
    name: 'axios, adapter `http`',
    imports: "import axios from 'axios'",
    code: "axios.create({ adapter: 'http', httpAgent, httpsAgent, headers: { 'User-Agent': userAgent } })",
    status: '(await client.get(url)).status',
    ...CAUSE,
    ...HOPS,
    trap: '[More](#axios)',
  },
  {
    name: 'NestJS, `HttpModule`',
    imports:
      "import 'reflect-metadata'\nimport { HttpModule, HttpService } from '@nestjs/axios'\nimport { firstValueFrom } from 'rxjs'",
    code: "HttpModule.register({ adapter: 'fetch', env: { fetch }, headers: { 'User-Agent': userAgent } })",
    status: '(await firstValueFrom(new HttpService(client.providers[0].useValue).get(url))).status',
    ...CAUSE,
    ...HOPS,
    trap: 'The Observable fails with the error of axios. `httpAgent` and `httpsAgent` work as with axios',
    large: NEST,
  },
  {
    name: 'ky',
    imports: "import ky from 'ky'",
    code: 'ky.create({ fetch, timeout: false })',
    status: '(await client(url)).status',
    ...OWN,
    ...HOPS,
    trap: 'Its timeout of 10 s would include the wait. [More](#ky)',
  },
  {
    name: 'ofetch',
    imports: "import { createFetch } from 'ofetch'",
    code: 'createFetch({ fetch, defaults: { retry: false } })',
    status: '(await client.raw(url)).status',
    ...CAUSE,
    ...HOPS,
    trap: 'Without `retry: false` it retries a refusal once. A redirect to a disallowed URL is then requested twice',
  },
  {
    name: 'node-fetch',
    imports: "import nodeFetch from 'node-fetch'",
    code: 'politely(nodeFetch, { gate })',
    status: '(await client(url)).status',
    ...OWN,
    ...HOPS,
    trap: 'It cannot fetch robots.txt, so pass a `gate`. With its option `agent` a refusal has our `code` and message, but no `verdict` and no `cause`',
  },
  {
    name: 'superagent',
    imports: "import superagent from 'superagent'",
    code: 'superagent.get(url).agent(agentFor(url))',
    status: '(await client).status',
    ...OWN,
    ...HOPS,
    trap: '`superagent.agent(…)` is another method, and bypasses the gate. So does `.http2()`. All hops use one agent: a redirect from http to https fails with `ERR_INVALID_PROTOCOL`. `.timeout(…)` includes the wait',
  },
  {
    name: 'needle',
    imports: "import needle from 'needle'",
    code: "needle('get', url, { agent: agentFor(url), user_agent: userAgent, open_timeout: 0 })",
    status: '(await client).statusCode',
    ...OWN,
    ...NO_HOPS,
    trap: 'Its `open_timeout` of 10 s would include the wait. With `follow_max` each hop is checked, but a redirect from http to https ends the process: needle throws `ERR_INVALID_PROTOCOL` outside of its promise',
  },
  {
    name: 'node-crawler',
    imports: "import Crawler from 'crawler'",
    code: 'new Crawler({ agent: { http: httpAgent, https: httpsAgent }, userAgents: userAgent, retries: 0, timeout: 600_000, silence: true })',
    status: '(await client.send({ url, jQuery: false })).statusCode',
    ...CAUSE,
    ...HOPS,
    trap: 'Its default User-Agent names a browser, and its default retries repeat a refusal. [More](#node-crawler)',
  },
  {
    name: 'cheerio',
    imports: "import { loadBuffer } from 'cheerio'",
    code: 'loadBuffer(Buffer.from(await (await fetch(url)).arrayBuffer()))',
    status: "client('title').text() === 'a page' ? 200 : 0",
    ...OWN,
    ...HOPS,
    trap: '`fromURL` cannot be made polite: it opens its own connection, and neither its `requestOptions` nor the global dispatcher change that',
  },
  {
    name: 'rss-parser',
    imports: "import Parser from 'rss-parser'",
    code: 'new Parser().parseString(await (await fetch(url)).text())',
    status: "(await client).title === 'a page' ? 200 : 0",
    ...OWN,
    ...HOPS,
    trap: '`parseURL` with an agent does not read the body of a response such as 404. A response with a long body then keeps its slot. A request that times out in the queue is sent later all the same',
    readsFeeds: true,
  },
  {
    name: 'jsdom',
    imports: "import { JSDOM } from 'jsdom'",
    code: 'JSDOM.fromURL(url, { resources: { dispatcher, userAgent } })',
    status: "(await client).window.document.title === 'a page' ? 200 : 0",
    ...OWN,
    followsRedirects: true,
    trap: "The document, frames, scripts, style sheets, `XMLHttpRequest` and `WebSocket` are checked. A synchronous `XMLHttpRequest` bypasses the gate: leave out `runScripts: 'dangerously'`. A refused script is a `jsdomError` of the virtual console, with our error as its `cause`",
    large: JSDOM,
  },
  {
    name: 'a link checker, such as linkinator',
    imports: "import { refusalOf } from '@politely/gate'",
    code: "politely(globalThis.fetch, { gate, onDisallowed: 'response' })",
    status: 'client(url).then((response) => (refusalOf(response) ? Promise.reject(response) : response.status))',
    verdict: 'refusalOf(response)?.verdict',
    ...HOPS,
    trap: 'Refused links are [skipped, not broken](#a-refusal-in-a-link-checker)',
  },
]
