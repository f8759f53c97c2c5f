// checkDirectory: looks at a key directory as a verifier does, and names each fault.
import { createHash } from 'node:crypto'
import { headerOf } from '@politely/core/internal'
import { describeValue } from '@politely/fetcher/internal'
import { checkedAgent } from '../agent-url.ts'
import { ACCEPT_KEYS, type Got, maxAgeOf, pageNote } from '../bounded-get.ts'
import { MAX_BODY_BYTES, MAX_KEYS } from '../key-directories.ts'
import {
  isForSignatures,
  type Jwk,
  jwkThumbprint,
  type PublicKey,
  readPublicKey,
  TEST_KEYS,
  validityOf,
  verifies,
} from '../keys.ts'
import { DIRECTORY_PATH, DIRECTORY_TAG, DIRECTORY_TYPE } from '../profiles.ts'
import { fieldValue } from '../request-headers.ts'
import { ComponentError, responseSignatureBase } from '../signature-base.ts'
import { type InnerList, isInnerList, strictDictionary } from '../structured.ts'
import { MAX_VALID_MS } from './directory.ts'
import { type Finding, finding, findingsOf, timeText } from './finding.ts'
import { jsonObject, Stranger, type StrangerOptions } from './stranger.ts'

const SKEW_MS = 5_000
const DAY_S = 86_400

/**
 * Fetches a key directory as a stranger does, and returns what was found: faults, what works, and
 * the comparison of the clocks. Resolves even if nothing can be reached. Experimental.
 * @param agent As in the option `agent` of `signer`.
 * @param kids The thumbprints of keys that must be in it.
 * @throws {OptionError} for an invalid URL, and for an invalid or unknown option.
 */
export async function checkDirectory(
  agent: string,
  kids: readonly string[] = [],
  options: StrangerOptions = {},
): Promise<readonly Finding[]> {
  Stranger.assertKids(kids)
  const stranger = new Stranger(options)
  return [...(await directoryFindings(agent, kids, stranger)), ...stranger.clockFindings()]
}

export async function directoryFindings(
  agent: string,
  kids: readonly string[],
  stranger: Stranger,
): Promise<readonly Finding[]> {
  const url = checkedAgent(agent)
  const got = await stranger.get('directory', url, ACCEPT_KEYS)
  if ('result' in got) return [got]
  const findings = [...headerFindings(url, got)]
  const keys = jsonObject(got)?.keys
  if (!Array.isArray(keys)) return [...findings, finding('directory-not-json', { url, note: pageNote(got.body) })]
  if (keys.length === 0) return [...findings, finding('directory-empty', { url })]
  const isTooLong = keys.length > MAX_KEYS
  const isReached = !isTooLong && findings.every(({ result }) => result !== 'fail')
  const values = { url, keys: keys.length, max: MAX_KEYS, count: `${keys.length} key${keys.length > 1 ? 's' : ''}` }
  findings.push(...findingsOf(values, { 'directory-too-large/keys': isTooLong, 'directory-ok': isReached }))
  const found = new Set<string>()
  for (const [i, given] of keys.slice(0, MAX_KEYS).entries()) {
    const [name, key] = [`key ${i + 1}`, Object(given) as Jwk]
    const known = await ed25519Key(key)
    const kid = known?.isUsual ? known.kid : undefined
    if (kid !== undefined && found.has(kid)) findings.push(finding('key-duplicate', { name, url, kid }))
    else findings.push(...(await keyFindings(url, name, key, known, got, stranger.now())))
    if (kid !== undefined) found.add(kid)
  }
  const missing = kids.filter((kid) => !found.has(kid))
  return [...findings, ...missing.map((kid) => finding('key-missing', { kid, url }))]
}

function headerFindings(url: string, got: Got): readonly Finding[] {
  const type = (headerOf(got.headers, 'content-type') ?? '').split(';')[0]?.trim().toLowerCase() ?? ''
  const isWellKnown = new URL(url).pathname === DIRECTORY_PATH
  const isPlain = !isWellKnown && /^application\/(?:jwk-set\+)?json$/.test(type)
  const maxAge = maxAgeOf(got)
  const values = {
    url,
    bytes: got.body.length,
    max: MAX_BODY_BYTES,
    type: type === '' ? 'no Content-Type' : `Content-Type: ${type}`,
    wantedType: DIRECTORY_TYPE,
    maxAge: maxAge ?? '',
  }
  return findingsOf(values, {
    'directory-too-large/bytes': got.body.length > MAX_BODY_BYTES,
    'directory-media-type': type !== DIRECTORY_TYPE && !isPlain && (isWellKnown || 'warn'),
    'directory-cache/none': maxAge === undefined,
    'directory-cache/never': maxAge === 0,
    'directory-cache/long': maxAge !== undefined && maxAge > DAY_S,
  })
}

interface KnownKey extends PublicKey {
  /** Whether its `x` has the usual spelling, which its thumbprint is made of. */
  readonly isUsual: boolean
}

async function ed25519Key(key: Jwk): Promise<KnownKey | undefined> {
  const known = await readPublicKey(key)
  if (known?.algorithm.name !== 'ed25519') return undefined
  return { ...known, isUsual: (await jwkThumbprint(key)) === known.kid }
}

async function keyFindings(
  url: string,
  name: string,
  key: Jwk,
  known: KnownKey | undefined,
  got: Got,
  now: number,
): Promise<readonly Finding[]> {
  const kid = known?.kid ?? ''
  const member = (['nbf', 'exp'] as const).find((time) => key[time] !== undefined && !isTime(key[time])) ?? ''
  const values = {
    name,
    url,
    kid,
    kty: describeValue(key.kty),
    crv: describeValue(key.crv),
    ownKid: describeValue(key.kid),
    member,
    time: describeValue(key[member]),
  }
  const findings = findingsOf(values, {
    'directory-private-key': PRIVATE_MEMBERS.some((each) => each in key),
    'key-invalid/kind': known === undefined,
    'key-id': known !== undefined && key.kid !== undefined && key.kid !== kid,
    'key-published-private': TEST_KEYS.has(kid),
    'key-invalid/bits': known?.isUsual === false,
    'key-invalid/time': known?.isUsual === true && member !== '',
  })
  if (known === undefined || findings.some(({ code }) => code === 'key-invalid')) return findings
  return [...findings, useFinding(name, kid, key, now), ...(await signatureFindings(url, known, got, now))]
}

/** Returns whether a key may be used now, as far as its members say. */
function useFinding(name: string, kid: string, key: Jwk, now: number): Finding {
  const { from, until } = validityOf(key) as NonNullable<ReturnType<typeof validityOf>>
  const isForAlgorithm = key.alg === undefined || SIGNING_ALGORITHMS.includes(key.alg)
  const values = {
    name,
    kid,
    usage: isForSignatures(key)
      ? `alg ${describeValue(key.alg)}`
      : `use ${describeValue(key.use)} and key_ops ${describeValue(key.key_ops)}`,
    start: timeText(from),
    end: timeText(until),
    limit: key.exp === undefined ? '' : ` until ${timeText(until)}`,
  }
  if (!isForSignatures(key) || !isForAlgorithm) return finding('key-usage', values)
  if (until <= now) return finding('key-expired', values)
  return finding(from > now + SKEW_MS ? 'key-not-yet-valid' : 'key-ok', values)
}

/** Returns whether a value is a time up to the year 9999. Milliseconds give a later year. */
function isTime(value: unknown): boolean {
  return Number.isFinite(value) && Math.abs(value as number) < 253_402_300_800
}

/** RFC 8037 §3.1, RFC 9864, and the name that RFC 9421 gives it. */
const SIGNING_ALGORITHMS: readonly unknown[] = ['EdDSA', 'Ed25519', 'ed25519']

const PRIVATE_MEMBERS = ['d', 'p', 'q', 'dp', 'dq', 'qi', 'k']

/**
 * Returns whether Content-Digest (RFC 9530) has a digest that is known, and all known ones are of
 * the body.
 */
function isDigestOf(field: string | undefined, body: Buffer): boolean {
  const known = [...(strictDictionary(field ?? '') ?? [])].filter(([name]) => /^sha-(?:256|512)$/.test(name))
  const isRight = ([name, [value]]: (typeof known)[number]) =>
    value instanceof ArrayBuffer && createHash(name.replace('-', '')).update(body).digest().equals(Buffer.from(value))
  return known.length > 0 && known.every(isRight)
}

async function signatureFindings(url: string, key: PublicKey, got: Got, now: number): Promise<readonly Finding[]> {
  const inputText = fieldValue(got.headers, 'signature-input')
  const inputs = strictDictionary(inputText ?? '')
  const signatures = strictDictionary(fieldValue(got.headers, 'signature') ?? '')
  if (inputs === undefined || signatures === undefined) return [finding('signature-malformed/headers', { url })]
  const { kid } = key
  const ofKey = [...inputs].filter(
    (entry): entry is [string, InnerList] => isInnerList(entry[1]) && entry[1][1].get('keyid') === kid,
  )
  const own = ofKey.filter(([, [, params]]) => params.get('tag') === DIRECTORY_TAG)
  if (own.length === 0) {
    const why = ofKey.length > 0 ? `: the signature with this keyid has not the tag ${DIRECTORY_TAG}` : ''
    return [finding('signature-missing', { kid, why })]
  }
  const results: (readonly Finding[])[] = []
  for (const [label, input] of own) {
    const findings = await oneSignature(url, key, input, signatures.get(label)?.[0], got, now)
    if (findings.every(({ result }) => result !== 'fail')) return findings
    results.push(findings)
  }
  return results[0] as readonly Finding[]
}

/** Returns the first fault of a signature, or else all that is less than a fault. */
async function oneSignature(
  url: string,
  { kid, algorithm, key }: PublicKey,
  input: InnerList,
  bytes: unknown,
  got: Got,
  now: number,
): Promise<readonly Finding[]> {
  const [components, params] = input
  const [created, expires, alg] = ['created', 'expires', 'alg'].map((name) => params.get(name))
  const areTimes = [created, expires].every((time) => Number.isInteger(time) && isTime(time))
  const isComplete = bytes instanceof ArrayBuffer && areTimes && Number(created) < Number(expires)
  const coversDigest = components.some(([name]) => name === 'content-digest')
  const base = signedText(url, got, input)
  const isSigned =
    isComplete && typeof base === 'string' && (await verifies(key, algorithm, new Uint8Array(bytes), base))
  const [from, until] = [Number(created) * 1000, Number(expires) * 1000]
  const kept = maxAgeOf(got) ?? DAY_S
  const values = {
    kid,
    url,
    host: new URL(url).host,
    alg: describeValue(alg),
    wantedAlg: algorithm.name,
    problem: base instanceof ComponentError ? base.message : '',
    start: timeText(from),
    end: timeText(until),
    kept,
  }
  const conditions = {
    'signature-malformed/times': !isComplete,
    'signature-not-covered/host': !components.some(([name, its]) => name === '@authority' && its.get('req') === true),
    'signature-wrong/alg': alg !== undefined && alg !== algorithm.name,
    'signature-not-covered/digest': !coversDigest,
    'signature-wrong/digest': coversDigest && !isDigestOf(fieldValue(got.headers, 'content-digest'), got.body),
    'signature-malformed/component': base instanceof ComponentError,
    'signature-wrong/key': !isSigned,
    'signature-expired': until <= now,
    'signature-in-future': from > now + SKEW_MS,
    'signature-lasts-long': until - now > MAX_VALID_MS,
    'signature-expires-soon': until - now < kept * 1000,
  }
  const findings = findingsOf(values, conditions, 'signature-ok')
  const fault = findings.find(({ result }) => result === 'fail')
  return fault === undefined ? findings : [fault]
}

/** Returns what the signature signs, or why that cannot be said. */
function signedText(url: string, { status, headers }: Got, input: InnerList): string | ComponentError {
  try {
    return responseSignatureBase({ method: 'GET', url, headers: {} }, { status, headers }, input)
  } catch (error) {
    if (!(error instanceof ComponentError)) throw error
    return error
  }
}
