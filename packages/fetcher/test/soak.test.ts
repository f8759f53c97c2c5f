// Thousands of origins that misbehave in all the ways of the tables at once, asked by one client: each verdict is the one of its
// row, everything ends, and nothing stays behind. Who gets which row is dice with a seed. All of it is our choice.

import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { getEventListeners } from 'node:events'
import type { LookupFunction, Socket } from 'node:net'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { bodyRows } from '@politely/testkit/body-cases'
import { lookupIn } from '@politely/testkit/lookup'
import { doorRows, type RudeExpectation, rudeRows } from '@politely/testkit/misbehaving-server-cases'
import { pick, seededRandom } from '@politely/testkit/random-robots'
import { startRawServer } from '@politely/testkit/raw-server'
import { holdRefusingPort } from '@politely/testkit/refusing-port'
import { askedPage, type Meaning, replyRows } from '@politely/testkit/response-cases'
import { isFullRun, sampled } from '@politely/testkit/scope'
import { type Reply, type Sites, startSites } from '@politely/testkit/sites'
import { expect, onTestFinished, test } from 'vitest'
import { ClientClosedError, type ClientVerdict, RobotsClient, type RobotsClientOptions } from '../src/index.ts'

const { SOAK_ORIGINS } = process.env
/** Ten thousand take half a minute. */
const ORIGINS = Number(SOAK_ORIGINS ?? sampled(4_000))
const REGISTRABLE_DOMAINS = 300
const CALLERS = sampled(3_000)
/** How many are asked about at once. Servers and client share one event loop: with more, one turn of it takes long. */
const AT_ONCE = 200
/** For those that only the deadline ends; far more than the others need. */
const TIMEOUT_MS = isFullRun ? 20_000 : 60_000 // in the short run nothing lasts until the deadline
/** Little: what the cache holds, or should, is not what is looked for here. */
const CACHE_BYTES = 2 ** 20
const MOST_BODY_BYTES = 500 * 1024

/** An origin to be, with a row of a table. */
interface Trial {
  readonly name: string
  /** Whether only the deadline ends it. */
  readonly lastsUntilDeadline?: true | undefined
  /** Sets up its servers' answers for hosts under `domain`; the URL to ask about, and what the verdict has to be. */
  readonly open: (domain: string) => { readonly url: string; readonly expected: RudeExpectation }
  readonly close: (domain: string) => void
}

interface World {
  readonly sites: Sites
  readonly trials: readonly Trial[]
  readonly newClient: (options?: Partial<RobotsClientOptions>) => RobotsClient
  readonly close: () => Promise<void>
}

/** What keeps this process alive before the first test: the runner's own. */
const BEFORE = resources()

test(`${ORIGINS} rude origins`, { timeout: 60_000 + 20 * ORIGINS }, async () => {
  const { sites, trials, newClient, close } = await startWorld()
  const sockets = countOwnSockets()
  const wrong = wrongWords()
  const client = newClient()
  const roll = seededRandom(20_260_101)
  const dealt = new Set<string>()
  const swift = trials.filter(({ lastsUntilDeadline }) => !lastsUntilDeadline)
  const ask = async (origin: number) => {
    // Not at the start nor at the end, where everybody would wait for the last one.
    const trial = pick(roll, AT_ONCE <= origin && origin < ORIGINS / 2 ? trials : swift)
    dealt.add(trial.name)
    const domain = domainOf(origin)
    const { url, expected } = trial.open(domain)
    compare(wrong, trial, await client.check(url), expected)
    trial.close(domain)
  }

  await inParallel(AT_ONCE, AT_ONCE, ask) // so that code, pools and the cache are there
  sites.forget()
  const baseline = memory('collected')
  const peak = watchPeak()
  await inParallel(AT_ONCE, ORIGINS, async (n) => {
    await ask(AT_ONCE + n)
    if (n % 100 === 0) sites.forget()
  })
  const most = peak.end()
  memory('collected')
  await sites.deserted() // by itself: no flight goes on, and connections are not kept for long
  sites.forget()
  await nextTurn() // for what is told of garbage
  const after = memory('collected')
  await client.close()
  const mebibytes = (bytes: number) => Math.round(bytes / 2 ** 20)
  console.log(
    `${ORIGINS} origins, ${trials.length} rows, ${sockets.opened} connections; MiB: before ${mebibytes(baseline.live)} live, ` +
      `${mebibytes(baseline.rss)} resident; at most ${mebibytes(most.live)}, ${mebibytes(most.rss)}; after ${mebibytes(after.live)}, ${mebibytes(after.rss)}`,
  )

  expect(wrong).toEqual([])
  if (ORIGINS >= 10_000) expect(dealt.size).toBe(new Set(trials.map(({ name }) => name)).size)
  await expect.poll(() => sockets.open).toBe(0)
  expect(sockets.opened).toBeGreaterThan(ORIGINS / 2)
  await close()
  await quiet()
  // It is about nothing. Two thousand sockets that anything held on to were 60 MiB.
  expect(after.live - baseline.live).toBeLessThan(CACHE_BYTES + 24 * 2 ** 20)
  // Each flight may hold a file three times (pieces, the whole, its text); servers and what is not collected yet, as much again.
  expect(most.live - baseline.live).toBeLessThan(2 * 3 * AT_ONCE * MOST_BODY_BYTES)
})

test(`${CALLERS} callers of rude origins, two thirds of whom leave at some moment`, {
  timeout: 60_000,
}, async () => {
  const { sites, trials, newClient, close } = await startWorld()
  const sockets = countOwnSockets()
  const wrong = wrongWords()
  const client = newClient({ timeoutMs: 5_000, maxCacheBytes: 64 * 2 ** 20 })
  const roll = seededRandom(7)
  const origins = Array.from({ length: sampled(400) }, (_, n) => {
    const trial = pick(roll, isFullRun ? trials : trials.filter(({ lastsUntilDeadline }) => !lastsUntilDeadline))
    return { trial, ...trial.open(domainOf(n)) }
  })
  const fates = { answered: 0, left: 0 }
  const signals: AbortSignal[] = []
  await inParallel(100, CALLERS, async (n) => {
    const { trial, url, expected } = pick(roll, origins)
    const leaver = new AbortController()
    signals.push(leaver.signal)
    const reason = new Error(`caller ${n} had enough`)
    const leave = () => leaver.abort(reason)
    const timer = n % 3 === 0 ? undefined : setTimeout(leave, roll() * 40)
    if (n % 30 === 1) leave() // before it has asked
    try {
      compare(wrong, trial, await client.check(url, { signal: leaver.signal }), expected)
      fates.answered++
    } catch (error) {
      expect(error).toBe(reason)
      fates.left++
    } finally {
      clearTimeout(timer)
    }
  })

  expect(wrong).toEqual([])
  expect(fates.answered).toBeGreaterThan(CALLERS / 3)
  expect(fates.left).toBeGreaterThan(CALLERS / 10)
  expect(signals.filter((signal) => getEventListeners(signal, 'abort').length > 0)).toEqual([])
  await sites.deserted()
  await client.close()
  await expect.poll(() => sockets.open).toBe(0)
  await close()
  await quiet()
})

test('a client that is closed amid five hundred flights ends them all', { timeout: 60_000 }, async () => {
  const { sites, trials, newClient, close } = await startWorld()
  const sockets = countOwnSockets()
  const wrong = wrongWords()
  const client = newClient()
  const roll = seededRandom(8)
  const fates = { answered: 0, closed: 0 }
  const flights = Array.from({ length: 500 }, async (_, n) => {
    const trial = pick(roll, trials)
    const { url, expected } = trial.open(domainOf(n))
    try {
      compare(wrong, trial, await client.check(url), expected)
      fates.answered++
    } catch (error) {
      expect(error).toBeInstanceOf(ClientClosedError)
      fates.closed++
    }
  })
  await sites.requested(100)
  await Promise.race(flights)
  await client.close()
  await Promise.all(flights)

  expect(wrong).toEqual([])
  expect(fates.answered).toBeGreaterThan(0)
  expect(fates.closed).toBeGreaterThan(0)
  await sites.deserted()
  await expect.poll(() => sockets.open).toBe(0)
  await close()
  await quiet()
})

/** All servers, and all rows as trials. They end when the test does. */
async function startWorld(): Promise<World> {
  const sites = await startSites()
  const refusing = await holdRefusingPort()
  const doors = await Promise.all(doorRows.map(async (row) => ({ row, server: await startRawServer(row.accept) })))
  const servers = [sites, refusing, ...doors.map(({ server }) => server)]
  const close = async () => void (await Promise.all(servers.splice(0).map((server) => server.close())))
  onTestFinished(close)
  /** A trial of well-formed or odd answers of the one server, by URL. */
  const answering = (
    name: string,
    answers: () => readonly (readonly [string, Reply | ((socket: Socket) => void)])[],
    expected: RudeExpectation,
  ): Trial => ({
    name,
    open: (domain) => {
      for (const [url, answer] of answers()) sites.answer(movedTo(domain, url), moved(domain, answer))
      return { url: sites.withPort(movedTo(domain, askedPage)), expected }
    },
    close: (domain) => {
      for (const [url] of answers()) sites.answer(movedTo(domain, url))
    },
  })
  const elsewhere = (name: string, url: string, expected: RudeExpectation): Trial => ({
    name,
    open: (domain) => ({ url: movedTo(domain, url), expected }),
    close: () => undefined,
  })
  const robots = 'http://a.test:PORT/robots.txt'
  const trials = [
    ...replyRows.map(({ name, answers, expected }) => answering(name, () => Object.entries(answers), expected)),
    ...rudeRows.map(({ name, behave, expected, lastsUntilDeadline }) => ({
      ...answering(name, () => [[robots, behave]], expected),
      lastsUntilDeadline,
    })),
    ...bodyRows.map(({ name, contentEncoding, body, expected }) => {
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

function unreachable(reason: string): RudeExpectation {
  return { allowed: false, because: 'unreachable', outcome: 'unreachable', reason, status: undefined }
}

function domainOf(origin: number): string {
  return `o${origin}.site${origin % REGISTRABLE_DOMAINS}.test`
}

/** The text with every host `x.test` as `x.<domain>`. */
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

/** Runs `work` for 0 to `count` - 1, so many at once. */
async function inParallel(atOnce: number, count: number, work: (n: number) => Promise<void>): Promise<void> {
  let next = 0
  const worker = async () => {
    while (next < count) await work(next++)
  }
  await Promise.all(Array.from({ length: atOnce }, worker))
}

/** What is not as its row says, to be shown all at once. Errors that nobody caught are among it. */
function wrongWords(): string[] {
  const wrong: string[] = []
  const note = (error: unknown) => wrong.push(`nobody caught ${String(error)}`)
  process.on('unhandledRejection', note).on('uncaughtException', note)
  onTestFinished(() => void process.off('unhandledRejection', note).off('uncaughtException', note))
  return wrong
}

function compare(wrong: string[], { name }: Trial, verdict: ClientVerdict, expected: RudeExpectation): void {
  const words = ({ allowed, because, outcome, reason, status }: Meaning & { readonly status: unknown }) =>
    [allowed, because, outcome, reason, status].join(' ')
  const access = 'access' in verdict ? verdict.access : { outcome: 'none', reason: 'none', status: undefined }
  const { allowed, because } = verdict
  const said = words({ ...access, allowed, because })
  if (said !== words(expected)) wrong.push(`${name}: ${said}, not ${words(expected)}`)
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

/** What keeps this process alive, by kind: sockets, servers, timers, requests. */
function resources(): Record<string, number> {
  const counts: Record<string, number> = {}
  for (const kind of process.getActiveResourcesInfo()) counts[kind] = (counts[kind] ?? 0) + 1
  return counts
}

/** The resources that were not there before the first test. */
function newResources(): string[] {
  return Object.entries(resources()).flatMap(([kind, count]) =>
    count > (BEFORE[kind] ?? 0) ? [`${count} of ${kind}, not ${BEFORE[kind] ?? 0}`] : [],
  )
}

/** Waits until no more is held than at the start. Sockets and timers end a few turns after what they were for. */
async function quiet(): Promise<void> {
  for (let turn = 0; turn < 10_000 && newResources().length > 0; turn++) await nextTurn()
  expect(newResources()).toEqual([])
}

interface Memory {
  /** Heap, and what it holds outside of it. Bytes. */
  readonly live: number
  readonly rss: number
}

function memory(when: 'collected' | 'now'): Memory {
  if (when === 'collected') collectGarbage()
  const { heapUsed, external, rss } = process.memoryUsage()
  return { live: heapUsed + external, rss }
}

setFlagsFromString('--expose-gc')
const collectGarbage: () => void = runInNewContext('gc')

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
