// A process with several clients of a server: they ask for permits as docs/serve.md says, over the
// proxy, send their requests, and report until the report is delivered.
//
// Arguments: JSON of `ClientSettings`. It sends its parent what it records.
import { Agent, type IncomingMessage, request } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import { clock, type RunEvent } from './events.ts'

export interface ClientSettings {
  readonly name: string
  readonly proxy: string
  readonly origins: readonly string[]
  /** How many clients ask for one URL at a time with `hold_ms`, and how many with tickets. */
  readonly holding: number
  readonly ticketing: number
  readonly leaseMs: number
}

/** One URL that a client wants. */
interface Job {
  origin: string
  ticket: string | undefined
  askAt: number
  /** How often the client has asked for it. */
  asked: number
  isBusy: boolean
}

// biome-ignore lint/suspicious/noExplicitAny: the answers of the server, which the records show as they are
type Answer = any

const settings: ClientSettings = JSON.parse(process.argv[2] ?? '{}')
/** The origins that a client with tickets wants all the time. */
const JOBS = 10
/** After so many waits, a client that holds its calls turns to another origin. */
const MAX_ASKED = 5
const HOLD_MS = 2_000
const MIN_START_WITHIN_MS = 100
const MAX_START_WITHIN_MS = 1_000
/** How long a client repeats a report. */
const GIVE_UP_MS = 60_000

const calls = new Agent({ keepAlive: true })
const visits = new Agent({ keepAlive: true })
const log: RunEvent[] = []
let isOver = false
let visited = 0

/** Posts to a server. Resolves to `undefined` after a fault. */
async function post(path: string, body: object, holdMs = 0): Promise<{ answer: Answer; server: string } | undefined> {
  const calledAt = clock()
  let server = ''
  try {
    const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>()
    const headers = { 'content-type': 'application/json' }
    const call = request(`${settings.proxy}${path}`, { method: 'POST', agent: calls, headers }, resolve)
    call.on('error', reject)
    call.end(JSON.stringify(body))
    const response = await promise
    server = `${response.headers['x-server'] ?? ''}`
    const chunks: Buffer[] = await response.toArray()
    const text = `${Buffer.concat(chunks)}`
    if (response.statusCode !== 200) {
      log.push({ kind: 'fault', path, server, at: clock(), status: response.statusCode ?? 0, detail: text })
      return undefined
    }
    const answer: Answer = JSON.parse(text)
    const { held_ms: heldMs = 0 } = answer
    log.push({ kind: 'call', path, server, calledAt, tookMs: clock() - calledAt, heldMs, holdMs })
    return { answer, server }
  } catch (error) {
    log.push({ kind: 'fault', path, server, at: clock(), status: 0, detail: `${(error as Error).message}` })
    return undefined
  }
}

interface Permit {
  readonly permit: string
  readonly visit: string
  readonly origin: string
  readonly server: string
}

/** Reports until a server has taken the report. */
async function report({ permit, visit, origin, server: granted }: Permit, more: Answer): Promise<void> {
  const firstAt = clock()
  for (let attempts = 1; ; attempts++) {
    const calledAt = clock()
    const called = await post('/v1/reports', { reports: [{ permit, ...more }] })
    const isLost = called === undefined && clock() - firstAt > GIVE_UP_MS
    if (called !== undefined || isLost) {
      const state = called?.answer.results[0].state ?? 'lost'
      const { status, retry_after: retryAfter } = more
      const times = { firstAt, calledAt, answeredAt: clock(), attempts }
      const { server = '' } = called ?? {}
      const seconds = retryAfter === undefined ? undefined : Number(retryAfter)
      log.push({ kind: 'delivery', visit, origin, granted, server, status, retryAfter: seconds, ...times, state })
      return
    }
    await sleep(Math.min(1_000, 50 * 2 ** attempts))
  }
}

/**
 * Requests a page, if it can be sent in time, and reports. Resolves to whether the permit came in
 * time.
 */
async function visitPage(permit: Permit, startWithinMs: number, afterMs: () => number, reportsTwice: boolean) {
  const { visit, origin } = permit
  const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>()
  const page = request(`${origin}/${visit}`, { agent: visits, headers: { 'x-visit': visit } }, resolve)
  page.on('error', reject)
  await new Promise<void>((connected) => {
    page.on('error', () => connected())
    page.on('socket', (socket) => (socket.connecting ? socket.once('connect', connected) : connected()))
  })
  const sentAt = clock()
  const sentAfterMs = Math.ceil(Math.max(0, afterMs()))
  if (sentAfterMs > startWithinMs) {
    promise.catch(() => undefined)
    page.destroy()
    log.push({ kind: 'late', visit, at: sentAt })
    await report(permit, { outcome: 'not-sent' })
    return false
  }
  page.setHeader('x-sent-at', `${sentAt}`)
  page.end()
  const sent = { sent_after_ms: sentAfterMs }
  try {
    const response = await promise
    const { statusCode: status, headers } = response
    const { 'retry-after': retryAfter } = headers
    const result = { status, ...(retryAfter !== undefined && { retry_after: retryAfter }), ...sent }
    const first = reportsTwice ? report(permit, { ...result, end: false }) : undefined
    for await (const _ of response); // the body
    await first
    const end = { took_ms: Math.ceil(clock() - sentAt) }
    await report(permit, reportsTwice ? { ...end, end: true } : { ...result, ...end })
  } catch (error) {
    log.push({ kind: 'fault', path: origin, server: 'site', at: clock(), status: 0, detail: `${error}` })
    await report(permit, { outcome: 'failed', ...sent })
  }
  return true
}

const jobOf = (origin: string): Job => ({ origin, ticket: undefined, askAt: 0, asked: 0, isBusy: false })
const anyOrigin = (): string => settings.origins[Math.floor(Math.random() * settings.origins.length)] ?? ''

/**
 * @param wanted The origins that the client wants all the time. A client without them holds its
 * calls, each for any origin.
 */
async function crawl(client: string, wanted: readonly string[], reportsTwice: boolean): Promise<void> {
  const holdMs = wanted.length === 0 ? HOLD_MS : 0
  const jobs = wanted.length === 0 ? [jobOf(anyOrigin())] : wanted.map(jobOf)
  const renew = (job: Job) => Object.assign(job, jobOf(wanted.length === 0 ? anyOrigin() : job.origin))
  let startWithinMs = MIN_START_WITHIN_MS
  const visiting = new Set<Promise<void>>()
  while (!isOver) {
    const due = jobs.filter(({ askAt, isBusy }) => !isBusy && askAt <= clock())
    if (due.length === 0) {
      await sleep(5)
      continue
    }
    const calledAt = clock()
    const requests = due.map(({ origin, ticket }) => ({ url: `${origin}/page`, ...(ticket && { ticket }) }))
    const { leaseMs } = settings
    const asked = { client, start_within_ms: startWithinMs, hold_ms: holdMs, lease_ms: leaseMs, requests }
    const called = await post('/v1/permits', asked, holdMs)
    const receivedAt = clock()
    if (called === undefined) {
      for (const job of due) job.askAt = clock() + 100
      continue
    }
    const { answer, server } = called
    const { held_ms: heldMs } = answer
    for (const [n, job] of due.entries()) {
      const { state, because, permit, ticket, wait_ms: waitMs = 1_000, start_within_ms: within } = answer.results[n]
      if (state !== 'go') {
        log.push({ kind: 'wait', origin: job.origin, server, at: receivedAt, state, because, waitMs })
        job.ticket = state === 'full' ? (ticket ?? job.ticket) : ticket
        job.askAt = receivedAt + (state === 'unknown' ? 0 : waitMs)
        if (++job.asked === MAX_ASKED && holdMs > 0) renew(job)
        continue
      }
      const visit = `${client}-${++visited}`
      const { origin } = job
      log.push({ kind: 'grant', visit, origin, server, calledAt, heldMs, receivedAt, startWithinMs: within })
      job.isBusy = true
      const afterMs = () => clock() - calledAt - heldMs
      const done = visitPage({ permit, visit, origin, server }, within, afterMs, reportsTwice).then((isInTime) => {
        startWithinMs = isInTime
          ? Math.max(MIN_START_WITHIN_MS, Math.floor(startWithinMs * 0.9))
          : Math.min(MAX_START_WITHIN_MS, startWithinMs * 2)
        renew(job)
        visiting.delete(done)
      })
      visiting.add(done)
    }
  }
  await Promise.all(visiting)
}

const send = (message: object) => void process.send?.(message)
process.on('message', () => {
  isOver = true
})
process.on('disconnect', () => process.exit())
const sending = setInterval(() => send({ events: log.splice(0) }), 250)
const { name, origins, holding, ticketing } = settings
const wantedBy = (client: number) =>
  Array.from({ length: JOBS }, (_, n) => origins[(client * JOBS + n) % origins.length] ?? '')
await Promise.all([
  ...Array.from({ length: holding }, (_, n) => crawl(`${name}-hold-${n}`, [], n % 2 === 1)),
  ...Array.from({ length: ticketing }, (_, n) => crawl(`${name}-ticket-${n}`, wantedBy(n), n % 2 === 1)),
])
clearInterval(sending)
send({ events: log.splice(0) })
send({ isDone: true })
