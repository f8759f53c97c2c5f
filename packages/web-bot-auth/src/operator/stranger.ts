// Looks at an operator's side as a stranger does: over the network, within bounds, without a
// redirect.
import type { LookupFunction } from 'node:net'
import { OptionError } from '@politely/core'
import { headerOf } from '@politely/core/internal'
import { BlockedAddressError, NetworkGuard } from '@politely/fetcher'
import { assertOptions, callable, describeValue, integer } from '@politely/fetcher/internal'
import { boundedGet, type Got } from '../bounded-get.ts'
import { type FileKind, type Finding, finding, requestFinding } from './finding.ts'

/** Options of `checkDirectory` and `checkIdentity`. @inline */
export interface StrangerOptions {
  /** The time limit of one request. Milliseconds. Default 10,000. */
  readonly timeoutMs?: number | undefined
  /** The size limit of one response. Bytes. Default 1,048,576. */
  readonly maxBodyBytes?: number | undefined
  /** Private addresses and blocks, such as `127.0.0.1`, to treat as public. Default none. */
  readonly allowAddresses?: readonly string[] | undefined
  /** A resolver with the signature of `dns.lookup`. Default `dns.lookup`. */
  readonly lookup?: LookupFunction | undefined
  /** The User-Agent of the requests. Default `politely-check/1.0`. */
  readonly userAgent?: string | undefined
  /** The clock: returns milliseconds since 1970. Default `Date.now`. */
  readonly now?: (() => number) | undefined
}

export const STRANGER_OPTIONS: Readonly<Record<keyof StrangerOptions, true>> = {
  timeoutMs: true,
  maxBodyBytes: true,
  allowAddresses: true,
  lookup: true,
  userAgent: true,
  now: true,
}

const REMEDIES: Readonly<Record<string, string>> = {
  ENOTFOUND: 'check the spelling of the host, and its A and AAAA records',
  ECONNREFUSED: 'no server listens there; start it, or open its port',
  ECONNRESET: 'the server or a firewall closed the connection; let strangers in',
  UND_ERR_CONNECT_TIMEOUT: 'a firewall may drop the packets; let strangers in',
  CERT_HAS_EXPIRED: 'renew the certificate',
  DEPTH_ZERO_SELF_SIGNED_CERT: 'use a certificate that strangers trust',
  ERR_TLS_CERT_ALTNAME_INVALID: 'use a certificate for this host',
}

/** A larger difference makes signatures invalid for a strict verifier. */
const CLOCK_WARNING_MS = 5_000
const CLOCK_FAILURE_MS = 60_000

/** Makes the requests of a check, and compares the clocks of the servers. */
export class Stranger {
  readonly userAgent: string
  readonly timeoutMs: number
  readonly now: () => number
  readonly #maxBodyBytes: number
  readonly #guard: NetworkGuard
  /** The largest difference to the clock of a server, by host. Positive: the server is ahead. */
  readonly #clocks = new Map<string, number>()

  /** @throws {OptionError} for a value that is not a list of thumbprints. */
  static assertKids(kids: unknown): void {
    if (!Array.isArray(kids) || !kids.every((kid) => typeof kid === 'string'))
      throw new OptionError('kids', `${describeValue(kids)} is not a list of thumbprints; write [key.kid]`)
  }

  /** @throws {OptionError} for an invalid or unknown option. */
  constructor(options: StrangerOptions) {
    assertOptions(options, '{ timeoutMs: 10000 }', STRANGER_OPTIONS)
    const { timeoutMs = 10_000, maxBodyBytes = 1_048_576, allowAddresses, lookup } = options
    this.timeoutMs = integer('timeoutMs', timeoutMs, { min: 1, max: 600_000, example: 10_000 })
    this.#maxBodyBytes = integer('maxBodyBytes', maxBodyBytes, { min: 1, max: 2 ** 28, example: 1_048_576 })
    this.#guard = new NetworkGuard({ network: 'public-only', allowAddresses, lookup })
    this.userAgent = options.userAgent ?? 'politely-check/1.0'
    if (typeof this.userAgent !== 'string' || !/^[\x20-\x7e]+$/.test(this.userAgent))
      throw new OptionError(
        'userAgent',
        `${describeValue(this.userAgent)} cannot be a header; write ASCII, such as "ExampleBot/1.0"`,
      )
    this.now = callable('now', options.now, 'a function that returns milliseconds') ?? Date.now
  }

  /** Requests a URL. Returns what was received with status 200, or else a finding of the request. */
  async get(kind: FileKind, url: string, accept: string): Promise<Got | Finding> {
    const startedAt = this.now()
    let got: Got
    try {
      const limits = { timeoutMs: this.timeoutMs, maxBodyBytes: this.#maxBodyBytes }
      got = await boundedGet(url, { guard: this.#guard, ...limits, accept, userAgent: this.userAgent })
    } catch (error) {
      return unreachable(kind, url, error)
    }
    this.#compareClocks(url, got, startedAt)
    const { status, headers } = got
    if (status === 200) {
      const encoding = headerOf(headers, 'content-encoding')
      return encoding === undefined ? got : requestFinding(kind, 'encoded', { url, encoding })
    }
    const location = headerOf(headers, 'location')
    if (location !== undefined) return requestFinding(kind, 'status/moved', { url, status, location })
    const isClosed = [401, 403, 429, 503].includes(status)
    return requestFinding(kind, isClosed ? 'status/closed' : 'status', { url, status })
  }

  #compareClocks(url: string, { headers }: Got, startedAt: number): void {
    const at = Date.parse(headerOf(headers, 'date') ?? '')
    // A cached response has the Date of the origin.
    if (Number.isNaN(at) || headerOf(headers, 'age') !== undefined) return
    // Date has whole seconds.
    const ahead = at - this.now()
    const behind = startedAt - (at + 1000)
    const off = ahead > 0 ? ahead : behind > 0 ? -behind : 0
    const { host } = new URL(url)
    if (Math.abs(off) >= Math.abs(this.#clocks.get(host) ?? 0)) this.#clocks.set(host, off)
  }

  /** Returns one finding for each server whose clock differs, or one for all. */
  clockFindings(): readonly Finding[] {
    const off = [...this.#clocks].filter(([, ms]) => Math.abs(ms) > CLOCK_WARNING_MS)
    if (this.#clocks.size === 0) return []
    if (off.length === 0) return [finding('clock-ok', {})]
    return off.map(([host, ms]) => {
      const [seconds, where] = [Math.round(Math.abs(ms) / 1000), ms > 0 ? 'ahead of' : 'behind']
      const isSmall = Math.abs(ms) <= CLOCK_FAILURE_MS
      return finding('clock-off', { host, seconds, where }, isSmall ? 'warn' : 'fail')
    })
  }
}

function unreachable(kind: FileKind, url: string, error: unknown): Finding {
  let inner = error instanceof Error ? error : new Error(String(error))
  while (inner.cause instanceof Error) inner = inner.cause
  if (inner instanceof AggregateError && inner.errors[0] instanceof Error) inner = inner.errors[0]
  if (inner instanceof BlockedAddressError)
    return requestFinding(kind, 'unreachable/private', { url, problem: inner.message.split(';', 1)[0] as string })
  const { code = '' } = inner as NodeJS.ErrnoException
  const problem = inner.name === 'TimeoutError' ? 'no complete response arrived in time' : inner.message || inner.name
  const remedy = REMEDIES[code] ?? 'check the server, its certificate and its firewall from another network'
  return requestFinding(kind, 'unreachable', { url, problem, remedy })
}

/** Returns the JSON object that a response has; undefined for anything else. */
export function jsonObject({ body }: Got): Readonly<Record<string, unknown>> | undefined {
  try {
    const value: unknown = JSON.parse(body.toString())
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as never) : undefined
  } catch {
    return undefined
  }
}
