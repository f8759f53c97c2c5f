// Keys: their forms, their thumbprints, and the algorithms of RFC 9421 §3.3.
import { createHash, createPrivateKey, createPublicKey, type KeyObject, sign } from 'node:crypto'
import { OptionError } from '@politely/core'
import { describeValue } from '@politely/core/engine'

/** A JSON Web Key (RFC 7517), as far as this package reads it. */
export interface Jwk {
  readonly kty?: string | undefined
  readonly crv?: string | undefined
  readonly x?: string | undefined
  readonly y?: string | undefined
  readonly n?: string | undefined
  readonly e?: string | undefined
  /** The private part. Never publish it. */
  readonly d?: string | undefined
  readonly [name: string]: unknown
}

/** TypeScript 5.4 does not know `Uint8Array<ArrayBuffer>`. */
type Bytes = ReturnType<InstanceType<typeof TextEncoder>['encode']>

/** An algorithm whose signatures can be verified. */
export interface Algorithm {
  /** Its name in the parameter `alg`. */
  readonly name: string
  readonly imported: Readonly<Record<string, unknown>>
  readonly used: Readonly<Record<string, unknown>>
  /** The members of its keys that the thumbprint is made of, in their order (RFC 7638 §3.2). */
  readonly members: readonly string[]
}

/** By `kty` and `crv`. No HMAC: a key that verifiers share could sign too. */
const ALGORITHMS: Readonly<Record<string, Algorithm>> = {
  'OKP Ed25519': {
    name: 'ed25519',
    imported: { name: 'Ed25519' },
    used: { name: 'Ed25519' },
    members: ['crv', 'kty', 'x'],
  },
  'EC P-256': {
    name: 'ecdsa-p256-sha256',
    imported: { name: 'ECDSA', namedCurve: 'P-256' },
    used: { name: 'ECDSA', hash: 'SHA-256' },
    members: ['crv', 'kty', 'x', 'y'],
  },
  RSA: {
    name: 'rsa-pss-sha512',
    imported: { name: 'RSA-PSS', hash: 'SHA-512' },
    used: { name: 'RSA-PSS', saltLength: 64 },
    members: ['e', 'kty', 'n'],
  },
}

/**
 * Returns the algorithm of a key; undefined for an unsupported key. A stranger's key may have
 * members of any type.
 */
export function algorithmOf({ kty, crv }: Jwk): Algorithm | undefined {
  if (typeof kty !== 'string' || (crv !== undefined && typeof crv !== 'string')) return undefined
  const name = crv === undefined ? kty : `${kty} ${crv}`
  return Object.hasOwn(ALGORITHMS, name) ? ALGORITHMS[name] : undefined
}

/**
 * Returns the thumbprint of a key, which is the `keyid` of its signatures: SHA-256 in base64url
 * (RFC 7638). Private members do not change it. Experimental.
 * @throws {OptionError} for a key that is neither Ed25519, P-256 nor RSA.
 */
export async function jwkThumbprint(key: Jwk): Promise<string> {
  return thumbprintOf(key)
}

/** Like `jwkThumbprint`, and returns no promise. */
export function thumbprintOf(key: Jwk): string {
  const algorithm = algorithmOf(Object(key))
  const missing = algorithm?.members.find((name) => typeof key[name] !== 'string')
  if (algorithm === undefined || missing !== undefined)
    throw new OptionError('key', `${describeValue(key)} is not a key with a thumbprint; expected ${EXAMPLE}`)
  const members = algorithm.members.map((name) => `${JSON.stringify(name)}:${JSON.stringify(key[name])}`)
  return createHash('sha256')
    .update(`{${members.join(',')}}`)
    .digest('base64url')
}

const EXAMPLE = '{ kty: "OKP", crv: "Ed25519", x: "…" }'

/** Returns the public part of a key, without any other member. */
export function publicPart(key: Jwk): Jwk {
  return Object.fromEntries((algorithmOf(key)?.members ?? []).map((name) => [name, key[name]]))
}

/** The types of Node and of browsers declare `CryptoKey` in different places. */
type CryptoKey = Awaited<ReturnType<typeof crypto.subtle.importKey>>

/** Imports a public key. @throws {DOMException} for an invalid one. */
export async function importPublic(key: Jwk, algorithm: Algorithm): Promise<CryptoKey> {
  return crypto.subtle.importKey('jwk', publicPart(key) as never, algorithm.imported as never, true, ['verify'])
}

/** A public key of a key set. */
export interface PublicKey {
  readonly algorithm: Algorithm
  readonly key: CryptoKey
  /**
   * The thumbprint. Base64url may end in bits that count for nothing, so one key has several
   * spellings; this is the thumbprint of the usual spelling, whatever the key set has.
   */
  readonly kid: string
}

/**
 * Imports a key of a stranger's key set. Returns undefined for a key that is invalid or not
 * supported.
 */
export async function readPublicKey(key: Jwk): Promise<PublicKey | undefined> {
  const algorithm = algorithmOf(key)
  if (algorithm === undefined) return undefined
  try {
    const imported = await importPublic(key, algorithm)
    const kid = thumbprintOf((await crypto.subtle.exportKey('jwk', imported)) as Jwk)
    return { algorithm, key: imported, kid }
  } catch {
    return undefined // an invalid key verifies nothing
  }
}

/**
 * Returns the time in which a key may be used, in milliseconds since 1970.
 * @returns undefined if `nbf` or `exp` has another type than a number.
 */
export function validityOf({ nbf, exp }: Jwk): { readonly from: number; readonly until: number } | undefined {
  const [from, until] = [nbf ?? -Infinity, exp ?? Infinity]
  const isTime = [nbf, exp].every((time) => time === undefined || (typeof time === 'number' && !Number.isNaN(time)))
  return isTime ? { from: Number(from) * 1000, until: Number(until) * 1000 } : undefined
}

/**
 * Returns whether a key is meant for signatures (RFC 7517 §4.2, §4.3). The public part of an
 * exported private key keeps its `key_ops`, which are `sign`.
 */
export function isForSignatures({ use, key_ops: ops }: Jwk): boolean {
  const isMeant = Array.isArray(ops) ? ops.includes('verify') || ops.includes('sign') : ops === undefined
  return isMeant && (use === undefined || use === 'sig')
}

/** Verifies a signature of these bytes. */
export async function verifies(key: CryptoKey, algorithm: Algorithm, signature: Bytes, text: string): Promise<boolean> {
  return crypto.subtle.verify(algorithm.used as never, key, signature, encode(text))
}

export function encode(text: string): Bytes {
  return new TextEncoder().encode(text)
}

/** A private key: what signs, and the public part. */
export interface PrivateKey {
  /**
   * Returns the signature of a text, in base64. It is a promise only if the caller's function signs.
   */
  readonly sign: (text: string) => string | Promise<string>
  readonly publicKey: Jwk
}

const HOW = 'write a JWK of an Ed25519 key with `d`, its PEM ("-----BEGIN PRIVATE KEY-----"), or a function that signs'
/** What comes before the 32 bytes of an Ed25519 key in PKCS #8 (RFC 8410 §7). */
const PKCS8_PREFIX = Buffer.from('302e020100300506032b657004220420', 'hex')

/**
 * Reads a JWK or a PEM.
 * @throws {OptionError} for a key that is not a private Ed25519 key, and for the test key of RFC
 * 9421.
 */
export function privateKeyOf(option: string, key: unknown): PrivateKey {
  const read = readPrivateKey(option, key)
  assertOwnKey(option, read.publicKey.x)
  return read
}

function assertOwnKey(option: string, x: unknown): void {
  if (x === TEST_X)
    throw new OptionError(
      option,
      'is a test key of RFC 9421, which anyone can sign with; create one: politely keys new FILE',
    )
}

/** Like `privateKeyOf`, and takes the test key too. */
export function readPrivateKey(option: string, key: unknown): PrivateKey {
  if (typeof key === 'string') {
    const [, text] = /^\s*-----BEGIN PRIVATE KEY-----([A-Za-z0-9+/=\s]+)-----END PRIVATE KEY-----\s*$/.exec(key) ?? []
    const read = fromPkcs8(Buffer.from(text ?? '', 'base64'))
    if (read === undefined) throw new OptionError(option, textProblem(key))
    return read
  }
  const { kty, crv, x, d } = Object(key) as Jwk
  const isKey = kty === 'OKP' && crv === 'Ed25519' && is32Bytes(x)
  if (!isKey || !is32Bytes(d)) {
    const what = isKey ? 'a public key cannot sign' : `${describeValue(key)} is not a private Ed25519 key`
    throw new OptionError(option, `${what}; ${HOW}`)
  }
  const read = fromPkcs8(Buffer.concat([PKCS8_PREFIX, Buffer.from(d, 'base64url')]))
  const derived = read?.publicKey.x
  if (read === undefined || x !== derived)
    throw new OptionError(option, `\`x\` belongs to another key than \`d\`; write the public key of \`d\`: ${derived}`)
  return read
}

/** Says what a text is that is not a PEM, and what to write. It may be a secret, so the message does not repeat it. */
function textProblem(text: string): string {
  if (/^\s*\{/.test(text))
    return 'the text is JSON, such as of a key file; write JSON.parse(text) or await readKeyFile(path)'
  if (/^[^\n]{1,255}\.(?:jwk|json|pem|key)$/.test(text))
    return 'the text is the name of a file; write await readKeyFile(path) of @politely/web-bot-auth/operator'
  return `the text is not the PEM of a private Ed25519 key in PKCS #8; ${HOW}`
}

/**
 * Returns undefined for a key that is not Ed25519. WebCrypto signs in another thread, which takes
 * longer and twice the CPU.
 */
function fromPkcs8(der: Buffer): PrivateKey | undefined {
  let key: KeyObject
  try {
    key = createPrivateKey({ key: der, format: 'der', type: 'pkcs8' })
  } catch {
    return undefined
  }
  if (key.asymmetricKeyType !== 'ed25519') return undefined
  const { x } = createPublicKey(key).export({ format: 'jwk' })
  const publicKey = { crv: 'Ed25519', kty: 'OKP', x }
  return { sign: (text) => sign(null, Buffer.from(text), key).toString('base64'), publicKey }
}

/**
 * @throws {OptionError} for a key that is not a public Ed25519 key, and for the test key of RFC
 * 9421.
 */
export function assertPublicKey(option: string, key: unknown): asserts key is Jwk {
  const { kty, crv, x } = Object(key) as Jwk
  if (kty !== 'OKP' || crv !== 'Ed25519' || !is32Bytes(x))
    throw new OptionError(option, `${describeValue(key)} is not the JWK of a public Ed25519 key; expected ${EXAMPLE}`)
  assertOwnKey(option, x)
}

function is32Bytes(text: unknown): text is string {
  // Another spelling of the same bytes would give the key another thumbprint.
  return typeof text === 'string' && text.length === 43 && Buffer.from(text, 'base64url').toString('base64url') === text
}

/** The public part of test-key-ed25519. */
const TEST_X = 'JrQLj5P_89iXES9-vFgrIy29clF9CC_oPPsw3c5D0bs'

/**
 * Keys whose private part RFC 9421 appendix B.1 publishes. Anyone can sign with them.
 */
export const TEST_KEYS: ReadonlySet<string> = new Set([
  'poqkLGiymh_W0uP6PZFw-dvez3QJT5SolqXBCW38r0U', // test-key-ed25519
  'oD0HwocPBSfpNy5W3bpJeyFGY_IQ_YpqxSjQ3Yd-CLA', // test-key-rsa-pss
  'BHj8s0GPnMEQtkaULIM-PLgEhLBbuGUQ1vMxmBWZzEo', // test-key-rsa
  'ydQXMtvbsOsZyFir-Y7A8t7fKEM1gbKPvyFkdpu4fvI', // test-key-ecc-p256
])
