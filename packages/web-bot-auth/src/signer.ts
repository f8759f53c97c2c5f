// signer: makes the headers that sign a request.
import { OptionError } from '@politely/core'
import type { RequestSigner, RequestToSign, SignatureHeaders } from '@politely/fetcher'
import { assertOptions, callable, describeValue, integer, messageOf, oneOf } from '@politely/fetcher/internal'
import { serializeItem } from 'structured-headers'
import { agentValue, checkedAgent, directoryUrlOf } from './agent-url.ts'
import { isFulfilled, type SigningWish, signingWish } from './challenge.ts'
import { DomainMap } from './domain-map.ts'
import { SigningError } from './errors.ts'
import {
  type Algorithm,
  algorithmOf,
  assertPublicKey,
  encode,
  importPublic,
  type Jwk,
  type PrivateKey,
  privateKeyOf,
  publicPart,
  thumbprintOf,
  verifies,
} from './keys.ts'
import { MAX_LIFETIME_S, type Profile, type ProfileName, profiles, TAG } from './profiles.ts'
import { baseLine, derivedValue, PARAMS, sentTarget } from './signature-base.ts'

/**
 * Signs bytes with Ed25519, for example in a key management service. Returns the 64 bytes of the
 * signature.
 */
export type SignBytes = (bytes: Uint8Array) => Uint8Array | ArrayBuffer | PromiseLike<Uint8Array | ArrayBuffer>

/** Options of `signer`. Experimental. */
export interface SignerOptions {
  /**
   * The private Ed25519 key: a JWK with `d`, or a PEM in PKCS #8. Or a function that signs, for a
   * key that does not leave its keeper; it needs `publicKey`.
   */
  readonly key: Jwk | string | SignBytes
  /** The JWK of the public key, if `key` is a function. The first signature is checked with it. */
  readonly publicKey?: Jwk | undefined
  /**
   * Where the public key is: the https: URL of your key set. An origin such as `https://bot.example`
   * stands for its `/.well-known/http-message-signatures-directory`.
   */
  readonly agent: string
  /**
   * Which verifiers understand the signature. It has no default, since no profile suits all
   * verifiers.
   */
  readonly profile: ProfileName
  /**
   * Which requests are signed. `always` (the default): each of them. `challenged`: those to an
   * authority that has answered 403 with Accept-Signature; the request with this answer is sent
   * once more if it is a GET or HEAD. 10,000 authorities are remembered. If there are more, the
   * registrable domains with the most lose theirs first.
   */
  readonly when?: 'always' | 'challenged' | undefined
  /**
   * For how long a signature is valid. Milliseconds, rounded up to the next second. Default 60,000;
   * at most 24 hours. If `key` is a function that takes longer, the request is not sent.
   */
  readonly expiresMs?: number | undefined
  /**
   * For how long one signature is used for all requests to an authority. It then covers
   * `@authority` and the agent only, so a thief can use it for every other page of that authority.
   * For the profile `cloudflare` alone. Milliseconds; default 0: each request has its own. At most
   * 30,000.
   */
  readonly reuseMs?: number | undefined
  /**
   * Headers that a site has given its visitor, such as a shop's signature: by the host of the site,
   * with its port unless it is 443. They replace your own signature there, and are sent to exactly
   * this host, over https only. Default none.
   */
  readonly siteHeaders?: Readonly<Record<string, Readonly<Record<string, string>>>> | undefined
  /** The clock: returns milliseconds since 1970. Default `Date.now`. */
  readonly now?: (() => number) | undefined
}

/**
 * Signs requests: the option `sign` of `politely`, `politeAgent` and `new RobotsClient`. `signer`
 * creates it. Experimental.
 */
export interface Signer extends RequestSigner {
  readonly profile: ProfileName
  /** The URL of the key set. */
  readonly agent: string
  /** Resolves with the public key. */
  publicKey(): Promise<Jwk>
  /** Resolves with the thumbprint of the key (RFC 7638). */
  keyid(): Promise<string>
}

const KNOWN: Readonly<Record<keyof SignerOptions, true>> = {
  key: true,
  publicKey: true,
  agent: true,
  profile: true,
  when: true,
  expiresMs: true,
  reuseMs: true,
  siteHeaders: true,
  now: true,
}
const EXAMPLE = "{ key, agent: 'https://bot.example', profile: 'cloudflare' }"

/** How many authorities with a wish are remembered. Our choice. */
const MAX_AUTHORITIES = 10_000
/** The memory for a wish, and for its components. */
const BYTES_PER_WISH = 800
const COMPONENTS_BYTES = 200
/** How many reusable signatures are kept. Our choice. */
const MAX_REUSED = 1_000
/** The memory for the headers of a signature, and without its label. */
const BYTES_PER_REUSED = 2_400
const HEADERS_BYTES = 1_500
const MAX_REUSE_MS = 30_000
/** The length of a nonce. Bytes (draft-meunier-web-bot-auth-architecture-02). */
const NONCE_BYTES = 64
/** Random bytes are drawn for many nonces at once: each draw costs as much as a third of a signature. */
const DRAWN_BYTES = 64 * NONCE_BYTES
const drawn = Buffer.alloc(DRAWN_BYTES)
let drawnAt = DRAWN_BYTES

function nextNonce(): string {
  if (drawnAt === DRAWN_BYTES) {
    crypto.getRandomValues(drawn)
    drawnAt = 0
  }
  const start = drawnAt
  drawnAt += NONCE_BYTES
  return drawn.toString('base64', start, drawnAt)
}
const LABEL = 'sig1'

/**
 * Returns a signer for requests. Experimental: the profiles follow drafts, and may change in any
 * version.
 * @throws {OptionError} for an invalid or unknown option.
 */
export function signer(options: SignerOptions): Signer {
  assertOptions(options, EXAMPLE, KNOWN)
  return new ProfiledSigner(options)
}

type Signed = SignatureHeaders | Promise<SignatureHeaders>

interface Reusable {
  readonly headers: Signed
  readonly until: number
}

class ProfiledSigner implements Signer {
  readonly profile: ProfileName
  readonly agent: string
  readonly #profile: Profile
  readonly #signsAlways: boolean
  readonly #expiresMs: number
  readonly #reuseMs: number
  readonly #siteHeaders: ReadonlyMap<string, SignatureHeaders>
  readonly #now: () => number
  readonly #key: PrivateKey
  readonly #keyid: string
  /** The parameters that all signatures share. */
  readonly #params: string
  /** The agent as a structured field, without a label. */
  readonly #agentItem: string
  /** By origin. */
  readonly #wishes = new DomainMap<SigningWish>(MAX_AUTHORITIES, BYTES_PER_WISH)
  readonly #reused = new DomainMap<Reusable>(MAX_REUSED, BYTES_PER_REUSED)

  constructor(options: SignerOptions) {
    const { key, publicKey, agent, profile, when = 'always', expiresMs = 60_000, reuseMs = 0 } = options
    if (profile === undefined)
      throw new OptionError('profile', `is missing; expected one of ${Object.keys(profiles).join(', ')}`)
    this.profile = oneOf('profile', profile, Object.keys(profiles) as ProfileName[])
    this.#profile = profiles[profile]
    this.agent = agentFor(this.#profile, agent)
    this.#signsAlways = oneOf('when', when, ['always', 'challenged']) === 'always'
    this.#expiresMs = integer('expiresMs', expiresMs, { min: 1, max: MAX_LIFETIME_S * 1000, example: 60_000 })
    this.#reuseMs = integer('reuseMs', reuseMs, { min: 0, max: MAX_REUSE_MS, example: 10_000 })
    if (reuseMs > 0 && !this.#profile.mayReuse)
      throw new OptionError('reuseMs', `the profile ${profile} needs a signature for each request; leave reuseMs out`)
    if (reuseMs >= expiresMs)
      throw new OptionError('reuseMs', `${reuseMs} is not less than expiresMs, which is ${expiresMs}; write less`)
    this.#siteHeaders = checkedSiteHeaders(options.siteHeaders)
    this.#now = callable('now', options.now, 'a function that returns milliseconds') ?? Date.now
    if (typeof key === 'function') {
      if (publicKey === undefined)
        throw new OptionError('publicKey', 'is missing; write the JWK of the public key, whose key the function has')
      assertPublicKey('publicKey', publicKey)
      this.#key = { sign: checkedSign(key, publicKey), publicKey: publicPart(publicKey) }
    } else {
      if (publicKey !== undefined) throw new OptionError('publicKey', 'follows from `key`; leave it out')
      this.#key = privateKeyOf('key', key)
    }
    this.#keyid = thumbprintOf(this.#key.publicKey)
    this.#params = `;keyid="${this.#keyid}";alg="ed25519";tag="${TAG}"`
    this.#agentItem = serializeItem(agentValue(this.agent, this.#profile))
  }

  async publicKey(): Promise<Jwk> {
    return this.#key.publicKey
  }

  async keyid(): Promise<string> {
    return this.#keyid
  }

  sign({ method, url }: RequestToSign): Signed | undefined {
    const target = URL.parse(url)
    if (target?.protocol !== 'https:') return undefined
    const given = this.#siteHeaders.get(target.host)
    if (given !== undefined) return given
    const wish = this.#wishes.get(target.origin)
    if (wish === undefined && !this.#signsAlways) return undefined
    const isReused = this.#reuseMs > 0 && (wish === undefined || wish.components.every((name) => name === '@authority'))
    return isReused ? this.#reusable(method, target, wish) : this.#headers(method, target, wish, false)
  }

  challenged(url: string, acceptSignature: string, sent: SignatureHeaders | undefined): boolean {
    const target = URL.parse(url)
    if (target?.protocol !== 'https:' || this.#siteHeaders.has(target.host)) return false
    const wish = signingWish(acceptSignature, this.#keyid)
    if (wish === undefined || isFulfilled(wish, sent)) return false
    this.#wishes.set(target.origin, wish, COMPONENTS_BYTES + wish.label.length)
    this.#reused.delete(target.origin)
    return true
  }

  #reusable(method: string, url: URL, wish: SigningWish | undefined): Signed {
    const { origin } = url
    const known = this.#reused.get(origin)
    const now = this.#now()
    // A clock that was set back must not make a signature last longer.
    if (known !== undefined && now < known.until && known.until - now <= this.#reuseMs) return known.headers
    const headers = this.#headers(method, url, wish, true)
    const entry = { headers, until: now + this.#reuseMs }
    this.#reused.set(origin, entry, HEADERS_BYTES + 3 * (wish?.label.length ?? 0))
    if (headers instanceof Promise)
      headers.catch(() => {
        if (this.#reused.get(origin) === entry) this.#reused.delete(origin)
      })
    return headers
  }

  #headers(method: string, url: URL, wish: SigningWish | undefined, isReused: boolean): Signed {
    const { label = LABEL, components: added = [] } = wish ?? {}
    const own = isReused ? ['@authority'] : this.#profile.components
    const names = added.length === 0 ? own : new Set([...own, ...added])
    const isString = this.#profile.agent === 'string'
    const agent = isString ? '"signature-agent"' : `"signature-agent";key="${label}"`
    const target = sentTarget(url)
    let [lines, covered] = ['', '']
    for (const name of names) {
      lines += baseLine(`"${name}"`, derivedValue(name, target, method))
      covered += `"${name}" `
    }
    lines += baseLine(agent, this.#agentItem)
    const now = this.#now()
    const created = Math.floor(now / 1000)
    // Rounded up: a signature must not end before the time for which it may be reused.
    const expires = Math.min(Math.ceil((now + this.#expiresMs) / 1000), created + MAX_LIFETIME_S)
    // A verifier may refuse a nonce that it has seen.
    const nonce = isReused ? '' : `;nonce="${nextNonce()}"`
    const input = `(${covered}${agent});created=${created};expires=${expires}${this.#params}${nonce}`
    const headersWith = (signature: string): SignatureHeaders => ({
      'signature-agent': isString ? this.#agentItem : `${label}=${this.#agentItem}`,
      'signature-input': `${label}=${input}`,
      signature: `${label}=:${signature}:`,
    })
    const signature = this.#key.sign(`${lines}${PARAMS}${input}`)
    if (typeof signature === 'string') return headersWith(signature)
    return signature.then((late) => {
      const tookMs = this.#now() - now
      if (now + tookMs >= expires * 1000)
        throw new SigningError(`\`key\` took ${tookMs} ms, and the signature has expired meanwhile; raise expiresMs`)
      return headersWith(late)
    })
  }
}

/**
 * Returns a function that calls the caller's one, and checks what it returns: each time its length,
 * and the first time also with the public key.
 */
export function checkedSign(signBytes: SignBytes, publicKey: Jwk): PrivateKey['sign'] {
  let isProven = false
  return async (text) => {
    let signature: Uint8Array<ArrayBuffer>
    try {
      const returned: unknown = await signBytes(encode(text))
      if (!(returned instanceof Uint8Array) && !(returned instanceof ArrayBuffer))
        throw new SigningError(`\`key\` returned ${describeValue(returned)}; expected a Uint8Array of 64 bytes`)
      signature = new Uint8Array(returned)
    } catch (error) {
      throw error instanceof SigningError ? error : new SigningError(`\`key\` failed: ${messageOf(error)}`, error)
    }
    if (signature.length !== 64)
      throw new SigningError(`\`key\` returned ${signature.length} bytes; an Ed25519 signature has 64`)
    if (!isProven) {
      const algorithm = algorithmOf(publicKey) as Algorithm
      const key = await importPublic(publicKey, algorithm)
      isProven = await verifies(key, algorithm, signature, text)
      if (!isProven) throw new SigningError('`key` returned a signature that `publicKey` does not verify')
    }
    return Buffer.from(signature).toString('base64')
  }
}

function agentFor(profile: Profile, agent: unknown): string {
  const url = checkedAgent(agent)
  if (profile.agent === 'string' && url !== directoryUrlOf(new URL(url).origin))
    throw new OptionError(
      'agent',
      `${describeValue(agent)} has a path, and the profile cloudflare finds keys in the well-known directory of an origin only; write "${new URL(url).origin}"`,
    )
  return url
}

const HEADER_NAME = /^[a-z0-9!#$%&'*+.^_`|~-]+$/
const HEADER_VALUE = /^[\x21-\x7e](?:[\t\x20-\x7e]*[\x21-\x7e])?$/
/** Headers that say where a request goes or how it is framed. */
const NOT_GIVEN =
  /^(?:host|connection|keep-alive|proxy-.+|content-length|transfer-encoding|user-agent|upgrade|te|trailer|expect)$/

function checkedSiteHeaders(given: SignerOptions['siteHeaders'] = {}): ReadonlyMap<string, SignatureHeaders> {
  const example = '{ "shop.example": { signature: "sig1=:…:", "signature-input": "sig1=…" } }'
  if (typeof given !== 'object' || given === null)
    throw new OptionError('siteHeaders', `${describeValue(given)} is not an object; expected one such as ${example}`)
  const headers = new Map<string, SignatureHeaders>()
  for (const [host, fields] of Object.entries(given)) {
    const option = `siteHeaders[${JSON.stringify(host)}]`
    const url = URL.parse(`https://${host}`)
    if (url === null || /[/?#@\\\s]/.test(host) || url.host === '')
      throw new OptionError(option, 'the name is not a host; write one such as shop.example, or shop.example:8443')
    if (headers.has(url.host))
      throw new OptionError(option, `names ${url.host} a second time; write all its headers once`)
    if (typeof fields !== 'object' || fields === null)
      throw new OptionError(option, `${describeValue(fields)} is not an object of headers; expected ${example}`)
    const checked = Object.entries(fields).map(([name, value]) => {
      const lower = name.toLowerCase()
      if (!HEADER_NAME.test(lower) || NOT_GIVEN.test(lower))
        throw new OptionError(option, `${describeValue(name)} is not a header that a site gives its visitor`)
      if (typeof value !== 'string' || !HEADER_VALUE.test(value))
        throw new OptionError(option, `the value of ${name} is not that of a header; write visible ASCII in one line`)
      return [lower, value] as const
    })
    headers.set(url.host, Object.fromEntries(checked))
  }
  return headers
}
