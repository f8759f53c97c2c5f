// Resolves host names without letting one site's name server block all others.
//
// `dns.lookup` runs getaddrinfo on a thread of libuv's pool, which has four threads by default. A
// silent name server blocks a thread for ten seconds or more, and no API can cancel that. So
// lookups of one site run one at a time, and at most two of one platform, since a tenant may have
// its own name servers. The next lookup starts when the previous lookup has really ended, even if
// its request was aborted earlier.
import type { LookupAddress, LookupOptions } from 'node:dns'
import type { Resolver } from 'node:dns/promises'
import type { LookupFunction } from 'node:net'
import { OptionError } from '@politely/core'
import { onAbort } from '../base/abort-listeners.ts'
import { DomainTurns } from '../base/domain-turns.ts'
import { assertOptions, integer } from '../base/option-checks.ts'
import { isPublicName, siteOf } from './host-name.ts'

/** Half of the threads of libuv's pool. */
const MAX_PER_PLATFORM = 2
/** Lookups of one site that wait for its running lookup. More fail at once with `EAI_AGAIN`. */
const MAX_WAITING_PER_SITE = 256

/** The options of a lookup for a client or a gate. Its `close` aborts the signal. */
interface ClosableOptions extends LookupOptions {
  readonly signal?: AbortSignal
}

/** The first lookup loads node:dns, which takes a millisecond. */
const systemLookup: LookupFunction = (host, options, callback) =>
  void import('node:dns').then(({ lookup }) => lookup(host, options, callback))

const bounded = new WeakMap<LookupFunction, LookupFunction>()

/**
 * Returns a lookup function that runs one lookup at a time for each site. All callers that pass the
 * same function share the limit, since they share its threads.
 * @param lookup Default: `dns.lookup`.
 * @param closing After its abort, no lookup is started, also none that waits, and `dnsLookup`
 * cancels its queries.
 */
export function boundedLookup(lookup: LookupFunction = systemLookup, closing?: AbortSignal): LookupFunction {
  let found = bounded.get(lookup)
  if (found === undefined) {
    found = createBoundedLookup(lookup)
    bounded.set(lookup, found)
  }
  if (closing === undefined) return found
  const shared = found
  return (host, options, callback) => {
    const closable: ClosableOptions = { ...options, signal: closing }
    shared(host, closable, callback)
  }
}

function createBoundedLookup(lookup: LookupFunction): LookupFunction {
  const turns = new DomainTurns<() => void>(Number.POSITIVE_INFINITY, 1, MAX_PER_PLATFORM)
  const startNext = () => {
    for (let start = turns.next(); start !== undefined; start = turns.next()) start()
  }
  return (host: string, options: ClosableOptions, callback: Callback) => {
    const site = siteOf(`http://${host.includes(':') ? `[${host}]` : host}`)
    if (turns.waiting(site) >= MAX_WAITING_PER_SITE) {
      process.nextTick(callback, unavailable(host, `${MAX_WAITING_PER_SITE} lookups of ${site.name} are waiting`), [])
      return
    }
    turns.add(site, () => {
      turns.start(site)
      let isOver = false
      const finish: Callback = (...result) => {
        if (isOver) return
        isOver = true
        turns.end(site)
        process.nextTick(startNext) // avoids recursion if lookups call back synchronously
        callback(...checkedResult(host, result))
      }
      if (options.signal?.aborted) return finish(unavailable(host, 'the client is closed'), [])
      try {
        lookup(host, options, finish)
      } catch (error) {
        finish(error as NodeJS.ErrnoException, [])
      }
    })
    startNext()
  }
}

type Callback = Parameters<LookupFunction>[2]

/**
 * Returns a copy of a lookup's result, or an error if Node would throw for the result, outside of
 * any request.
 */
function checkedResult(host: string, [error, found, family]: Parameters<Callback>): Parameters<Callback> {
  if (error) return [error, []]
  if (typeof found === 'string') return [null, found, family]
  const list: readonly unknown[] = Array.isArray(found) ? found : [found]
  // Copied, so that the socket connects to the same addresses that the guard has checked.
  const copies = list.map((one) => ({ ...(one as LookupAddress) }))
  if (copies.every(({ address }) => typeof address === 'string')) return [null, copies]
  const problem = `lookup returned an invalid result for ${host}; expected an address, or a list of { address, family }`
  return [Object.assign(new Error(problem), { code: 'EAI_FAIL' }), []]
}

/** Options of `dnsLookup`. */
export interface DnsLookupOptions {
  /**
   * How long the first try waits for one name server, in milliseconds. Later tries wait longer.
   * Default 2,000.
   */
  readonly timeoutMs?: number | undefined
  /** How often each name server is queried. Default 2. */
  readonly tries?: number | undefined
  /**
   * IP addresses of name servers, each with or without a port. Default: the name servers of the
   * system.
   */
  readonly servers?: readonly string[] | undefined
}

/**
 * Creates a lookup function that queries DNS servers directly (c-ares) instead of calling
 * getaddrinfo. It uses no threads, and every lookup has a timeout, so unresponsive name servers of
 * one site do not delay other sites. It does not read the hosts file or NSS for public names.
 * Private names, such as `localhost`, still go to `dns.lookup`. Pass the function as the option
 * `lookup`.
 *
 * @throws {OptionError} for an invalid option.
 */
export function dnsLookup(options: DnsLookupOptions = {}): LookupFunction {
  assertOptions(options, '{ timeoutMs: 2000 }', { timeoutMs: true, tries: true, servers: true })
  const { timeoutMs = 2_000, tries = 2, servers } = options
  const { Resolver } = process.getBuiltinModule('node:dns/promises')
  const resolver = new Resolver({
    timeout: integer('timeoutMs', timeoutMs, { min: 1, max: 60_000 }),
    tries: integer('tries', tries, { min: 1, max: 10 }),
  })
  if (servers !== undefined) setServers(resolver, servers)

  /**
   * How many lookups run whose client is open. At 0, the queries of the other lookups are
   * cancelled, since they would keep the process alive.
   */
  let wanted = 0
  const unwant = () => {
    wanted--
    if (wanted === 0) resolver.cancel()
  }
  return (host, options: ClosableOptions, callback) => {
    if (!isPublicName(host)) return systemLookup(host, options, callback)
    const { family, all, signal } = options
    const queries = [
      ...(family === 6 || family === 'IPv6' ? [] : [addresses(resolver.resolve4(host), 4)]),
      ...(family === 4 || family === 'IPv4' ? [] : [addresses(resolver.resolve6(host), 6)]),
    ]
    wanted++
    const removeListener = signal && onAbort(signal, unwant)
    Promise.allSettled(queries).then((results) => {
      removeListener?.()
      if (!signal?.aborted) unwant()
      const found = results.flatMap((result) => (result.status === 'fulfilled' ? result.value : []))
      const [first] = found
      if (first === undefined) callback(failureOf(host, results), [])
      else if (all) callback(null, found)
      else callback(null, first.address, first.family)
    })
  }
}

function setServers(resolver: Resolver, servers: readonly string[]): void {
  try {
    resolver.setServers(servers)
  } catch (error) {
    const example = 'write IP addresses such as ["192.0.2.53", "[2001:db8::53]:5353"]'
    throw new OptionError('servers', `${(error as Error).message}; ${example}`)
  }
}

async function addresses(query: Promise<string[]>, family: 4 | 6) {
  return (await query).map((address) => ({ address, family }))
}

/**
 * Returns `ENOTFOUND` if every query reports that the name has no address; otherwise `EAI_AGAIN`,
 * since a later lookup may succeed.
 */
function failureOf(host: string, results: readonly PromiseSettledResult<unknown>[]): NodeJS.ErrnoException {
  const errors = results.flatMap((result) =>
    result.status === 'rejected' ? [result.reason as NodeJS.ErrnoException] : [],
  )
  const temporary = errors.find(({ code }) => code !== 'ENOTFOUND' && code !== 'ENODATA')
  if (temporary !== undefined) return unavailable(host, temporary.message)
  return Object.assign(new Error(`${host} has no address`), { code: 'ENOTFOUND', hostname: host })
}

function unavailable(host: string, why: string): NodeJS.ErrnoException {
  return Object.assign(new Error(`cannot look up ${host} now: ${why}`), { code: 'EAI_AGAIN', hostname: host })
}
