// A public site names private hosts in every way in which Politely, or a crawler with it, follows
// URLs. Nothing reaches them: not a page, not robots.txt, not even a connection.
//
// One row for each way. A new way in which a site can name a URL that something follows needs a row
// here. Each way is also tried with a second public host, which it must reach: otherwise a row that
// follows nothing would pass.
import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { Agent as HttpAgent, get as httpGet } from 'node:http'
import type { Socket } from 'node:net'
import { RobotsClient } from '@politely/fetcher'
import { PoliteGate, politeHttpAgent, politely, usageOf } from '@politely/gate'
import { politeAgent, politeInterceptor } from '@politely/gate/undici'
import { isFullRun } from '@politely/testkit/scope'
import {
  lookup,
  PRIVATE_HOSTS,
  type PrivateServer,
  type PublicSite,
  reach,
  startPrivateServer,
  startPublicSite,
} from '@politely/testkit/servers/private-hosts'
import type { Reply } from '@politely/testkit/servers/sites'
import * as undici from 'undici'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { runInThisProcess } from './run-cli.ts'

/** A crawler, and the page of the public site that names the target. */
interface Crawler {
  readonly page: string
  readonly client: RobotsClient
  readonly gate: PoliteGate
  readonly agent: ReturnType<typeof politeAgent>
  /** A fetch whose connections Politely does not make. */
  readonly fetch: ReturnType<typeof politelyFetch>
  /** Runs the command. */
  readonly politely: (...args: string[]) => Promise<unknown>
}

interface Way {
  /** The responses of the public site by path, if they are not only a link. `TARGET` is the URL. */
  readonly site?: Readonly<Record<string, Reply>>
  /** Whether the way runs the command, which resolves names itself. */
  readonly isCommand?: true
  /** Does what a crawler does with the site. */
  readonly follow: (crawler: Crawler, target: string) => unknown
}

const movedTo = (location: string): Reply => ({ status: 302, headers: { location } })
const html = (body: string): Reply => ({ status: 200, headers: { 'content-type': 'text/html' }, body })
const redirectingPage = { '/page': movedTo('TARGET') }
const linkingPage = { '/page': html('<a href="TARGET">a</a>') }

const ways: Readonly<Record<string, Way>> = {
  // Redirects.
  'a redirect of robots.txt': {
    site: { '/robots.txt': movedTo('TARGET') },
    follow: ({ client, page }) => client.check(page),
  },
  'a redirect of tdmrep.json': {
    site: { '/.well-known/tdmrep.json': movedTo('TARGET') },
    follow: ({ client, page }) => client.usage(page),
  },
  'a redirect of a page, with politely(fetch)': {
    site: redirectingPage,
    follow: ({ fetch, page }) => fetch(page),
  },
  'a redirect of a page, with a fetch through politeAgent': {
    site: redirectingPage,
    follow: ({ agent, page }) => undici.fetch(page, { dispatcher: agent }),
  },
  'a redirect of a page, with undici.request through politeAgent': {
    site: redirectingPage,
    follow: ({ agent, page }) => requestAll(page, { dispatcher: agent }),
  },
  'a redirect of a page, with politeInterceptor': {
    site: redirectingPage,
    follow: ({ gate, page }) => {
      const redirect = undici.interceptors.redirect({ maxRedirections: 5 })
      return requestAll(page, { dispatcher: plainAgent.compose(politeInterceptor(gate), redirect) })
    },
  },
  'a redirect of a page, with politeHttpAgent': {
    site: redirectingPage,
    follow: async ({ gate, page }, target) => {
      await getAll(page, { agent: politeHttpAgent(plainHttpAgent, gate) })
      await getAll(target, { agent: politeHttpAgent(plainHttpAgent, gate) })
    },
  },
  'the usage of a page after a redirect that politely(fetch) followed or refused': {
    site: redirectingPage,
    follow: async ({ gate, page }) => {
      const fetch = politely(plainFetch, { gate, onDisallowed: 'response' })
      await usageOf(await fetch(page))
    },
  },
  'the usage of a page after a redirect that the caller followed': {
    follow: ({ client, page }, target) => {
      const response = Object.defineProperties(new Response('', { headers: { 'content-type': 'text/html' } }), {
        url: { value: target },
        redirected: { value: true },
      })
      return client.usage(page, response)
    },
  },

  // Links, and all else that a page or a file of the site says: the caller writes `redirectedFrom`.
  'a link, with politely(fetch)': {
    follow: ({ fetch, page }, target) => fetch(target, { redirectedFrom: [page] }),
  },
  'a link, with a fetch through politeAgent': {
    follow: ({ agent, page }, target) =>
      politely(undici.fetch, { gate: agent.gate })(target, { dispatcher: agent, redirectedFrom: [page] }),
  },
  'a link, with a permit and a fetch through politeAgent': {
    follow: async ({ agent, page }, target) => {
      const permit = await agent.gate.enter(target, { redirectedFrom: [page] })
      try {
        permit.report(await permit.run(() => undici.fetch(permit.url, { dispatcher: agent, redirect: 'manual' })))
      } finally {
        permit.release()
      }
    },
  },
  'a link, with undici.request through politeAgent': {
    follow: ({ agent, page }, target) => requestAll(target, { dispatcher: agent, redirectedFrom: [page] }),
  },
  'a link, with politeInterceptor': {
    follow: ({ gate, page }, target) =>
      requestAll(target, { dispatcher: plainAgent.compose(politeInterceptor(gate)), redirectedFrom: [page] }),
  },
  'a link, with politeHttpAgent': {
    follow: ({ gate, page }, target) =>
      getAll(target, { agent: politeHttpAgent(plainHttpAgent, gate), redirectedFrom: [page] }),
  },
  'a link, with gate.enter': {
    follow: async ({ gate, page }, target) => {
      const permit = await gate.enter(target, { redirectedFrom: [page] })
      permit.release(await permit.run(() => plainFetch(permit.url, { redirect: 'manual' })))
    },
  },
  'a link, with gate.when': { follow: ({ gate, page }, target) => gate.when(target, { redirectedFrom: [page] }) },
  'a link, with gate.check': { follow: ({ gate, page }, target) => gate.check(target, { redirectedFrom: [page] }) },
  'a link, with isAllowed': {
    follow: ({ client, page }, target) => client.isAllowed(target, { redirectedFrom: [page] }),
  },
  'links, with checkMany': {
    follow: async ({ client, page }, target) => {
      for await (const _ of client.checkMany([target], { redirectedFrom: [page] }));
    },
  },
  'a link of a page that the caller reached by a private name': {
    follow: ({ fetch, page }, target) => fetch(target, { redirectedFrom: [page, 'http://wiki.corp/'] }),
  },
  'a license in robots.txt': {
    site: { '/robots.txt': { status: 200, body: 'User-agent: *\nDisallow:\nLicense: TARGET\n' } },
    follow: async ({ client, fetch, page }) => {
      const { licenses } = await client.usage(page)
      for (const { url } of licenses) await fetch(url, { redirectedFrom: [page] })
    },
  },
  'a tdm-policy in tdmrep.json': {
    site: {
      '/.well-known/tdmrep.json': {
        status: 200,
        body: '[{"location":"/","tdm-reservation":1,"tdm-policy":"TARGET"}]',
      },
    },
    follow: async ({ client, fetch, page }) => {
      const { tdmPolicy = '' } = await client.usage(page)
      await fetch(tdmPolicy, { redirectedFrom: [page] })
    },
  },

  // The command.
  'politely explain --follow: a redirect': {
    site: redirectingPage,
    isCommand: true,
    follow: ({ page, politely }) => politely('explain', page, '--follow'),
  },
  'politely fetch: a redirect': {
    site: redirectingPage,
    isCommand: true,
    follow: ({ page, politely }) => politely('fetch', page),
  },
  'politely usage: a redirect of the page': {
    site: redirectingPage,
    isCommand: true,
    follow: ({ page, politely }) => politely('usage', page),
  },
  'politely usage: a redirect of tdmrep.json': {
    site: { '/page': html('page'), '/.well-known/tdmrep.json': movedTo('TARGET') },
    isCommand: true,
    follow: ({ page, politely }) => politely('usage', page),
  },
  'politely check: a redirect of robots.txt': {
    site: { '/robots.txt': movedTo('TARGET') },
    isCommand: true,
    follow: ({ page, politely }) => politely('check', page),
  },
  ...Object.fromEntries(
    ['usage', 'fetch', 'crawl'].map((command): [string, Way] => [
      `politely ${command} --sitemap: a URL in it`,
      {
        site: { '/page': { status: 200, body: '<urlset><url><loc>TARGET</loc></url></urlset>' } },
        isCommand: true,
        follow: ({ page, politely }) => politely(command, '--sitemap', page),
      },
    ]),
  ),
  'politely crawl: a redirect': {
    site: redirectingPage,
    isCommand: true,
    follow: ({ page, politely }) => politely('crawl', page),
  },
  'politely crawl: a link': {
    site: linkingPage,
    isCommand: true,
    follow: ({ page, politely }) => politely('crawl', page),
  },
}

const plainAgent = new undici.Agent({ connect: { lookup } })
const plainHttpAgent = new HttpAgent({ lookup } as object)
const plainFetch = (url: string, init?: undici.RequestInit) => undici.fetch(url, { ...init, dispatcher: plainAgent })
const politelyFetch = (gate: PoliteGate) => politely(plainFetch, { gate })

/** Requests with undici, and reads the body. `redirectedFrom` is an option of Politely. */
async function requestAll(url: string, options: undici.Dispatcher.DispatchOptions | object): Promise<void> {
  const { body } = await undici.request(url, options as object)
  await body.dump()
}

async function getAll(url: string, options: object): Promise<void> {
  await new Promise<void>((resolve, reject) => {
    httpGet(url, options, (response) => void response.resume().once('end', resolve)).once('error', reject)
  })
}

let site: PublicSite
let inside: PrivateServer
/** The addresses that this process has tried to connect to. */
let addresses: string[]
const ends: (() => unknown)[] = []

const note = (message: unknown) => {
  const { socket } = message as { readonly socket: Socket }
  socket.on('connectionAttempt', (address) => void addresses.push(address))
}

beforeAll(async () => {
  inside = await startPrivateServer()
  subscribe('net.client.socket', note)
})
beforeEach(async () => {
  site = await startPublicSite()
  addresses = []
})
afterEach(async () => {
  for (const end of ends.splice(0)) await end()
  await site.close()
})
afterAll(async () => {
  unsubscribe('net.client.socket', note)
  await plainAgent.destroy()
  await inside.close()
})

/** Follows a way to a target. Its failure is expected. */
async function follow({ site: replies = {}, isCommand, follow: go }: Way, target: string): Promise<void> {
  const withTarget = JSON.stringify(replies).replaceAll('TARGET', target)
  site.respond(JSON.parse(withTarget))
  const client = new RobotsClient({ userAgent: 'ExampleBot/1.0', retries: 0, ...reach })
  const gate = new PoliteGate({ robots: client, minDelayMs: 0 })
  const agent = politeAgent({ gate, maxRedirections: 5, ...reach })
  ends.push(
    () => agent.close(),
    () => gate.close(),
    () => client.close(),
  )
  const flags = ['--user-agent', 'ExampleBot', '--allow-address', '127.0.0.3']
  const crawler: Crawler = {
    page: `${isCommand ? site.literal : site.origin}/page`,
    client,
    gate,
    agent,
    fetch: politelyFetch(gate),
    politely: (command, ...args) => runInThisProcess([command, ...args, ...flags]),
  }
  await Promise.resolve(go(crawler, target)).catch(() => undefined)
}

const isName = (host: string) => !/^[\d.]+$|^0x|^\[|^localhost$/.test(host)

/** All hosts for a way. The short run takes one, another one for each way. */
function hostsFor({ isCommand }: Way, n: number): readonly string[] {
  const hosts = PRIVATE_HOSTS.filter((host) => isCommand === undefined || !isName(host))
  return isFullRun ? hosts : [hosts[n % hosts.length] as string]
}

describe.for(Object.entries(ways).map(([name, way], n) => [name, way, hostsFor(way, n)] as const))(
  '%s',
  ([, way, hosts]) => {
    test.for(hosts)('does not reach %s', async (host) => {
      await follow(way, `http://${host}:${inside.port}/named`)
      expect(inside.requests).toEqual([])
      expect(inside.connections).toBe(0)
      expect(addresses.filter((address) => address !== '127.0.0.3')).toEqual([])
    })

    test('reaches another public host', async () => {
      await follow(way, `${way.isCommand ? site.literal : site.other}/named`)
      const reached = way.isCommand ? '127.0.0.3/named' : 'other.example.com/'
      expect(site.requests.filter((request) => request.startsWith(reached))).not.toEqual([])
    })
  },
)
