// The key directory of an operator: its JWK set, and the headers that prove whose it is.
//
// Each key signs the response (draft-ietf-webbotauth-httpsig-protocol-01, appendix "Possession Proof";
// draft-meunier-http-message-signatures-directory-03): the host, so that no other site serves the
// keys as its own, and the digest of the body. The response is the same for everyone until its
// signatures end, so it can be a static file with headers.

import { createHash } from 'node:crypto'
import { OptionError } from '@politely/core'
import { DAY_MS } from '@politely/core/internal'
import { assertOptions, callable, describeValue, integer } from '@politely/fetcher/internal'
import { checkedAgent } from '../agent-url.ts'
import { assertPublicKey, type Jwk, type PrivateKey, privateKeyOf, publicPart, thumbprintOf } from '../keys.ts'
import { DIRECTORY_TAG, DIRECTORY_TYPE } from '../profiles.ts'
import { responseSignatureBase, signedInput } from '../signature-base.ts'
import { checkedSign, type SignBytes } from '../signer.ts'
import type { InnerList, Item } from '../structured.ts'

/** A key whose private part does not leave its keeper. Experimental. */
export interface KeptKey {
  /** Signs bytes with Ed25519, for example in a key management service. */
  readonly sign: SignBytes
  /** The JWK of the public key. It may have `nbf` and `exp`. */
  readonly publicKey: Jwk
}

/** Options of `signDirectory`. Experimental. */
export interface DirectoryContent {
  /**
   * The keys to publish: private JWKs, as `politely keys new` writes them, or functions that sign.
   * A key whose `exp` has passed is left out.
   */
  readonly keys: readonly (Jwk | KeptKey)[]
  /** Where they are published, as `agent` of `signer`. */
  readonly agent: string
  /**
   * For how long the signatures are valid. Milliseconds. Default 7 days; from 1 minute to 90 days.
   */
  readonly validMs?: number | undefined
  /**
   * For how long others may keep the response (Cache-Control). Seconds. Default 3,600; at most
   * 86,400.
   */
  readonly maxAgeS?: number | undefined
  /** The clock: returns milliseconds since 1970. Default `Date.now`. */
  readonly now?: (() => number) | undefined
}

/** A signed key directory. Experimental. */
export interface SignedDirectory {
  /** Where it belongs. */
  readonly url: string
  /** The headers of the response, with names in lower case. */
  readonly headers: Readonly<Record<string, string>>
  /** JSON. The signatures cover its bytes, so it must be sent as it is. */
  readonly body: string
  /** The thumbprints of its keys. */
  readonly kids: readonly string[]
  /** Until when its signatures are valid. Milliseconds since 1970. */
  readonly validUntil: number
}

const KNOWN: Readonly<Record<keyof DirectoryContent, true>> = {
  keys: true,
  agent: true,
  validMs: true,
  maxAgeS: true,
  now: true,
}
const EXAMPLE = "{ keys: [key], agent: 'https://bot.example' }"
/** How long the signatures of a directory may be valid. */
export const MAX_VALID_MS: number = 90 * DAY_MS
/**
 * Node and undici read 16 KiB of headers. A quarter is left for the server and its proxies. Our
 * choice.
 */
const MAX_HEADER_BYTES = 12_288

/**
 * Returns the directory of some keys, signed by each of them. Experimental.
 * @throws {OptionError} for an invalid or unknown option, and if all keys have expired.
 * @throws {SigningError} for a function that does not sign.
 */
export async function signDirectory(options: DirectoryContent): Promise<SignedDirectory> {
  assertOptions(options, EXAMPLE, KNOWN)
  const { keys, agent, validMs = 7 * DAY_MS, maxAgeS = 3_600 } = options
  const url = checkedAgent(agent)
  integer('validMs', validMs, { min: 60_000, max: MAX_VALID_MS, example: 7 * DAY_MS })
  integer('maxAgeS', maxAgeS, { min: 0, max: 86_400, example: 3_600 })
  if (maxAgeS * 1000 >= validMs)
    throw new OptionError('maxAgeS', `${maxAgeS} s are not shorter than validMs, so caches would keep ended signatures`)
  if (!Array.isArray(keys) || keys.length === 0)
    throw new OptionError('keys', `${describeValue(keys)} is not a list of keys; expected ${EXAMPLE}`)
  const nowMs = (callable('now', options.now, 'a function that returns milliseconds') ?? Date.now)()
  const now = Math.floor(nowMs / 1000)
  const all = keys.map((key, i) => publishedKey(`keys[${i}]`, key))
  const twice = all.findIndex(({ kid }, i) => all.findIndex((other) => other.kid === kid) < i)
  if (twice !== -1)
    throw new OptionError(`keys[${twice}]`, `has the key ${all[twice]?.kid} a second time; write each key once`)
  const current = all.filter(({ jwk }) => jwk.exp === undefined || (jwk.exp as number) > now)
  if (current.length === 0)
    throw new OptionError('keys', 'all of them have expired; create one: politely keys new FILE')
  const body = JSON.stringify({ keys: current.map(({ jwk }) => jwk) })
  const digest = digestOf(body)
  const [expires, request] = [now + Math.floor(validMs / 1000), { method: 'GET', url, headers: {} }]
  const response = { status: 200, headers: { 'content-digest': digest } }
  const signatures = await Promise.all(
    current.map(async ({ kid, sign }, i) => {
      const components: Item[] = [
        ['@authority', new Map([['req', true]])],
        ['content-digest', new Map()],
      ]
      const input: InnerList = [
        components,
        new Map<string, string | number>([
          ['created', now],
          ['expires', expires],
          ['keyid', kid],
          ['alg', 'ed25519'],
          ['tag', DIRECTORY_TAG],
        ]),
      ]
      const base = responseSignatureBase(request, response, input)
      const signature = await sign(base)
      const label = `key${i + 1}`
      return [`${label}=${signedInput(base)}`, `${label}=:${signature}:`] as const
    }),
  )
  const headers = {
    'content-type': DIRECTORY_TYPE,
    // A proxy that compresses the response would change what the digest is of.
    'cache-control': `public, max-age=${maxAgeS}, no-transform`,
    'content-digest': digest,
    'signature-input': signatures.map(([input]) => input).join(', '),
    signature: signatures.map(([, signature]) => signature).join(', '),
  }
  const bytes = Object.entries(headers).flat().join('').length
  if (bytes > MAX_HEADER_BYTES)
    throw new OptionError(
      'keys',
      `${current.length} keys make ${bytes} bytes of headers, and many clients read at most 16,384 with those of the server; leave out keys that no longer sign`,
    )
  return { url, headers, body, kids: current.map(({ kid }) => kid), validUntil: expires * 1000 }
}

/** Returns the value of Content-Digest (RFC 9530). */
export function digestOf(body: string | Uint8Array): string {
  return `sha-256=:${createHash('sha256').update(body).digest('base64')}:`
}

interface PublishedKey {
  readonly jwk: Jwk
  readonly kid: string
  readonly sign: PrivateKey['sign']
}

function publishedKey(option: string, key: unknown): PublishedKey {
  const { sign, publicKey } = Object(key) as Partial<KeptKey>
  if (typeof sign === 'function') {
    assertPublicKey(`${option}.publicKey`, publicKey)
    const known = publicKey
    return described(option, known, publicPart(known), checkedSign(sign, known))
  }
  const own = privateKeyOf(option, key)
  return described(option, Object(key), own.publicKey, own.sign)
}

function described(option: string, { nbf, exp }: Jwk, publicKey: Jwk, sign: PrivateKey['sign']): PublishedKey {
  for (const [name, time] of Object.entries({ nbf, exp }))
    if (time !== undefined && !Number.isSafeInteger(time))
      throw new OptionError(`${option}.${name}`, `${describeValue(time)} is not a time in seconds since 1970`)
  const kid = thumbprintOf(publicKey)
  const times = { ...(nbf !== undefined && { nbf }), ...(exp !== undefined && { exp }) }
  return { jwk: { ...publicKey, kid, use: 'sig', ...times }, kid, sign }
}
