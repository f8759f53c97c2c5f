// A proxy in front of a Politely server. It records every call, compares it with /openapi.json, and
// brings clients into the situations that rarely occur by themselves:
//
//   /late      the permit arrives too late
//   /restart   the server starts again with another key while the URL waits
//   /full      another program holds the only permit of the tenant
//   /odd       the URL has to wait for a reason that no client knows, and gets no ticket
//   /gone      the first two deliveries of its report fail: with a 503, and with a broken connection
import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { RobotsClient } from '@politely/fetcher'
import { LocalPacer, PoliteGate } from '@politely/gate'
import { newToken, PolitelyServer } from '@politely/server'
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js'
import { default as addFormats } from 'ajv-formats'
import { USER_AGENT } from './site.ts'

/** How late the permit of /late arrives: more than each client's `start_within_ms`. */
const LATE_MS = 1_100
/** How long another program holds the only permit. */
const HELD_LEASE_MS = 2_000

/** A body that the document describes. */
// biome-ignore lint/suspicious/noExplicitAny: ajv compares it with the schema
type Body = any

export interface Call {
  readonly path: string
  readonly request: Body
  readonly answer: Body
}

export class Recorder implements AsyncDisposable {
  readonly calls: Call[] = []
  /** What differs from the document. */
  readonly faults: string[] = []
  readonly token: string
  readonly #tokens: string
  readonly #otherUrl: string
  readonly #validators = new Map<string, ValidateFunction>()
  readonly #done = new Set<string>()
  /** The permits whose report is lost, and how often it was lost. */
  readonly #losing = new Map<string, number>()
  readonly #server = createServer((request, response) => {
    this.#handle(request, response).catch((error: Error) => {
      this.faults.push(`${error.stack}`)
      response.writeHead(500).end()
    })
  })
  #politely: Politely | undefined
  #underWay = 0
  #restarting: Promise<void> | undefined

  /** @param otherUrl A URL of another site. */
  constructor(otherUrl: string) {
    this.#otherUrl = otherUrl
    const { token, line } = newToken('client')
    this.token = token
    this.#tokens = `${line} permits=1`
  }

  /** Returns the address for the client. */
  async start(): Promise<string> {
    this.#politely = await startPolitely(this.#tokens)
    const headers = { authorization: `Bearer ${this.token}` }
    const { paths } = (await (await fetch(`${this.#politely.address}/openapi.json`, { headers })).json()) as Body
    const ajv = new Ajv2020({ strict: false })
    addFormats.default(ajv)
    for (const path of ['/v1/permits', '/v1/reports', '/v1/renewals']) {
      const { requestBody, responses } = paths[path].post
      this.#validators.set(path, ajv.compile(requestBody.content['application/json'].schema))
      this.#validators.set(`200 ${path}`, ajv.compile(responses[200].content['application/json'].schema))
    }
    this.#server.listen(0, '127.0.0.1')
    await once(this.#server, 'listening')
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.close()
    this.#server.closeAllConnections()
    await this.#politely?.[Symbol.asyncDispose]()
  }

  async #handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const path = request.url ?? ''
    const body = JSON.parse(await text(request))
    if (path === '/v1/reports' && this.#loses(body.reports[0], response)) return
    await this.#restarting
    this.#underWay++
    let answer: Body
    try {
      if (request.headers.authorization !== `Bearer ${this.token}`) this.faults.push(`${path} has no token`)
      answer = await this.#answer(path, body)
    } finally {
      this.#underWay--
    }
    this.#check(path, body)
    this.#check(`200 ${path}`, answer)
    this.calls.push({ path, request: body, answer })
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(answer))
  }

  async #answer(path: string, body: Body): Promise<Body> {
    const url = path === '/v1/permits' ? new URL(body.requests[0].url) : undefined
    const name = url?.pathname ?? ''
    if (url === undefined || this.#done.has(name)) return this.#call(path, body)
    if (name === '/restart') {
      this.#done.add(name)
      for (;;) {
        const permit = await this.#take(`${url.origin}/news/1`, 60_000) // so that the URL has to wait
        await this.#call('/v1/reports', { reports: [{ permit }] })
        const answer = await this.#call(path, { ...body, hold_ms: 0 })
        const [{ state, permit: early }] = answer.results
        if (state !== 'go') {
          await this.#restart()
          return answer
        }
        await this.#call('/v1/reports', { reports: [{ permit: early, outcome: 'not-sent' }] }) // the machine is busy
      }
    }
    if (name === '/odd') {
      this.#done.add(name)
      const result = { state: 'wait', wait_ms: 30, because: 'another-reason', message: 'waits for another reason' }
      return { held_ms: 0, results: [result] }
    }
    if (name === '/full') {
      this.#done.add(name)
      await this.#take(this.#otherUrl, HELD_LEASE_MS)
    }
    const answer = await this.#call(path, body)
    const [{ state, permit }] = answer.results
    if (name === '/gone' && state === 'go') this.#losing.set(permit, 0)
    if (name === '/late' && answer.results[0].state === 'go') {
      this.#done.add(name)
      await new Promise((resolve) => setTimeout(resolve, LATE_MS))
    }
    return answer
  }

  /** How many reports the clients had to send again. */
  get lost(): number {
    return [...this.#losing.values()].reduce((sum, times) => sum + times, 0)
  }

  /** Lets two deliveries of a report fail. */
  #loses({ permit, outcome }: Body, response: ServerResponse): boolean {
    const times = this.#losing.get(permit)
    if (times === undefined || times === 2 || outcome === 'not-sent') return false
    this.#losing.set(permit, times + 1)
    if (times === 0) response.writeHead(503, { 'content-type': 'application/problem+json' }).end('{"status":503}')
    else response.destroy()
    return true
  }

  /** Takes a permit like another program of the tenant. */
  async #take(url: string, lease_ms: number): Promise<string> {
    for (let tries = 0; tries < 100; tries++) {
      const { results } = await this.#call('/v1/permits', { requests: [{ url }], hold_ms: 500, lease_ms })
      if (results[0].state === 'go') return results[0].permit
      if (results[0].state === 'refused') throw new Error(JSON.stringify(results[0]))
      await new Promise((resolve) => setTimeout(resolve, Math.min(results[0].wait_ms, 50)))
    }
    throw new Error(`no permit for ${url}`)
  }

  async #restart(): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>()
    this.#restarting = promise
    while (this.#underWay > 1) await new Promise((wake) => setTimeout(wake, 5))
    await this.#politely?.[Symbol.asyncDispose]()
    this.#politely = await startPolitely(this.#tokens)
    this.#restarting = undefined
    resolve()
  }

  async #call(path: string, body: Body): Promise<Body> {
    const response = await fetch(`${this.#politely?.address}${path}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: `Bearer ${this.token}` },
      body: JSON.stringify(body),
    })
    const answer = await response.json()
    if (response.status !== 200) this.faults.push(`${path}: ${JSON.stringify(body)} got ${JSON.stringify(answer)}`)
    return answer
  }

  #check(what: string, body: Body): void {
    const validate = this.#validators.get(what)
    if (validate?.(body)) return
    this.faults.push(`${what}: ${JSON.stringify(body)} ${JSON.stringify(validate?.errors ?? 'is not described')}`)
  }
}

interface Politely extends AsyncDisposable {
  readonly address: string
}

/** Starts a server that shares no key, no robots.txt and no pace with an earlier server. */
async function startPolitely(tokens: string): Promise<Politely> {
  const robots = new RobotsClient({ userAgent: USER_AGENT })
  const pacer = new LocalPacer(undefined, performance.now())
  const gate = new PoliteGate({ robots, pacer, minDelayMs: 0, rateLimitHeaders: true })
  const server = new PolitelyServer({ gate, tokens, allowPrivate: true })
  const address = await server.listen({ port: 0 })
  return {
    address,
    [Symbol.asyncDispose]: async () => {
      await server.close()
      gate.close()
      await robots.close()
    },
  }
}
