// The errors of this package, each with a stable `code`.
import { PolitelyError } from '@politely/core/internal'

/**
 * A method of a `RobotsClient` was called after `close`, or `close` was called while the method
 * ran.
 *
 * Remedy: await all calls before `close`, or create a new client.
 */
export class ClientClosedError extends PolitelyError {
  override readonly name = 'ClientClosedError'
  readonly code = 'ERR_POLITELY_CLIENT_CLOSED'
  constructor() {
    super('this RobotsClient is closed; await the calls that still run before close(), or create a new client')
  }
}

/**
 * The `fetch` or `dispatcher` given to a client asked the same client for the robots.txt that it
 * was fetching. It would wait for itself.
 *
 * Remedy: give the client a `fetch` or `dispatcher` without a gate, or none.
 */
export class ReentryError extends PolitelyError {
  override readonly name = 'ReentryError'
  readonly code = 'ERR_POLITELY_REENTRY'

  constructor(robotsUrl: string) {
    super(
      `the fetch or dispatcher given to this RobotsClient asked the same client for ${robotsUrl} while it was fetching that URL; ` +
        'give the client a fetch or dispatcher that does not ask it',
    )
  }
}

/**
 * The network guard refused a connection, since the host does not lead to a public address.
 *
 * Remedy: if the address is meant, add it to `allowAddresses`, or choose another value of
 * `network`.
 */
export class BlockedAddressError extends PolitelyError {
  override readonly name = 'BlockedAddressError'
  readonly code = 'ERR_POLITELY_BLOCKED_ADDRESS'
  /** The host name or address of the request. */
  readonly host: string

  constructor(host: string, addresses: readonly string[]) {
    super(
      addresses.length === 0
        ? `${host} has no known public address; if this host is yours, write network: 'any'`
        : `${host} ${addresses.join() === host ? 'is not' : `is at ${addresses.join(', ')}, which is not`} a public address${remedyFor(addresses)}`,
    )
    this.host = host
  }
}

/**
 * A method of a store was called after `close`. The client continues without the store; its event
 * `store-failed` carries this error.
 *
 * Remedy: close the store after the clients that use it, or create a new store.
 */
export class StoreClosedError extends PolitelyError {
  override readonly name = 'StoreClosedError'
  readonly code = 'ERR_POLITELY_STORE_CLOSED'

  /** @param path The file of the store, if it has one. */
  constructor(path?: string) {
    const subject = path === undefined ? '' : `${path}: `
    super(`${subject}this store is closed; await the calls of its clients before close(), or create a new store`)
  }
}

/**
 * Keyv reported that it could not save an entry. The client continues without the store; its event
 * `store-failed` carries this error.
 *
 * Remedy: listen to the event `error` of the Keyv, the only place where Keyv reports the cause.
 */
export class KeyvSetError extends PolitelyError {
  override readonly name = 'KeyvSetError'
  readonly code = 'ERR_POLITELY_KEYV_SET'
  readonly origin: string
  constructor(origin: string) {
    super(`Keyv did not save the entry of ${origin}; listen to its event "error" for the cause`)
    this.origin = origin
  }
}

/**
 * The store did not respond within two seconds, or ten if it has leases. The client continues
 * without it and does not call it for a while; its event `store-failed` carries this error.
 *
 * Remedy: find what blocks the store, such as a locked database or a slow network.
 */
export class StoreTimeoutError extends PolitelyError {
  override readonly name = 'StoreTimeoutError'
  readonly code = 'ERR_POLITELY_STORE_TIMEOUT'
  /** @param pauseMs How long the store is not called. Milliseconds. */
  constructor(operation: string, timeoutMs: number, pauseMs: number) {
    super(`the store did not answer to ${operation} within ${timeoutMs} ms; it is called again in ${pauseMs} ms`)
  }
}

/**
 * Other clients held the lease of an origin for twice its lifetime, but stored no entry. The client
 * fetches robots.txt without the lease; its event `store-failed` carries this error.
 *
 * Remedy: check that the leases of the store expire, and that the store saves entries.
 */
export class LeaseTimeoutError extends PolitelyError {
  override readonly name = 'LeaseTimeoutError'
  readonly code = 'ERR_POLITELY_LEASE_TIMEOUT'
  constructor(waitMs: number) {
    super(`other clients held the lease for ${waitMs} ms but stored no entry; this client fetches without it`)
  }
}

/**
 * Returns what to write if the addresses are meant. The values are narrow, since a site controls
 * its DNS: an address that is allowed can be reached from every site.
 */
function remedyFor(addresses: readonly string[]): string {
  if (addresses.some((address) => /^(?:169\.254\.|fe[89ab])/i.test(address))) return '' // the metadata services of clouds
  if (addresses.every((address) => /^198\.1[89]\./.test(address))) {
    return `; if a VPN or proxy of this machine gives such addresses to all names, write allowAddresses: ['198.18.0.0/15']`
  }
  const list = addresses.slice(0, MAX_SHOWN_ADDRESSES).map((address) => `'${address}'`)
  return `; if this host is yours, write allowAddresses: [${list.join(', ')}], or network: 'any' if no host may be refused`
}

/** A name may have any number of addresses, and an error message should be short. */
const MAX_SHOWN_ADDRESSES = 4

/**
 * An option or a function needs sockets, DNS lookups or undici, and the program runs where the
 * packages have none of these: in workerd or an edge runtime, or undici in Bun. Thrown when the
 * option is checked or the function is called. docs/runtimes.md lists what runs where.
 *
 * Remedy: leave it out, or run the program on Node.
 */
export class UnsupportedRuntimeError extends PolitelyError {
  override readonly name = 'UnsupportedRuntimeError'
  readonly code = 'ERR_POLITELY_RUNTIME'
  /** The name of the option or function. */
  readonly feature: string

  /** @param remedy What to write instead. */
  constructor(feature: string, remedy: string) {
    super(`${feature} is not supported in this runtime: it needs sockets, DNS lookups or undici; ${remedy}`)
    this.feature = feature
  }
}
