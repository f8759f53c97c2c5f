// Decides which addresses a request may connect to. A site controls its DNS and its redirects, so neither is trusted: they could send the
// crawler to its own machine, its network, or a cloud's metadata service.
import { isIP, type LookupFunction, type Socket } from 'node:net'
import { buildConnector } from 'undici'
import { isPublicName } from './host-name.ts'
import { boundedLookup } from './lookup.ts'
import { assertKnown, assertOptions, callable, oneOf } from './option-checks.ts'
import { type AddressBlock, addressBlocksOf, isPublicAddress } from './public-address.ts'

/**
 * `guarded` (the default): public hosts lead to public addresses only, whatever DNS says at that moment, and so does every redirect from a
 * public host. Public hosts are public addresses and all names except private ones: `localhost`, single labels such as `printer`, and names
 * under a suffix that is never delegated, such as `.internal` or `.test`. A private address or name that the caller asks for directly is
 * allowed. `public-only`: public addresses only, also for direct requests. `any`: no guard.
 */
export type NetworkPolicy = 'guarded' | 'public-only' | 'any'

/** The addresses that one request may connect to. */
export type Reach = 'public' | 'any'

export interface NetworkGuardOptions {
  /** Default `guarded`. */
  readonly network?: NetworkPolicy
  /** Addresses and blocks, such as `10.0.0.0/8`, that count as public although they are not. Default none. */
  readonly allowAddresses?: readonly string[]
  /** Your own resolver, in the form of `dns.lookup`. Default the system's. */
  readonly lookup?: LookupFunction
}

/** For undici's `connect`, and how far the connector may reach; without `reach` each host's own name says it. */
export interface GuardedConnectorOptions extends Omit<buildConnector.BuildOptions, 'lookup'> {
  readonly reach?: Reach
}

/** A connection that the guard refuses. */
export class BlockedAddressError extends Error {
  override readonly name = 'BlockedAddressError'
  /** Stable; messages may change. */
  readonly code = 'ERR_POLITELY_BLOCKED_ADDRESS'
  /** The name or address that was asked for. */
  readonly host: string

  constructor(host: string, addresses: readonly string[]) {
    super(`${host} is at ${addresses.join(', ') || 'an unknown address'}, which is not a public address`)
    this.host = host
  }
}

export class NetworkGuard {
  readonly #network: NetworkPolicy
  readonly #allowed: readonly AddressBlock[]
  readonly #lookup: LookupFunction
  readonly #hasOwnLookup: boolean

  /** @throws {OptionError} for an invalid or unknown option. */
  constructor(options: NetworkGuardOptions = {}) {
    assertOptions(options, "{ network: 'public-only' }")
    assertKnown(options, { network: true, allowAddresses: true, lookup: true })
    const { network = 'guarded', allowAddresses = [], lookup } = options
    this.#network = oneOf('network', network, ['guarded', 'public-only', 'any'])
    this.#allowed = addressBlocksOf('allowAddresses', allowAddresses)
    this.#lookup = boundedLookup(callable('lookup', lookup, 'a function like dns.lookup'))
    this.#hasOwnLookup = lookup !== undefined
  }

  /** How far a request may reach. `chain` holds the URLs that led to it, its own one last. */
  reachOf(chain: readonly string[]): Reach {
    return this.#reachOfHosts(chain.map(hostOf))
  }

  /** A connector for an undici Agent or Client: `new Agent({ connect: guard.connector() })`. */
  connector({ reach, ...options }: GuardedConnectorOptions = {}): buildConnector.connector {
    if (reach !== undefined) oneOf('reach', reach, ['public', 'any'])
    const any = buildConnector({ ...options, lookup: this.#lookup })
    const onlyPublic = this.#publicConnector(options)
    if (reach !== undefined) return reach === 'public' ? onlyPublic : any
    return (target, callback) => {
      const connect = this.#reachOfHosts([bareHost(target.hostname)]) === 'public' ? onlyPublic : any
      connect(target, callback)
    }
  }

  /** Returns the resolver of connections with this reach. */
  lookupFor(reach: Reach): LookupFunction {
    return reach === 'public' ? this.#publicLookup : this.#lookup
  }

  /** The refusal of a literal address that is not public, before anything is connected. */
  refusalOfHost(host: string): BlockedAddressError | undefined {
    return isIP(host) === 0 || isPublicAddress(host, this.#allowed) ? undefined : new BlockedAddressError(host, [host])
  }

  /**
   * The refusal of a connected socket, to be asked for before a byte is sent. What DNS said is not enough: only the address of
   * the socket is the truth.
   */
  refusalOfSocket(host: string, { remoteAddress }: Socket): BlockedAddressError | undefined {
    if (remoteAddress !== undefined && isPublicAddress(remoteAddress, this.#allowed)) return undefined
    return new BlockedAddressError(host, remoteAddress === undefined ? [] : [remoteAddress])
  }

  /**
   * Returns the refusal of a URL that the caller's own dispatcher or fetch is about to connect to: of a private literal address and of a
   * private name. Where the caller gave a `lookup`, that decides about names: each address must be public, since the dispatcher may connect to
   * any of them.
   * @throws {Error} what `lookup` reports of a name that it does not find.
   */
  async refusalBeforehand(url: string): Promise<BlockedAddressError | undefined> {
    const host = hostOf(url)
    if (isIP(host) !== 0) return this.refusalOfHost(host)
    if (this.#hasOwnLookup) return this.#refusalOfName(host)
    return isPublicName(host) ? undefined : new BlockedAddressError(host, [])
  }

  /**
   * Returns the refusal of a redirect's target, before anything is asked of it. A public name needs none: connections to it are guarded.
   * @param chain The URLs that led to the target, in their order.
   * @throws {Error} what `lookup` reports of a name that it does not find.
   */
  async refusalOfRedirect(chain: readonly string[], target: string): Promise<BlockedAddressError | undefined> {
    if (this.reachOf([...chain, target]) === 'any') return undefined
    const host = hostOf(target)
    if (isIP(host) !== 0) return this.refusalOfHost(host)
    return isPublicName(host) ? undefined : this.#refusalOfName(host)
  }

  async #refusalOfName(host: string): Promise<BlockedAddressError | undefined> {
    const found = await new Promise<readonly string[]>((resolve, reject) => {
      this.#lookup(host, { all: true }, (error, answer, family) => {
        if (error) reject(error)
        else resolve(listOf(answer, family).map(({ address }) => address))
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

  #publicConnector(options: buildConnector.BuildOptions): buildConnector.connector {
    const connect = buildConnector({ ...options, lookup: this.#publicLookup })
    return (target, callback) => {
      const host = bareHost(target.hostname)
      const literal = this.refusalOfHost(host) // undici looks up no literal address
      if (literal !== undefined) return callback(literal, null)
      // Without TLS for now; so the default port has to be named, or it would be that of http.
      const port = target.port || (target.protocol === 'https:' ? '443' : '80')
      return connect({ ...target, protocol: 'http:', port }, (error, socket) => {
        if (error !== null) return callback(error, null)
        const refusal = this.refusalOfSocket(host, socket)
        if (refusal !== undefined) {
          socket.destroy()
          return callback(refusal, null)
        }
        if (target.protocol === 'https:') connect({ ...target, httpSocket: socket }, callback)
        else callback(null, socket)
      })
    }
  }

  /** Private addresses are taken out of the answer: to connect to an internal port is a signal in itself. */
  readonly #publicLookup: LookupFunction = (host, options, callback) => {
    this.#lookup(host, { ...options, all: true }, (error, answer, family) => {
      if (error) return callback(error, options.all ? [] : '', 0)
      const found = listOf(answer, family)
      const fit = found.filter(({ address }) => isPublicAddress(address, this.#allowed))
      const [first] = fit
      if (first === undefined) {
        const addresses = found.map(({ address }) => address)
        callback(new BlockedAddressError(host, addresses), options.all ? [] : '', 0)
      } else if (options.all) callback(null, fit)
      else callback(null, first.address, first.family)
    })
  }
}

type Found = readonly { readonly address: string; readonly family: number }[]

/** What a resolver answered; one that knows of one address only may do as if it had not been asked for all. */
function listOf(answer: string | Found, family: number | undefined): Found {
  // Copied: what is looked at is what is connected to.
  if (typeof answer !== 'string') return answer.map(({ address, family }) => ({ address, family }))
  return [{ address: answer, family: family ?? isIP(answer) }]
}

function hostOf(url: string): string {
  return bareHost(new URL(url).hostname)
}

/** A URL's host; an IPv6 address without its brackets. */
export function bareHost(hostname: string): string {
  return hostname.startsWith('[') ? hostname.slice(1, -1) : hostname
}
