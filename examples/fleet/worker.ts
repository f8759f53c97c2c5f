// One worker of the fleet, in a process of its own: node worker.ts OPTIONS
//
// It takes BullMQ jobs. A job stands for an origin that has URLs to crawl. Each run of a job crawls
// one URL and then delays the job until the next slot of its origin, so that the worker is free for
// other origins meanwhile.
import { subscribe } from 'node:diagnostics_channel'
import { setTimeout } from 'node:timers/promises'
import { RobotsClient } from '@politely/fetcher'
import { type Permit, PoliteGate, RobotsDisallowedError, type StartMessage } from '@politely/gate'
import { DelayedError, type Job } from 'bullmq'
import { Agent, fetch, type Response } from 'undici'
import { type BackendOptions, connectBackend, isConnectionLost, type Sent } from './backend.ts'
import type { Found, OriginJob } from './frontier.ts'
import { JobQueues } from './job-queues.ts'
import { lookup } from './small-web.ts'

const USER_AGENT = 'PolitelyFleet/0.1'
/** A job that gets no slot within this time goes back to the queue until its slot. */
const MAX_WAIT_MS = 250
/** How many pages a worker requests at the same time. */
const CONCURRENCY = 50
/** A job that failed is tried again after this time, for example if the server was away. */
const RETRY_MS = 1_000
/** How often a page is reported as finished while the server is away. */
const MAX_ATTEMPTS = 20
/** A page is requested so often if it answers with 429 or 5xx, or not at all. */
const MAX_REQUESTS = 3
/** A shared pacer adds a few milliseconds to each delay. A job that came back before would ask it twice. */
const ALLOWANCE_MS = 4
const MAX_RESPONSE_MS = 30_000
const MAX_PAGE_BYTES = 5_000_000

export interface WorkerOptions extends BackendOptions {
  readonly minDelayMs: number
  readonly domainDelayMs: number
  readonly workers: number
  /** The number of this worker. With `partition` it decides which origins the worker crawls. */
  readonly index: number
  /**
   * Whether each origin belongs to one worker, which paces it by itself. Otherwise any worker
   * crawls any origin, and the backend keeps the pace.
   */
  readonly partition: boolean
  /** How long the jobs of a killed worker stay locked. Milliseconds. */
  readonly lockMs: number
}

/** What a worker has counted since its start. */
export interface WorkerCounts {
  /** URLs that answered with anything but 429 or 5xx. */
  readonly pages: number
  /** URLs refused by robots.txt. */
  readonly refused: number
  /** Pages that were given up. */
  readonly failed: number
  /** Runs of a job that only delayed it again. */
  readonly early: number
  /** URLs under way now. */
  readonly underWay: number
  readonly robotsFetches: number
  /** Commands to the backend since the start of the worker. */
  readonly sent: Sent
}

const [argument = ''] = process.argv.slice(2)
const options = JSON.parse(argument) as WorkerOptions
const { minDelayMs, domainDelayMs, partition, index, workers } = options
process.on('disconnect', () => process.exit())

const backend = await connectBackend(options)
const { frontier, store } = backend
const queues = await JobQueues.open(backend, partition ? workers : 1)
const robots = new RobotsClient({ userAgent: USER_AGENT, store, lookup })
const pacer = partition ? undefined : backend.pacer
const gate = new PoliteGate({ robots, minDelayMs, minDelayPerDomainMs: domainDelayMs, pacer })
const agent = new Agent({ connect: { lookup }, keepAliveTimeout: 30_000 })
/**
 * When the request to each URL under way started, by the clock that all processes of the machine
 * share. Milliseconds.
 */
const startTimes = new Map<string, number>()
subscribe('politely:gate:start', (message) => {
  startTimes.set((message as StartMessage).url, Number(process.hrtime.bigint()) / 1e6)
})
const counts = { pages: 0, refused: 0, failed: 0, early: 0, underWay: 0 }

const worker = await backend.worker(JobQueues.nameOf(partition ? index : 0), run, {
  concurrency: CONCURRENCY,
  lockDuration: options.lockMs,
  stalledInterval: options.lockMs,
  // A job stalls when its worker dies. It did nothing wrong, so no number of deaths makes it fail.
  maxStalledCount: 1_000_000_000,
})
worker.on('error', (error: NodeJS.ErrnoException) => {
  // BullMQ connects again by itself.
  if (!isConnectionLost(error)) console.error(`worker ${index}: ${error.message}`)
})

/**
 * Runs a job: crawls one URL, and delays the job until the next slot. The job ends if its origin
 * has no URL left.
 */
async function run(job: Job<OriginJob>, token?: string): Promise<void> {
  counts.underWay++
  try {
    const nextAt = await crawlNext(job).catch((error: unknown) => {
      console.error(`worker ${index}: ${error}`)
      return Date.now() + RETRY_MS
    })
    if (nextAt === undefined) return
    await job.moveToDelayed(Math.ceil(nextAt), token) // Postgres takes whole milliseconds only
  } finally {
    counts.underWay--
  }
  throw new DelayedError()
}

/**
 * Crawls the next URL of an origin. Returns when the job should run again: a time in milliseconds
 * since 1970. Undefined if there is no URL.
 */
async function crawlNext(job: Job<OriginJob>): Promise<number | undefined> {
  const found = await frontier.take(job.data)
  if (found === undefined) return undefined
  let permit: Permit
  try {
    permit = await gate.enter(found.url, { signal: AbortSignal.timeout(MAX_WAIT_MS), ...sourceOf(found) })
  } catch (error) {
    if (error instanceof RobotsDisallowedError) return refused(found, error.retryAt)
    if (!(error instanceof DOMException)) throw error // the signal throws a DOMException
    counts.early++
    return nextSlotOf(found)
  }
  const startedAt = performance.now()
  const links = await fetchLinks(found.url, permit)
  const { failures = 0 } = job.data
  if (links === undefined && failures + 1 < MAX_REQUESTS) {
    await job.updateData({ ...job.data, failures: failures + 1 })
    return nextSlotOf(found)
  }
  counts[links === undefined ? 'failed' : 'pages']++
  await finish(found, links ?? [])
  if (failures > 0) await job.updateData({ ...job.data, failures: 0 })
  const allowanceMs = pacer === undefined ? 0 : ALLOWANCE_MS
  return Date.now() + Math.max(0, startedAt + permit.delay.delayMs + allowanceMs - performance.now())
}

/**
 * Returns when a request could start, in milliseconds since 1970. Finishes the URL if it may never
 * be requested.
 */
async function nextSlotOf(found: Found): Promise<number> {
  const forecast = await gate.when(found.url, sourceOf(found))
  return forecast.allowed ? Date.now() + forecast.waitMs : refused(found, forecast.retryAt)
}

/** Says which page a URL comes from, so that a public page cannot lead the fleet to a private host. */
function sourceOf({ page }: Found): { readonly redirectedFrom?: readonly string[] } {
  return page === undefined ? {} : { redirectedFrom: [page] }
}

async function refused(found: Found, retryAt: number | undefined): Promise<number> {
  if (retryAt !== undefined) return retryAt // robots.txt could not be fetched
  counts.refused++
  await finish(found, [])
  return Date.now()
}

/** Waits if the server is away for a moment: without this, the page would be requested again. */
async function finish(found: Found, links: readonly string[]): Promise<void> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await frontier.finish(found, links, (jobs) => queues.add(jobs))
    } catch (error) {
      if (attempt === MAX_ATTEMPTS || !isConnectionLost(error as Error)) throw error
      await setTimeout(RETRY_MS)
    }
  }
}

/**
 * Fetches a page. Returns its links, or the target of its redirect. Undefined if the page should be
 * requested again.
 */
async function fetchLinks(url: string, permit: Permit): Promise<string[] | undefined> {
  try {
    const headers = {
      'user-agent': USER_AGENT,
      // For the report of the small web.
      'x-permit-ms': `${startTimes.get(url)}`,
      'x-pid': `${process.pid}`,
    }
    const signal = AbortSignal.timeout(MAX_RESPONSE_MS)
    const response = await permit.run(() => fetch(url, { headers, signal, redirect: 'manual', dispatcher: agent }))
    permit.release(response)
    const { status } = response
    const location = response.headers.get('location')
    const isPage = status === 200
    const html = isPage ? await textOf(response) : ''
    if (!isPage) await response.body?.cancel()
    if (status === 429 || status >= 500) return undefined
    const hrefs = Array.from(html.matchAll(/<a\s[^>]*?href="([^"]+)"/gi), ([, href = '']) => href)
    if (location !== null) hrefs.push(location)
    return hrefs.flatMap((href) => URL.parse(href, url)?.href ?? [])
  } catch (error) {
    // `fetch` throws a TypeError for network errors, and a DOMException after the time limit.
    if (!(error instanceof TypeError || error instanceof DOMException)) throw error
    return undefined
  } finally {
    permit.release()
    startTimes.delete(url)
  }
}

/** Reads a page up to the limit. */
async function textOf(response: Response): Promise<string> {
  let text = ''
  const decoder = new TextDecoder()
  for await (const chunk of response.body ?? []) {
    text += decoder.decode(chunk, { stream: true })
    if (text.length > MAX_PAGE_BYTES) break
  }
  return text
}

function countsNow(): WorkerCounts {
  return {
    ...counts,
    robotsFetches: robots.counters.fetches,
    sent: backend.sent(),
  }
}

setInterval(() => process.send?.(countsNow()), 250)
process.on('message', async () => {
  await worker.close()
  gate.close()
  backend.pacer.close()
  await robots.close()
  process.send?.(countsNow(), () => process.exit())
})
