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
import { type Finding, fail, ok, timeText, warn } from './finding.ts'
import { Stranger, type StrangerOptions } from './stranger.ts'

const CHECK = 'directory'
const SKEW_MS = 5_000
const DAY_S = 86_400
const SIGN = 'publish the response of politely keys directory, with its headers'

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
  const got = await stranger.get(CHECK, 'directory', url, ACCEPT_KEYS)
  if ('result' in got) return [got]
  const findings = [...headerFindings(url, got)]
  const keys = keysIn(got)
  if (keys === undefined)
    return [
      ...findings,
      fail(CHECK, 'directory-not-json', `${url} is not JSON with a list "keys"${pageNote(got.body)}`, SIGN),
    ]
  if (keys.length === 0) return [...findings, fail(CHECK, 'directory-empty', `${url} has no key`, SIGN)]
  if (keys.length > MAX_KEYS)
    findings.push(
      fail(
        CHECK,
        'directory-too-large',
        `${url} has ${keys.length} keys, and verifiers may read no more than ${MAX_KEYS}`,
        'remove the keys that you no longer sign with',
      ),
    )
  const isReached = findings.every(({ result }) => result !== 'fail')
  if (isReached) findings.push(ok(CHECK, 'directory-ok', `${url} has ${keys.length} key${keys.length > 1 ? 's' : ''}`))
  const found = new Set<string>()
  for (const [i, key] of keys.slice(0, MAX_KEYS).entries()) {
    const { kid, findings: ofKey } = await keyFindings(url, i, key, got, stranger.now())
    if (kid !== undefined && found.has(kid))
      findings.push(warn(CHECK, 'key-duplicate', `key ${i + 1} of ${url} is there already: ${kid}`, 'remove it'))
    else findings.push(...ofKey)
    if (kid !== undefined) found.add(kid)
  }
  for (const kid of kids)
    if (!found.has(kid))
      findings.push(
        fail(CHECK, 'key-missing', `your key ${kid} is not in ${url}`, `${SIGN}, before you sign with this key`),
      )
  return findings
}

function headerFindings(url: string, got: Got): readonly Finding[] {
  const findings: Finding[] = []
  if (got.body.length > MAX_BODY_BYTES)
    findings.push(
      fail(
        CHECK,
        'directory-too-large',
        `${url} has ${got.body.length} bytes, and verifiers may read no more than ${MAX_BODY_BYTES}`,
        SIGN,
      ),
    )
  const type = (headerOf(got.headers, 'content-type') ?? '').split(';')[0]?.trim().toLowerCase()
  if (type !== DIRECTORY_TYPE) {
    const isWellKnown = new URL(url).pathname === DIRECTORY_PATH
    const isPlain = !isWellKnown && /^application\/(?:jwk-set\+)?json$/.test(type ?? '')
    if (!isPlain)
      findings.push(
        (isWellKnown ? fail : warn)(
          CHECK,
          'directory-media-type',
          `${url} has ${type ? `Content-Type: ${type}` : 'no Content-Type'}`,
          `send Content-Type: ${DIRECTORY_TYPE}`,
        ),
      )
  }
  const maxAge = maxAgeOf(got)
  const problem =
    maxAge === undefined
      ? `${url} has no Cache-Control with max-age, so each verifier decides how long it keeps the keys`
      : maxAge === 0
        ? `verifiers must not keep ${url}, so each of your requests may wait for it`
        : maxAge > DAY_S
          ? `verifiers may keep ${url} for ${maxAge} s, and use a key that you have removed`
          : undefined
  if (problem !== undefined) findings.push(warn(CHECK, 'directory-cache', problem, 'send Cache-Control: max-age=3600'))
  return findings
}

function keysIn({ body }: Got): readonly unknown[] | undefined {
  try {
    const { keys } = Object(JSON.parse(body.toString())) as { readonly keys?: unknown }
    return Array.isArray(keys) ? keys : undefined
  } catch {
    return undefined
  }
}

interface KeyFindings {
  readonly kid: string | undefined
  readonly findings: readonly Finding[]
}

async function keyFindings(url: string, i: number, given: unknown, got: Got, now: number): Promise<KeyFindings> {
  const key = Object(given) as Jwk
  const name = `key ${i + 1}`
  const findings: Finding[] = []
  if (PRIVATE_MEMBERS.some((member) => member in key))
    findings.push(
      fail(
        CHECK,
        'directory-private-key',
        `${name} of ${url} is a private key, which anyone can sign with now`,
        'remove it at once, create another with politely keys new, and publish only what politely keys directory prints',
      ),
    )
  const invalid = (text: string, remedy: string, kid?: string): KeyFindings => ({
    kid,
    findings: [...findings, fail(CHECK, 'key-invalid', `${name} ${text}`, remedy)],
  })
  const known = await readPublicKey(key)
  if (known?.algorithm.name !== 'ed25519')
    return invalid(
      `is not a public Ed25519 key (kty ${describeValue(key.kty)}, crv ${describeValue(key.crv)})`,
      'create one with politely keys new: verifiers such as Cloudflare know Ed25519 only',
    )
  const { kid } = known
  if (key.kid !== undefined && key.kid !== kid)
    findings.push(
      fail(
        CHECK,
        'key-id',
        `${name} has the kid ${describeValue(key.kid)}, and its thumbprint is ${kid}`,
        `write "kid": "${kid}", or leave kid out`,
      ),
    )
  if (TEST_KEYS.has(kid))
    findings.push(
      fail(
        CHECK,
        'key-published-private',
        `${name} is a test key of RFC 9421, whose private part is published there`,
        'remove it, and create another with politely keys new',
      ),
    )
  if ((await jwkThumbprint(key)) !== kid)
    return invalid(
      `(${kid}) has an x that ends in unused bits, so its thumbprint is another one for each verifier`,
      SIGN,
    )
  const wrongTime = (['nbf', 'exp'] as const).find((member) => key[member] !== undefined && !isTime(key[member]))
  if (wrongTime !== undefined)
    return invalid(
      `(${kid}) has the ${wrongTime} ${describeValue(key[wrongTime])}, which is no time in seconds since 1970`,
      'write whole seconds, not milliseconds or a date',
      kid,
    )
  const usage = isForSignatures(key)
    ? key.alg === undefined || SIGNING_ALGORITHMS.includes(key.alg)
      ? undefined
      : `alg ${describeValue(key.alg)}`
    : `use ${describeValue(key.use)} and key_ops ${describeValue(key.key_ops)}`
  const { from, until } = validityOf(key) as NonNullable<ReturnType<typeof validityOf>>
  if (usage !== undefined)
    findings.push(
      fail(
        CHECK,
        'key-usage',
        `${name} (${kid}) says that it is not for signatures with Ed25519: ${usage}`,
        'write "use": "sig", or leave use, key_ops and alg out',
      ),
    )
  else if (until <= now)
    findings.push(
      fail(
        CHECK,
        'key-expired',
        `${name} (${kid}) expired at ${timeText(until)}`,
        'rotate it: politely keys rotate OLD NEW',
      ),
    )
  else if (from > now + SKEW_MS)
    findings.push(
      warn(
        CHECK,
        'key-not-yet-valid',
        `${name} (${kid}) is valid from ${timeText(from)}`,
        'do not sign with it before',
      ),
    )
  else
    findings.push(
      ok(CHECK, 'key-ok', `${name} (${kid}) is valid${key.exp === undefined ? '' : ` until ${timeText(until)}`}`),
    )
  findings.push(...(await signatureFindings(url, known, got, now)))
  return { kid, findings }
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
  if (inputs === undefined || signatures === undefined)
    return [
      fail(CHECK, 'signature-malformed', `Signature or Signature-Input of ${url} is not a dictionary (RFC 9651)`, SIGN),
    ]
  const own = [...inputs].filter(
    (entry): entry is [string, InnerList] =>
      isInnerList(entry[1]) && entry[1][1].get('tag') === DIRECTORY_TAG && entry[1][1].get('keyid') === key.kid,
  )
  if (own.length === 0) {
    const other = [...inputs.values()].some((member) => isInnerList(member) && member[1].get('keyid') === key.kid)
    const why = other ? `: the signature with this keyid has not the tag ${DIRECTORY_TAG}` : ''
    return [
      fail(
        CHECK,
        'signature-missing',
        `the key ${key.kid} has not signed the response${why}`,
        `${SIGN}: it proves that the keys are yours, and Cloudflare asks for one signature of each key`,
      ),
    ]
  }
  const results: (readonly Finding[])[] = []
  for (const [label, input] of own) {
    const findings = await oneSignature(url, key, input, signatures.get(label)?.[0], got, now)
    if (findings.every(({ result }) => result !== 'fail')) return findings
    results.push(findings)
  }
  return results[0] as readonly Finding[]
}

async function oneSignature(
  url: string,
  { kid, algorithm, key }: PublicKey,
  input: InnerList,
  bytes: unknown,
  got: Got,
  now: number,
): Promise<readonly Finding[]> {
  const [components, params] = input
  const [created, expires] = [params.get('created'), params.get('expires')]
  const areTimes = [created, expires].every((time) => Number.isInteger(time) && isTime(time))
  if (!(bytes instanceof ArrayBuffer) || !areTimes || (created as number) >= (expires as number))
    return [
      fail(
        CHECK,
        'signature-malformed',
        `the signature of ${kid} has no bytes, or no whole numbers created and expires, in seconds and in this order`,
        SIGN,
      ),
    ]
  if (!components.some(([name, its]) => name === '@authority' && its.get('req') === true))
    return [
      fail(
        CHECK,
        'signature-not-covered',
        `the signature of ${kid} does not cover "@authority";req, so it would fit any host`,
        SIGN,
      ),
    ]
  const alg = params.get('alg')
  if (alg !== undefined && alg !== algorithm.name)
    return [
      fail(
        CHECK,
        'signature-wrong',
        `the signature of ${kid} has the alg ${describeValue(alg)}, and the key is for ${algorithm.name}`,
        SIGN,
      ),
    ]
  const findings: Finding[] = []
  const digest = fieldValue(got.headers, 'content-digest')
  if (!components.some(([name]) => name === 'content-digest'))
    findings.push(
      warn(
        CHECK,
        'signature-not-covered',
        `the signature of ${kid} does not cover content-digest, which the draft of the working group demands`,
        SIGN,
      ),
    )
  else if (!isDigestOf(digest, got.body))
    return [
      fail(
        CHECK,
        'signature-wrong',
        `Content-Digest is not that of the body of ${url}, so a proxy or an editor has changed it`,
        'send the body as politely keys directory wrote it, byte for byte',
      ),
    ]
  let base: string
  try {
    base = responseSignatureBase(
      { method: 'GET', url, headers: {} },
      { status: got.status, headers: got.headers },
      input,
    )
  } catch (error) {
    if (!(error instanceof ComponentError)) throw error
    return [fail(CHECK, 'signature-malformed', `the signature of ${kid}: ${error.message}`, SIGN)]
  }
  if (!(await verifies(key, algorithm, new Uint8Array(bytes), base)))
    return [
      fail(
        CHECK,
        'signature-wrong',
        `the key ${kid} has not signed this response of ${new URL(url).host}`,
        `${SIGN}; --agent must be the host at which it is published`,
      ),
    ]
  const [from, until] = [(created as number) * 1000, (expires as number) * 1000]
  const iso = timeText(until)
  if (until <= now)
    return [fail(CHECK, 'signature-expired', `the signature of ${kid} expired at ${iso}`, `sign again: ${SIGN}`)]
  if (from > now + SKEW_MS)
    return [
      fail(
        CHECK,
        'signature-in-future',
        `the signature of ${kid} was made at ${timeText(from)}, which is in the future`,
        'set the clock of the machine that signs (NTP), and sign again',
      ),
    ]
  if (until - now > MAX_VALID_MS)
    findings.push(
      warn(
        CHECK,
        'signature-lasts-long',
        `the signature of ${kid} is valid until ${timeText(until)}, over 90 days, so an old copy proves a key that you have removed`,
        `sign for a week: ${SIGN}`,
      ),
    )
  const kept = maxAgeOf(got) ?? DAY_S
  if (until - now < kept * 1000)
    findings.push(
      warn(
        CHECK,
        'signature-expires-soon',
        `the signature of ${kid} expires at ${iso}, before a copy of the response that is made now (${kept} s)`,
        `sign again: ${SIGN}`,
      ),
    )
  return findings.length > 0 ? findings : [ok(CHECK, 'signature-ok', `${kid} has signed it, until ${iso}`)]
}
