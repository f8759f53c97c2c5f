// A child process with one way to crawl. It receives a number of pages, fetches them, and sends the
// processor time for each in nanoseconds. Its caches and connections stay for the next turn.
//   node crawl-child.ts METHOD PORT HOSTS CONCURRENCY POOLS
// With POOLS `one`, all hosts share their connections: 50,000 hosts would need more ports than there are.
import { PageCache } from '@politely/cache'
import { type CrawlerRules, parseRobots } from '@politely/core'
import { RobotsClient } from '@politely/fetcher'
import { PoliteGate, politely } from '@politely/gate'
import { politeAgent } from '@politely/gate/undici'
import { lookupIn } from '@politely/testkit/servers/lookup'
import robotsParser, { type Robots } from 'robots-parser'
import { Agent, fetch, request } from 'undici'
import { CRAWLER } from '../../crawler.ts'
import { plainWords } from '../../files/words.ts'

const DAY_MS = 86_400_000
let misses = 0

/** What the gate by hand keeps for each origin. */
interface SiteByHand {
  readonly rules: CrawlerRules
  underWay: number
  readonly freshUntil: number
}

type GetPage = (url: string) => Promise<unknown>

const [, , name = '', port, ...others] = process.argv
const [hosts, concurrency] = [Number(others[0]), Number(others[1])]
const hasOnePool = others[2] === 'one'

const userAgent = `${CRAWLER}/1.0`
const headers = { 'user-agent': userAgent }
const lookup = lookupIn()
const agent = new Agent({ connect: { lookup } })
const server = `http://127.0.0.1:${port}`
const dispatcher = hasOnePool
  ? agent.compose((dispatch) => (options, handler) => dispatch({ ...options, origin: server }, handler))
  : agent
const newClient = () =>
  new RobotsClient(
    hasOnePool ? { userAgent, fetch: (url, init) => fetch(url, { ...init, dispatcher }) } : { userAgent, lookup },
  )
/** Its limits are so high that no page has to wait. */
const newGate = () => new PoliteGate({ robots: newClient(), minDelayMs: 0, maxConcurrentPerKey: concurrency })

const methods: Readonly<Record<string, () => GetPage>> = {
  'undici.request': () => async (url) => (await request(url, { dispatcher, headers })).body.text(),
  // What a gate must do at least: find the rules by the origin, match, count, release.
  'gate by hand, undici.request'() {
    const sites = new Map<string, SiteByHand>()
    const load = async (origin: string) => {
      const { body } = await request(`${origin}/robots.txt`, { dispatcher, headers })
      const rules = parseRobots(await body.text(), { origin }).forCrawler(CRAWLER)
      const site = { rules, underWay: 0, freshUntil: performance.now() + DAY_MS }
      sites.set(origin, site)
      return site
    }
    return async (url) => {
      const { origin } = new URL(url)
      let site = sites.get(origin)
      if (site === undefined || site.freshUntil < performance.now()) site = await load(origin)
      if (!site.rules.isAllowed(url) || site.underWay >= concurrency) throw new Error(`${url} may not start`)
      site.underWay++
      try {
        return await (await request(url, { dispatcher, headers })).body.text()
      } finally {
        site.underWay--
      }
    }
  },
  'robots.check, undici.request'() {
    const robots = newClient()
    return async (url) => {
      const { allowed } = await robots.check(url)
      if (!allowed) throw new Error(`${url} is not allowed`)
      return (await request(url, { dispatcher, headers })).body.text()
    }
  },
  'gate.enter, undici.request'() {
    const gate = newGate()
    return async (url) => {
      const permit = await gate.enter(url)
      try {
        const response = await permit.run(() => request(url, { dispatcher, headers }))
        permit.report({ status: response.statusCode, headers: response.headers })
        return await response.body.text()
      } finally {
        permit.release()
      }
    }
  },
  'undici.request, politeAgent'() {
    const polite = politeAgent({ gate: newGate(), lookup })
    return async (url) => (await request(url, { dispatcher: polite })).body.text()
  },
  'undici.fetch': () => async (url) => (await fetch(url, { dispatcher, headers })).text(),
  'undici.fetch, robots-parser by hand'() {
    const files = new Map<string, Robots>()
    return async (url) => {
      const { origin } = new URL(url)
      let robots = files.get(origin)
      if (robots === undefined) {
        const robotsUrl = `${origin}/robots.txt`
        robots = robotsParser(robotsUrl, await (await fetch(robotsUrl, { dispatcher, headers })).text())
        files.set(origin, robots)
      }
      if (!robots.isAllowed(url, userAgent)) throw new Error(`${url} is not allowed`)
      return (await fetch(url, { dispatcher, headers })).text()
    }
  },
  // A page is of another URL each time, so each is stored and none is answered from memory.
  'cache miss'() {
    const politeFetch = politely(fetch, { gate: newGate(), cache: new PageCache() })
    return async (url) => (await politeFetch(`${url}&miss=${misses++}`, { dispatcher })).text()
  },
  'cache hit'() {
    const politeFetch = politely(fetch, { gate: newGate(), cache: new PageCache() })
    return async (url) => (await politeFetch(new URL('/fresh', url), { dispatcher })).text()
  },
  'politely(undici.fetch)'() {
    const politeFetch = politely(fetch, { gate: newGate() })
    return async (url) => (await politeFetch(url, { dispatcher })).text()
  },
}

const start = methods[name]
if (start === undefined) throw new Error(`there is no method called ${name}`)
const getPage = start()

/** Each page is of another host than the one before. */
function urlAt(number: number): string {
  const word = plainWords[number % plainWords.length]
  return `http://www.site${number % hosts}.test:${port}/${word}/page-${number}.html?from=${word}`
}

let next = 0

async function cpuNsPerPage(count: number): Promise<number> {
  const end = next + count
  const before = process.cpuUsage()
  const worker = async () => {
    while (next < end) await getPage(urlAt(next++))
  }
  await Promise.all(Array.from({ length: concurrency }, worker))
  const { user, system } = process.cpuUsage(before)
  return ((user + system) * 1e3) / count
}

process.on('message', async (count: number) => process.send?.(await cpuNsPerPage(count)))
process.on('disconnect', () => process.exit())
