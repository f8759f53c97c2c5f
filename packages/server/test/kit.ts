import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { RobotsClient } from '@politely/fetcher'
import { LocalPacer, PoliteGate, type PoliteGateOptions } from '@politely/gate'
import { onTestFinished, vi } from 'vitest'
import { PolitelyServer, type PolitelyServerOptions } from '../src/index.ts'
import { PermitDesk } from '../src/permits/desk.ts'
import type { PermitResult } from '../src/permits/permit-call.ts'
import { DEFAULT_QUOTAS, type Quotas, Tenant } from '../src/tenants.ts'

export interface Site {
  readonly origin: string
  /** The paths that were requested, robots.txt included. */
  readonly requests: string[]
}

/** Starts a site with this robots.txt. Its pages say their path. */
export async function startSite(robotsTxt: string, host = '127.0.0.1'): Promise<Site> {
  const requests: string[] = []
  const server: Server = createServer(({ url = '' }, response) => {
    requests.push(url)
    response.end(url === '/robots.txt' ? robotsTxt : `page ${url}`)
  })
  await new Promise<void>((resolve) => server.listen(0, host, resolve))
  onTestFinished(() => {
    server.close()
    server.closeAllConnections()
  })
  return { origin: `http://${host}:${(server.address() as AddressInfo).port}`, requests }
}

/** A new gate, which ends with its test. */
export function gateFor(options: Omit<PoliteGateOptions, 'robots'> = {}): PoliteGate {
  const robots = new RobotsClient({ userAgent: 'ExampleBot/1.0' })
  const gate = new PoliteGate({ robots, ...options })
  onTestFinished(async () => {
    gate.close()
    await robots.close()
  })
  return gate
}

export interface DeskKit {
  readonly desk: PermitDesk
  readonly gate: PoliteGate
  readonly site: Site
  readonly expired: string[]
  readonly tenant: (name: string, quotas?: Partial<Quotas>) => Tenant
  /** Asks for these paths of the site. A ticket follows its path: `/a t.…`. */
  readonly ask: (
    paths: readonly string[],
    more?: Partial<Parameters<PermitDesk['grant']>[0]>,
  ) => Promise<PermitResult[]>
  readonly advance: (ms: number) => Promise<void>
  /** Another server with the same key, by default with another pacer: for the same site and tenants. */
  readonly another: (options?: Omit<PoliteGateOptions, 'robots'>) => Promise<DeskKit>
}

/** A desk with a fake clock. Its gate knows the robots.txt of the site. */
export async function deskKit(robotsTxt: string, options: Omit<PoliteGateOptions, 'robots'> = {}): Promise<DeskKit> {
  const site = await startSite(robotsTxt)
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'setInterval', 'clearInterval', 'Date'] })
  onTestFinished(() => {
    vi.useRealTimers()
  })
  return openDesk(site, options)
}

async function openDesk(site: Site, options: Omit<PoliteGateOptions, 'robots'>): Promise<DeskKit> {
  const now = () => Date.now()
  const gate = gateFor({ now, pacer: new LocalPacer(now), ...options })
  await gate.robots.check(`${site.origin}/`)
  const expired: string[] = []
  const desk = new PermitDesk({
    gate,
    secrets: [Buffer.alloc(32, 1)],
    maxLeaseMs: 600_000,
    onResult: () => undefined,
    onExpire: () => expired.push('expired'),
    onError: (error) => expired.push(String(error)),
    isShared: () => false,
    isBusy: () => false,
  })
  onTestFinished(() => desk.close())
  const tenant = (name: string, quotas: Partial<Quotas> = {}) => new Tenant(name, { ...DEFAULT_QUOTAS, ...quotas }, now)
  const someone = tenant('someone')
  const ask: DeskKit['ask'] = async (paths, more = {}) => {
    const requests = paths.map((text) => {
      const [path, ticket] = text.split(' ')
      return { url: `${site.origin}${path}`, ticket }
    })
    const call = { tenant: someone, mayReachPrivate: true, startWithinMs: 100, holdMs: 0, leaseMs: 60_000 }
    const { results } = await desk.grant({ ...call, signal: new AbortController().signal, requests, ...more })
    return [...results]
  }
  const advance = async (ms: number) => {
    await vi.advanceTimersByTimeAsync(ms)
  }
  const another: DeskKit['another'] = (other = {}) => openDesk(site, { ...options, ...other })
  return { desk, gate, site, expired, tenant, ask, advance, another }
}

/** Returns what a result says, in a few words: `go`, `wait 1000 crawl-delay`, `refused rule`. */
export function shown(result: PermitResult | undefined): string {
  if (result === undefined) return 'nothing'
  const { state } = result
  if (state === 'go') return 'go'
  return 'waitMs' in result ? `${state} ${result.waitMs} ${result.because}` : `${state} ${result.because}`
}

export const ticketOf = (result: PermitResult | undefined): string =>
  result?.state === 'wait' ? (result.ticket ?? 'none') : 'none'
export const permitOf = (result: PermitResult | undefined): string => (result?.state === 'go' ? result.permit : 'none')

/** The body of an answer, as far as the tests look into it. */
// biome-ignore lint/suspicious/noExplicitAny: the tests compare it with what they expect
export type Answer = any

export interface HttpKit {
  readonly origin: string
  readonly server: PolitelyServer
  readonly gate: PoliteGate
  /** Returns the status and the body of a call. */
  readonly call: (
    path: string,
    body?: unknown,
    headers?: Record<string, string>,
  ) => Promise<{ status: number; body: Answer }>
}

/** A server on loopback. */
export async function httpKit(
  options: Omit<PolitelyServerOptions, 'gate'> = {},
  gateOptions: Omit<PoliteGateOptions, 'robots'> = { minDelayMs: 0 },
): Promise<HttpKit> {
  const gate = gateFor(gateOptions)
  const server = new PolitelyServer({ gate, ...options })
  onTestFinished(() => server.close())
  const origin = await server.listen({ port: 0 })
  const call: HttpKit['call'] = async (path, body, headers = {}) => {
    const init =
      body === undefined
        ? { headers }
        : { method: 'POST', body: JSON.stringify(body), headers: { 'content-type': 'application/json', ...headers } }
    const response = await fetch(`${origin}${path}`, init)
    const text = await response.text()
    const isJson = /json/.test(response.headers.get('content-type') ?? '')
    return { status: response.status, body: isJson ? JSON.parse(text) : text }
  }
  return { origin, server, gate, call }
}
