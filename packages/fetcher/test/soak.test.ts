// @module-tag slow
// @module-tag full
// One client checks thousands of origins that misbehave in all ways of the tables at once. Each
// verdict must be the expected verdict of its case, everything must end, and nothing may stay
// behind. A seeded random generator assigns the cases. All of it is our choice.

import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { getEventListeners } from 'node:events'
import type { LookupFunction, Socket } from 'node:net'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { bodyCases } from '@politely/testkit/cases/body-cases'
import {
  connectionCases,
  misbehavingServerCases,
  type ServerCaseExpectation,
} from '@politely/testkit/cases/misbehaving-server-cases'
import { checkedPage, type ExpectedAccess, replyCases } from '@politely/testkit/cases/response-cases'
import { collectGarbage } from '@politely/testkit/heap'
import { pick, seededRandom } from '@politely/testkit/random-robots'
import { sampled } from '@politely/testkit/scope'
import { lookupIn } from '@politely/testkit/servers/lookup'
import { startRawServer } from '@politely/testkit/servers/raw-server'
import { holdRefusingPort } from '@politely/testkit/servers/refusing-port'
import { type Reply, type Sites, startSites } from '@politely/testkit/servers/sites'
import { expect, onTestFinished, test } from 'vitest'
import { ClientClosedError, type ClientVerdict, RobotsClient, type RobotsClientOptions } from '../src/index.ts'

const { SOAK_ORIGINS } = process.env
/** Ten thousand origins take half a minute. */
const ORIGINS = Number(SOAK_ORIGINS ?? sampled(2_000))
const REGISTRABLE_DOMAINS = 300
const CALLERS = sampled(3_000)
/** Concurrent checks. Servers and client share one event loop, so more would slow each turn. */
const CONCURRENCY = 200
/** The deadline for cases that only the deadline ends; far more than the others need. */
const TIMEOUT_MS = 40_000
/** Small, since this test looks for memory outside the cache. */
const CACHE_BYTES = 2 ** 20
const MAX_BODY_BYTES = 500 * 1024

/** One case of a table, for an origin to be created. */
interface Trial {
  readonly name: string
  /** Set if only the deadline ends the request. */
  readonly lastsUntilDeadline?: true | undefined
  /**
   * Sets the responses for hosts under `domain`. Returns the URL to check and the expected verdict.
   */
  readonly open: (domain: string) => { readonly url: string; readonly expected: ServerCaseExpectation }
  readonly close: (domain: string) => void
}

interface Servers {
  readonly sites: Sites
  readonly trials: readonly Trial[]
  readonly newClient: (options?: Partial<RobotsClientOptions>) => RobotsClient
  readonly close: () => Promise<void>
}

/** The resources of the test runner, which keep this process alive before the first test. */
const INITIAL_RESOURCES = resources()

test(`${ORIGINS} misbehaving origins`, { timeout: 60_000 + 20 * ORIGINS }, async () => {
  const { sites, trials, newClient, close } = await startServers()
  const sockets = countOwnSockets()
  const problems = collectProblems()
  const client = newClient()
  const roll = seededRandom(20_260_101)
  const usedCases = new Set<string>()
  const fastTrials = trials.filter(({ lastsUntilDeadline }) => !lastsUntilDeadline)
  const ask = async (origin: number) => {
    // Slow cases only in the middle: at the start or the end, the whole test would wait for them.
    const trial = pick(roll, CONCURRENCY <= origin && origin < ORIGINS / 2 ? trials : fastTrials)
    usedCases.add(trial.name)
    const domain = domainOf(origin)
    const { url, expected } = trial.open(domain)
    compare(problems, trial, await client.check(url), expected)
    trial.close(domain)
  }

  await runConcurrently(CONCURRENCY, CONCURRENCY, ask) // warms up code, pools and the cache
  sites.clearRecords()
  const baseline = memory('collected')
  const peak = watchPeak()
  await runConcurrently(CONCURRENCY, ORIGINS, async (n) => {
    await ask(CONCURRENCY + n)
    if (n % 100 === 0) sites.clearRecords()
  })
  const most = peak.end()
  memory('collected')
  await sites.allConnectionsClosed() // without `close`: no flight continues, and connections are closed after use
  sites.clearRecords()
  await nextTurn() // for finalizers
  const after = memory('collected')
  await client.close()
  const mebibytes = (bytes: number) => Math.round(bytes / 2 ** 20)
  console.log(
    `${ORIGINS} origins, ${trials.length} rows, ${sockets.opened} connections; MiB: before ${mebibytes(baseline.live)} live, ` +
      `${mebibytes(baseline.rss)} resident; at most ${mebibytes(most.live)}, ${mebibytes(most.rss)}; after ${mebibytes(after.live)}, ${mebibytes(after.rss)}`,
  )

  expect(problems).toEqual([])
  if (ORIGINS >= 10_000) expect(usedCases.size).toBe(new Set(trials.map(({ name }) => name)).size)
  await expect.poll(() => sockets.open).toBe(0)
  expect(sockets.opened).toBeGreaterThan(ORIGINS / 2)
  await close()
  await quiet()
  // The difference is about 0. A leak of two thousand sockets would take 60 MiB.
  expect(after.live - baseline.live).toBeLessThan(CACHE_BYTES + 24 * 2 ** 20)
  // Each flight may hold a file three times (chunks, buffer, text). The servers and garbage take as
  // much again.
  expect(most.live - baseline.live).toBeLessThan(2 * 3 * CONCURRENCY * MAX_BODY_BYTES)
})

test(`${CALLERS} callers of misbehaving origins, two thirds of which abort at random times`, async () => {
  const { sites, trials, newClient, close } = await startServers()
  const sockets = countOwnSockets()
  const problems = collectProblems()
  const client = newClient({ timeoutMs: 15_000, maxCacheBytes: 64 * 2 ** 20 })
  const roll = seededRandom(7)
  const origins = Array.from({ length: sampled(400) }, (_, n) => {
    const trial = pick(roll, trials)
    return { trial, ...trial.open(domainOf(n)) }
  })
  const totals = { answered: 0, aborted: 0 }
  const signals: AbortSignal[] = []
  await runConcurrently(100, CALLERS, async (n) => {
    const { trial, url, expected } = pick(roll, origins)
    const controller = new AbortController()
    signals.push(controller.signal)
    const reason = new Error(`caller ${n} aborted`)
    const abort = () => controller.abort(reason)
    const timer = n % 3 === 0 ? undefined : setTimeout(abort, roll() * 40)
    if (n % 30 === 1) abort() // before the check
    try {
      compare(problems, trial, await client.check(url, { signal: controller.signal }), expected)
      totals.answered++
    } catch (error) {
      expect(error).toBe(reason)
      totals.aborted++
    } finally {
      clearTimeout(timer)
    }
  })

  expect(problems).toEqual([])
  expect(totals.answered).toBeGreaterThan(CALLERS / 3)
  expect(totals.aborted).toBeGreaterThan(CALLERS / 10)
  expect(signals.filter((signal) => getEventListeners(signal, 'abort').length > 0)).toEqual([])
  await sites.allConnectionsClosed()
  await client.close()
  await expect.poll(() => sockets.open).toBe(0)
  await close()
  await quiet()
})

test('a client that closes during five hundred flights ends them all', async () => {
  const { sites, trials, newClient, close } = await startServers()
  const sockets = countOwnSockets()
  const problems = collectProblems()
  const client = newClient()
  const roll = seededRandom(8)
  const totals = { answered: 0, closed: 0 }
  const flights = Array.from({ length: 500 }, async (_, n) => {
    const trial = pick(roll, trials)
    const { url, expected } = trial.open(domainOf(n))
    try {
      compare(problems, trial, await client.check(url), expected)
      totals.answered++
    } catch (error) {
      expect(error).toBeInstanceOf(ClientClosedError)
      totals.closed++
    }
  })
  await sites.requested(100)
  await Promise.race(flights)
  await client.close()
  await Promise.all(flights)

  expect(problems).toEqual([])
  expect(totals.answered).toBeGreaterThan(0)
  expect(totals.closed).toBeGreaterThan(0)
  await sites.allConnectionsClosed()
  await expect.poll(() => sockets.open).toBe(0)
  await close()
  await quiet()
})

/** Starts all servers and returns all cases as trials. Closes with the test. */
async function startServers(): Promise<Servers> {
  const sites = await startSites()
  const refusing = await holdRefusingPort()
  const doors = await Promise.all(
    connectionCases.map(async (row) => ({ row, server: await startRawServer(row.accept) })),
  )
  const servers = [sites, refusing, ...doors.map(({ server }) => server)]
  const close = async () => void (await Promise.all(servers.splice(0).map((server) => server.close())))
  onTestFinished(close)
  /** A trial on the shared server: responses by URL. */
  const answering = (
    name: string,
    answers: () => readonly (readonly [string, Reply | ((socket: Socket) => void)])[],
    expected: ServerCaseExpectation,
  ): Trial => ({
    name,
    open: (domain) => {
      for (const [url, answer] of answers()) sites.respond(movedTo(domain, url), moved(domain, answer))
      return { url: sites.withPort(movedTo(domain, checkedPage)), expected }
    },
    close: (domain) => {
      for (const [url] of answers()) sites.respond(movedTo(domain, url))
    },
  })
  const elsewhere = (name: string, url: string, expected: ServerCaseExpectation): Trial => ({
    name,
    open: (domain) => ({ url: movedTo(domain, url), expected }),
    close: () => undefined,
  })
  const robots = 'http://a.test:PORT/robots.txt'
  const trials = [
    ...replyCases
      .filter(({ notFoundPages, foreignBodies }) => notFoundPages === undefined && foreignBodies === undefined)
      .map(({ name, replies, expected }) => answering(name, () => Object.entries(replies), expected)),
    ...misbehavingServerCases.map(({ name, behave, expected, lastsUntilDeadline }) => ({
      ...answering(name, () => [[robots, behave]], expected),
      lastsUntilDeadline,
    })),
    ...bodyCases.map(({ name, contentEncoding, body, expected }) => {
      const headers = contentEncoding === undefined ? {} : { 'content-encoding': contentEncoding }
      const reply = { status: 200, headers, body: body() }
      return answering(name, () => [[robots, reply]], {
        ...expected,
        status: expected.outcome === 'success' ? 200 : undefined,
      })
    }),
    ...doors.map(({ row: { name, scheme, expected, lastsUntilDeadline }, server }) => ({
      ...elsewhere(name, `${scheme}://a.test:${server.port}/page`, expected),
      lastsUntilDeadline,
    })),
    elsewhere('a port that refuses', `http://a.test:${refusing.port}/page`, unreachable('refused')),
    elsewhere('a name that is not found', 'http://gone.test:80/page', unreachable('dns')),
  ]
  const clients: RobotsClient[] = []
  onTestFinished(async () => void (await Promise.all(clients.map((client) => client.close()))))
  return {
    sites,
    trials,
    newClient: (options) => {
      const client = new RobotsClient({
        userAgent: 'ExampleBot/1.0',
        lookup,
        retries: 0,
        timeoutMs: TIMEOUT_MS,
        maxCacheBytes: CACHE_BYTES,
        ...options,
      })
      clients.push(client)
      return client
    },
    close,
  }
}

const lookup: LookupFunction = (host, options, callback) =>
  lookupIn(host.startsWith('gone.') ? { [host]: 'ENOTFOUND' } : {})(host, options, callback)

function unreachable(reason: string): ServerCaseExpectation {
  return { allowed: false, because: 'unreachable', outcome: 'unreachable', reason, status: undefined }
}

function domainOf(origin: number): string {
  return `o${origin}.site${origin % REGISTRABLE_DOMAINS}.test`
}

/** Replaces every host `x.test` in a text by `x.<domain>`. */
function movedTo(domain: string, text: string): string {
  return text.replaceAll(/\.test(?=:)/gi, `.${domain.slice(0, -'.test'.length)}$&`)
}

function moved<T extends Reply | ((socket: Socket) => void)>(domain: string, answer: T): T {
  if (typeof answer === 'function' || answer.headers === undefined) return answer
  const headers = Object.entries(answer.headers).map(([name, value]) => [
    name,
    typeof value === 'string' ? movedTo(domain, value) : value.map((one) => movedTo(domain, one)),
  ])
  return { ...answer, headers: Object.fromEntries(headers) }
}

/** Runs `work` for 0 to `count` - 1 with the given concurrency. */
async function runConcurrently(concurrency: number, count: number, work: (n: number) => Promise<void>): Promise<void> {
  let next = 0
  const worker = async () => {
    while (next < count) await work(next++)
  }
  await Promise.all(Array.from({ length: concurrency }, worker))
}

/** Collects deviations from the expected verdicts, and uncaught errors, to report them together. */
function collectProblems(): string[] {
  const problems: string[] = []
  const note = (error: unknown) => problems.push(`uncaught: ${String(error)}`)
  process.on('unhandledRejection', note).on('uncaughtException', note)
  onTestFinished(() => void process.off('unhandledRejection', note).off('uncaughtException', note))
  return problems
}

function compare(problems: string[], { name }: Trial, verdict: ClientVerdict, expected: ServerCaseExpectation): void {
  const summary = ({ allowed, because, outcome, reason, status }: ExpectedAccess & { readonly status: unknown }) =>
    [allowed, because, outcome, reason, status].join(' ')
  const access = verdict.access ?? { outcome: 'none', reason: 'none', status: undefined }
  const { allowed, because } = verdict
  const actual = summary({ ...access, allowed, because })
  if (actual !== summary(expected)) problems.push(`${name}: ${actual}, not ${summary(expected)}`)
}

function countOwnSockets(): { readonly opened: number; readonly open: number } {
  const count = { opened: 0, open: 0 }
  const note = (message: unknown) => {
    count.opened++
    count.open++
    ;(message as { readonly socket: Socket }).socket.once('close', () => count.open--)
  }
  subscribe('net.client.socket', note)
  onTestFinished(() => void unsubscribe('net.client.socket', note))
  return count
}

/** The resources that keep this process alive, by kind: sockets, servers, timers, requests. */
function resources(): Record<string, number> {
  const counts: Record<string, number> = {}
  for (const kind of process.getActiveResourcesInfo()) counts[kind] = (counts[kind] ?? 0) + 1
  return counts
}

/** The resources that did not exist before the first test. */
function newResources(): string[] {
  return Object.entries(resources()).flatMap(([kind, count]) =>
    count > (INITIAL_RESOURCES[kind] ?? 0) ? [`${count} of ${kind}, not ${INITIAL_RESOURCES[kind] ?? 0}`] : [],
  )
}

/**
 * Waits until no more resources exist than at the start. Sockets and timers end a few turns after
 * their requests.
 */
async function quiet(): Promise<void> {
  for (let turn = 0; turn < 10_000 && newResources().length > 0; turn++) await nextTurn()
  expect(newResources()).toEqual([])
}

interface Memory {
  /** The heap and external memory, in bytes. */
  readonly live: number
  readonly rss: number
}

function memory(when: 'collected' | 'now'): Memory {
  if (when === 'collected') collectGarbage()
  const { heapUsed, external, rss } = process.memoryUsage()
  return { live: heapUsed + external, rss }
}

function watchPeak(): { end(): Memory } {
  const peak = { live: 0, rss: 0 }
  const look = () => {
    const { live, rss } = memory('now')
    peak.live = Math.max(peak.live, live)
    peak.rss = Math.max(peak.rss, rss)
  }
  const timer = setInterval(look, 20)
  return {
    end: () => {
      look()
      clearInterval(timer)
      return peak
    },
  }
}
