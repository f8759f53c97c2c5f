// Decides which addresses a request may connect to. A site controls its DNS and its redirects, so
// we trust neither: they could send the crawler to its own machine, its network, or a cloud's
// metadata service.
import { isIP, type LookupFunction, type Socket } from 'node:net'
import type { buildConnector } from 'undici'
import { BlockedAddressError } from '../base/errors.ts'
import { assertOptions, callable, oneOf } from '../base/option-checks.ts'
import { isPublicName } from './host-name.ts'
import { boundedLookup } from './lookup.ts'
import { type AddressBlock, addressBlocksOf, isPublicAddress } from './public-address.ts'
import { loadUndici, warnOfUrlGuard } from './undici.ts'

/**
 * `guarded` (the default): a public host must lead to a public address, and so must every redirect
 * from a public host. The guard checks the address at the moment of the connection. Public hosts
 * are public addresses and all names except private ones: `localhost`, single labels such as
 * `printer`, and names under a suffix that is never delegated, such as `.internal` or `.test`. The
 * caller itself may request a private address or name. `public-only`: public addresses only, also
 * for the caller's requests. `any`: no guard.
 * @inline
 */
export type NetworkPolicy = 'guarded' | 'public-only' | 'any'

/**
 * Which addresses one request may connect to: only public ones, or any.
 * @inline
 */
export type Reach = 'public' | 'any'

/** Options of a `NetworkGuard`. */
export interface NetworkGuardOptions {
  /** Which addresses requests may connect to. Default `guarded`. */
  readonly network?: NetworkPolicy | undefined
  /**
   * Private addresses and blocks, such as `10.0.0.0/8`, that the guard treats as public. Default
   * none.
   */
  readonly allowAddresses?: readonly string[] | undefined
  /** The caller's resolver, with the signature of `dns.lookup`. Default: the system's resolver. */
  readonly lookup?: LookupFunction | undefined
  /** @internal After its abort, the guard starts no lookup, and `dnsLookup` cancels its queries. */
  readonly closing?: AbortSignal | undefined
}

/**
 * Options of undici's `connect`, and which addresses the connector may connect to. Without `reach`,
 * each host's own name decides.
 * @inline
 */
export interface GuardedConnectorOptions extends Omit<buildConnector.BuildOptions, 'lookup'> {
  readonly reach?: Reach | undefined
}

/**
 * Decides which addresses a request may connect to. A site controls its DNS and its redirects, so
 * either could lead a crawler into a private network. `connector` returns a connector for undici
 * that checks the address of each connection before it sends data. The methods `refusalBeforehand`
 * and `refusalOfRedirect` check a URL whose connection another program makes.
 */
export class NetworkGuard {
  readonly #network: NetworkPolicy
  readonly #allowed: readonly AddressBlock[]
  readonly #lookup: LookupFunction
  readonly #hasOwnLookup: boolean

  /** @throws {OptionError} for an invalid or unknown option. */
  constructor(options: NetworkGuardOptions = {}) {
    assertOptions(options, "{ network: 'public-only' }", {
      network: true,
      allowAddresses: true,
      lookup: true,
      closing: true,
    })
    const { network = 'guarded', allowAddresses = [], lookup, closing } = options
    this.#network = oneOf('network', network, ['guarded', 'public-only', 'any'])
    if (network === 'public-only' && lookup === undefined) warnOfUrlGuard()
    this.#allowed = addressBlocksOf('allowAddresses', allowAddresses)
    this.#lookup = boundedLookup(callable('lookup', lookup, 'a function like dns.lookup'), closing)
    this.#hasOwnLookup = lookup !== undefined
  }

  /**
   * Returns which addresses a request may connect to. `chain` holds the URLs of the redirects that
   * led to it, and its own URL last.
   */
  reachOf(chain: readonly string[]): 'public' | 'any' {
    return this.#reachOfHosts(chain.map(hostOf))
  }

  /**
   * Creates a connector for an undici Agent or Client: `new Agent({ connect: guard.connector() })`.
   * The first connection loads undici, and gets undici's errors about its options.
   * @throws {OptionError} for an invalid `reach`.
   */
  connector({ reach, ...options }: GuardedConnectorOptions = {}): buildConnector.connector {
    if (reach !== undefined) oneOf('reach', reach, ['public', 'any'])
    let connectors: Promise<GuardedConnectors> | undefined
    return (target, callback) => {
      // undici's `dns` interceptor replaces the host by an address. The host is then in
      // `servername`.
      const hosts = [target.hostname, target.servername || target.hostname].map(withoutBrackets)
      const needed = reach ?? this.#reachOfHosts(hosts)
      connectors ??= loadUndici().then(({ buildConnector }) => connectorsOf(this, buildConnector, options))
      connectors.then(
        (loaded) => loaded[needed](target, callback),
        (error: Error) => callback(error, null),
      )
    }
  }

  /** Returns the resolver of connections with this reach. */
  lookupFor(reach: Reach): LookupFunction {
    return reach === 'public' ? this.#publicLookup : this.#lookup
  }

  /**
   * Returns the refusal of a literal address that is not public. To be called before a connection
   * is made.
   */
  refusalOfHost(host: string): BlockedAddressError | undefined {
    return isIP(host) === 0 || isPublicAddress(host, this.#allowed) ? undefined : new BlockedAddressError(host, [host])
  }

  /**
   * Returns the refusal of a connected socket. To be called before a byte is sent. The result of a
   * DNS lookup does not decide: a later lookup may give another address.
   */
  refusalOfSocket(host: string, { remoteAddress }: Socket): BlockedAddressError | undefined {
    if (remoteAddress !== undefined && isPublicAddress(remoteAddress, this.#allowed)) return undefined
    return new BlockedAddressError(host, remoteAddress === undefined ? [] : [remoteAddress])
  }

  /**
   * Returns the refusal of a URL that a dispatcher or fetch is about to connect to, whose
   * connections the guard does not see: a private literal address or a private name. If names are
   * looked up, each address must be public, since the connection may go to any of them.
   * @param lookUp Whether names are looked up `always`, or only if the caller gave a `lookup`.
   * @throws {Error} the error of `lookup` if it does not find the name.
   */
  async refusalBeforehand(
    url: string,
    lookUp: 'if-lookup-given' | 'always' = 'if-lookup-given',
  ): Promise<BlockedAddressError | undefined> {
    const host = hostOf(url)
    if (isIP(host) !== 0) return this.refusalOfHost(host)
    if (this.#hasOwnLookup || lookUp === 'always') return this.#refusalOfName(host)
    return isPublicName(host) ? undefined : new BlockedAddressError(host, [])
  }

  /**
   * Returns the refusal of a URL that a site gave, before a request to it: of the target of a
   * redirect, or of a link. Does not refuse public names, since the guard checks their connections.
   * @param chain The URLs that led to the target, in order.
   * @throws {Error} the error of `lookup` if it does not find the name.
   */
  async refusalOfRedirect(chain: readonly string[], target: string): Promise<BlockedAddressError | undefined> {
    if (!this.mayRefuseRedirect(chain, target)) return undefined
    const host = hostOf(target)
    return isIP(host) === 0 ? this.#refusalOfName(host) : this.refusalOfHost(host)
  }

  /**
   * Returns whether `refusalOfRedirect` may refuse a target. Most targets have public names, which
   * need neither a lookup nor a promise.
   */
  mayRefuseRedirect(chain: readonly string[], target: string): boolean {
    return !this.#isPublicHost(hostOf(target)) && this.reachOf([...chain, target]) === 'public'
  }

  async #refusalOfName(host: string): Promise<BlockedAddressError | undefined> {
    const found = await new Promise<readonly string[]>((resolve, reject) => {
      this.#lookup(host, { all: true }, (error, result, family) => {
        if (error) reject(error)
        else resolve(listOf(result, family).map(({ address }) => address))
      })
    })
    const isPublic = found.length > 0 && found.every((address) => isPublicAddress(address, this.#allowed))
    return isPublic ? undefined : new BlockedAddressError(host, found)
  }

  #reachOfHosts(hosts: readonly string[]): Reach {
    if (this.#network === 'any') return 'any'
    return this.#network === 'public-only' || hosts.some((host) => this.#isPublicHost(host)) ? 'public' : 'any'
  }

  #isPublicHost(host: string): boolean {
    return isIP(host) === 0 ? isPublicName(host) : isPublicAddress(host, this.#allowed)
  }

  /**
   * Removes private addresses from the result of a lookup. A mere connection to an internal port
   * may already have an effect.
   */
  readonly #publicLookup: LookupFunction = (host, options, callback) => {
    this.#lookup(host, { ...options, all: true }, (error, result, family) => {
      if (error) return callback(error, options.all ? [] : '', 0)
      const found = listOf(result, family)
      const allowed = found.filter(({ address }) => isPublicAddress(address, this.#allowed))
      const [first] = allowed
      if (first === undefined) {
        const addresses = found.map(({ address }) => address)
        callback(new BlockedAddressError(host, addresses), options.all ? [] : '', 0)
      } else if (options.all) callback(null, allowed)
      else callback(null, first.address, first.family)
    })
  }
}

export type GuardedConnectors = Readonly<Record<Reach, buildConnector.connector>>

/** Creates the connectors of a guard with undici's function `build`. */
export function connectorsOf(
  guard: NetworkGuard,
  build: typeof buildConnector,
  options: buildConnector.BuildOptions,
): GuardedConnectors {
  const connect = reportingErrors(build({ ...options, lookup: guard.lookupFor('public') }))
  return {
    any: reportingErrors(build({ ...options, lookup: guard.lookupFor('any') })),
    public: (target, callback) => {
      const host = withoutBrackets(target.hostname)
      const literal = guard.refusalOfHost(host) // undici does not call `lookup` for literal addresses
      if (literal !== undefined) return callback(literal, null)
      // Connects without TLS first. The port must be given, since the default for `http:` would
      // be 80.
      const port = target.port || (target.protocol === 'https:' ? '443' : '80')
      return connect({ ...target, protocol: 'http:', port }, (error, socket) => {
        if (error !== null) return callback(error, null)
        const refusal = guard.refusalOfSocket(host, socket)
        if (refusal !== undefined) {
          socket.destroy()
          return callback(refusal, null)
        }
        if (target.protocol === 'https:') connect({ ...target, httpSocket: socket }, callback)
        else callback(null, socket)
      })
    },
  }
}

/**
 * Wraps a connector so that it passes an error that it throws to its callback, such as Node's error
 * about a TLS option. undici catches such an error only if it is thrown before the connector
 * returns.
 */
function reportingErrors(connect: buildConnector.connector): buildConnector.connector {
  return (target, callback) => {
    try {
      return connect(target, callback)
    } catch (error) {
      target.httpSocket?.destroy()
      callback(error as Error, null)
    }
  }
}

type AddressList = readonly { readonly address: string; readonly family: number }[]

/**
 * Returns the result of a lookup as a list. A resolver may return a single address although it was
 * called with `all: true`.
 */
function listOf(result: string | AddressList, family: number | undefined): AddressList {
  return typeof result === 'string' ? [{ address: result, family: family ?? isIP(result) }] : result
}

function hostOf(url: string): string {
  return withoutBrackets(new URL(url).hostname)
}

/** Returns a URL's host; an IPv6 address without its brackets. */
export function withoutBrackets(hostname: string): string {
  return hostname.startsWith('[') ? hostname.slice(1, -1) : hostname
}
