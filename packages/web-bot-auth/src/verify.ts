// verify: says which agent has signed a request.
//
//   format ──> clock ──> covered components ──> key set ──> signature
//
// What costs nothing comes first. Only a request that could be genuine leads to a fetch.
import { OptionError } from '@politely/core'
import { assertOptions, callable, describeValue, integer } from '@politely/fetcher/internal'
import { parseItem } from 'structured-headers'
import { directoryUrlOf } from './agent-url.ts'
import { KeyDirectories } from './key-directories.ts'
import { TEST_KEYS, verifies } from './keys.ts'
import { MAX_LIFETIME_S, type ProfileName, TAG } from './profiles.ts'
import { fieldValue, type SignedRequest } from './request-headers.ts'
import { ComponentError, receivedSignatureBase } from './signature-base.ts'
import { type InnerList, isCanonical, isInnerList, strictDictionary } from './structured.ts'

/** Options of `verify`. Experimental. */
export interface VerifyOptions {
  /** The key sets to search. Default: one object for the process, with the default options. */
  readonly directories?: KeyDirectories | undefined
  /**
   * How far the signer's clock may be off. It may be ahead by so much, and a signature counts so
   * long after its end. Milliseconds. Default 5,000; at most 300,000.
   */
  readonly clockSkewMs?: number | undefined
  /** The clock: returns milliseconds since 1970. Default `Date.now`. */
  readonly now?: (() => number) | undefined
}

/** What `verify` resolves with. Experimental. */
export type Verification =
  | {
      readonly kind: 'verified'
      /** Who has signed: the URL of the key set. */
      readonly agent: string
      /** The thumbprint of the key. */
      readonly keyid: string
      readonly profile: ProfileName
      /** The names of the covered components. All other parts may have been changed. */
      readonly covered: readonly string[]
      /** Milliseconds since 1970. */
      readonly created: number
      /** Milliseconds since 1970. */
      readonly expires: number
      /** The nonce, if there is one. `verify` does not compare nonces of requests. */
      readonly nonce: string | undefined
    }
  | {
      readonly kind: 'invalid'
      /** Why the signature is invalid. */
      readonly reason:
        | 'malformed'
        | 'several-signatures'
        | 'missing-parameter'
        | 'missing-agent'
        | 'bad-agent'
        | 'agent-not-covered'
        | 'target-not-covered'
        | 'unsupported-component'
        | 'lifetime-too-long'
        | 'expired'
        | 'created-in-future'
        | 'test-key'
        | 'wrong-algorithm'
        | 'wrong-signature'
      readonly detail: string
    }
  | {
      readonly kind: 'unverified'
      /** Why nothing is known about the client of the request. */
      readonly reason: 'unsigned' | 'unknown-key' | 'directory-failed'
      readonly detail: string
    }

type ReasonOf<K extends Verification['kind']> = Extract<Verification, { kind: K; reason: string }>['reason']

/** The key sets of calls without the option `directories`. The first such call creates it. */
let shared: KeyDirectories | undefined

function sharedDirectories(): KeyDirectories {
  shared ??= new KeyDirectories()
  return shared
}

const KNOWN: Readonly<Record<keyof VerifyOptions, true>> = { directories: true, clockSkewMs: true, now: true }

/**
 * Verifies the Web Bot Auth signature of a request, in the form of each profile. `verified`: the
 * agent that `agent` names has signed it. `invalid`: it is signed, and the signature must not
 * count. `unverified`: it is unsigned, or the key cannot be found, which says nothing about the
 * client. Resolves whatever the client has sent, and rejects only for wrong arguments. The body is
 * never verified. Experimental.
 * @throws {OptionError} for an invalid or unknown option, or a request without method, absolute URL
 * or headers.
 */
export async function verify(request: SignedRequest, options: VerifyOptions = {}): Promise<Verification> {
  assertOptions(options, '{ directories: new KeyDirectories() }', KNOWN)
  assertRequest(request)
  const { directories = sharedDirectories(), clockSkewMs = 5_000 } = options
  if (!(directories instanceof KeyDirectories))
    throw new OptionError(
      'directories',
      `${describeValue(directories)} is not a KeyDirectories; write new KeyDirectories()`,
    )
  const skewMs = integer('clockSkewMs', clockSkewMs, { min: 0, max: 300_000, example: 5_000 })
  const now = callable('now', options.now, 'a function that returns milliseconds') ?? Date.now
  const read = readSignature(request)
  if ('kind' in read) return read
  const { agent, created, expires, keyid, signature } = read
  if (expires - created > MAX_LIFETIME_S * 1000 || expires <= created)
    return invalid(
      'lifetime-too-long',
      `it is valid for ${(expires - created) / 1000} s; from 1 to ${MAX_LIFETIME_S} are allowed`,
    )
  if (now() > expires + skewMs) return invalid('expired', `it expired at ${new Date(expires).toISOString()}`)
  if (created > now() + skewMs)
    return invalid('created-in-future', `it was created at ${new Date(created).toISOString()}`)
  let base: string
  try {
    base = receivedSignatureBase(request, read.input)
  } catch (error) {
    if (error instanceof ComponentError) return invalid('unsupported-component', error.message)
    throw error
  }
  if (TEST_KEYS.has(keyid)) return invalid('test-key', 'RFC 9421 appendix B.1 has published the private key')
  const found = await directories.find(agent, keyid, skewMs)
  if (found.kind === 'failed') return unverified('directory-failed', found.detail)
  if (found.kind === 'unknown-key') return unverified('unknown-key', found.detail)
  const { algorithm, key } = found.key
  if (read.alg !== undefined && read.alg !== algorithm.name)
    return invalid('wrong-algorithm', `alg is ${describeValue(read.alg)}, and the key is for ${algorithm.name}`)
  if (!(await verifies(key, algorithm, signature, base)))
    return invalid('wrong-signature', wrongSignature(request, read))
  const { profile, covered, nonce } = read
  return { kind: 'verified', agent, keyid, profile, covered, created, expires, nonce }
}

const invalid = (reason: ReasonOf<'invalid'>, detail: string): Verification => ({ kind: 'invalid', reason, detail })
const unverified = (reason: ReasonOf<'unverified'>, detail: string): Verification => ({
  kind: 'unverified',
  reason,
  detail,
})

/** Says what was compared: most often, the URL is another than the client's. */
function wrongSignature({ method, url }: SignedRequest, { keyid, covered }: ReadSignature): string {
  const compared = `compared: ${covered.join(', ')} of ${method} ${describeValue(url)}`
  return `the key ${keyid} has not signed this request; ${compared}; behind a proxy, write the public URL`
}

function assertRequest(request: SignedRequest): void {
  const { method, url, headers } = Object(request) as Partial<SignedRequest>
  if (typeof method !== 'string')
    throw new OptionError('request.method', `${describeValue(method)} is not a method, such as "GET"`)
  // A client chooses the rest of the URL, so it must not make `verify` reject: `OPTIONS *[` is a
  // request.
  if (typeof url !== 'string' || !(/^https?:\/\/./i.test(url) || /^https?:$/.test(URL.parse(url)?.protocol ?? '')))
    throw new OptionError(
      'request.url',
      `${describeValue(url)} is not an absolute URL; write the public one, such as "https://example.com" + request.url`,
    )
  if (typeof headers !== 'object' || headers === null)
    throw new OptionError(
      'request.headers',
      `${describeValue(headers)} is not an object; write the headers of the request`,
    )
}

interface ReadSignature {
  readonly agent: string
  readonly profile: ProfileName
  /** Milliseconds since 1970. */
  readonly created: number
  /** Milliseconds since 1970. */
  readonly expires: number
  readonly keyid: string
  readonly alg: string | undefined
  readonly nonce: string | undefined
  readonly covered: readonly string[]
  readonly input: InnerList
  readonly signature: Uint8Array<ArrayBuffer>
}

/** Reads the signature with our tag, and what it says. */
function readSignature(request: SignedRequest): ReadSignature | Verification {
  const { headers } = request
  const [inputText, signatureText] = [fieldValue(headers, 'signature-input'), fieldValue(headers, 'signature')]
  if (inputText === undefined && signatureText === undefined)
    return unverified('unsigned', 'the request has no signature')
  const inputs = inputText && strictDictionary(inputText)
  const signatures = signatureText && strictDictionary(signatureText)
  const how = 'is not a dictionary with different keys and parameters'
  if (!inputs) return invalid('malformed', `Signature-Input ${how}`)
  if (!signatures) return invalid('malformed', `Signature ${how}`)
  const ours = [...inputs].filter(
    (entry): entry is [string, InnerList] => isInnerList(entry[1]) && entry[1][1].get('tag') === TAG,
  )
  const [first, second] = ours
  if (first === undefined) return unverified('unsigned', `no signature has the tag ${TAG}`)
  if (second !== undefined) return invalid('several-signatures', `${ours.length} signatures have the tag ${TAG}`)
  const [label, input] = first
  const [signature, extra] = signatures.get(label) ?? []
  if (!(signature instanceof ArrayBuffer)) return invalid('malformed', `Signature has no bytes for ${label}`)
  if (extra?.size !== 0) return invalid('malformed', `Signature has parameters for ${label}, which nothing covers`)
  // Each other spelling of a signature would be another request that verifies.
  if (!isCanonical(inputText as string, inputs, label) || !isCanonical(signatureText as string, signatures, label))
    return invalid('malformed', `${label} is not written in the canonical form (RFC 9651 §4.1)`)
  const params = input[1]
  const [created, expires, keyid] = ['created', 'expires', 'keyid'].map((name) => params.get(name))
  if (!Number.isInteger(created) || !Number.isInteger(expires) || typeof keyid !== 'string')
    return invalid('missing-parameter', 'the parameters created, expires (seconds) and keyid are needed')
  if ([created, expires].some((seconds) => Math.abs(seconds as number) > MAX_TIME_S))
    return invalid('malformed', 'created or expires is not a time')
  const [alg, nonce] = [params.get('alg'), params.get('nonce')]
  if ((alg ?? '') !== String(alg ?? '') || (nonce ?? '') !== String(nonce ?? ''))
    return invalid('malformed', 'alg or nonce is not a string')

  const agent = readAgent(fieldValue(headers, 'signature-agent'), input)
  if ('kind' in agent) return agent
  const covered = input[0].map(([name]) => String(name))
  if (!covered.includes('@authority') && !covered.includes('@target-uri'))
    return invalid('target-not-covered', 'neither @authority nor @target-uri is covered, so it fits any site')
  return {
    ...agent,
    created: (created as number) * 1000,
    expires: (expires as number) * 1000,
    keyid,
    alg: alg as string | undefined,
    nonce: nonce as string | undefined,
    covered,
    input,
    signature: new Uint8Array(signature),
  }
}

/** The largest time of a `Date`. */
const MAX_TIME_S = 8.64e12

/** The longest URL of a key set. Our choice. */
const MAX_AGENT_LENGTH = 2_048

/** Reads the agent, which the signature must cover. */
function readAgent(
  field: string | undefined,
  [items]: InnerList,
): Pick<ReadSignature, 'agent' | 'profile'> | Verification {
  if (field === undefined) return invalid('missing-agent', 'the request has no Signature-Agent, so no key can be found')
  const components = items.filter(([name]) => name === 'signature-agent')
  const [component] = components
  if (component === undefined || components.length > 1)
    return invalid('agent-not-covered', 'Signature-Agent is not covered once')
  const key = component[1].get('key')
  let value: unknown
  if (typeof key === 'string') value = strictDictionary(field)?.get(key)?.[0]
  else {
    try {
      value = parseItem(field)[0]
    } catch {}
  }
  const agent = typeof value === 'string' ? directoryUrlOf(value) : undefined
  if (agent === undefined || agent.length > MAX_AGENT_LENGTH)
    return invalid('bad-agent', `Signature-Agent ${describeValue(field)} does not name the https: URL of a key set`)
  return { agent, profile: typeof key === 'string' ? 'ietf-01' : 'cloudflare' }
}
