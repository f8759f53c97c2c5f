// Checks a folder of evidence: each line, each chain, each robots.txt, each signature. It says what
// the check can't see, too.
import { createPublicKey, hash, verify as verifySignature } from 'node:crypto'
import { boundedMap } from '@politely/fetcher/internal'
import type { EvidenceRecord, HeadRecord } from '../record.ts'
import { EvidenceFolder, type EvidenceItem, type Place, sha256Of } from './read.ts'

/** What the check has found, in words. */
export interface EvidenceFinding extends Place {
  /** `note`: a kill or a full disk explains it, or it is only worth knowing. */
  readonly level: 'error' | 'note'
  readonly problem: string
}

/** The result of `verify`: what it has counted. A chain is what one sink has written. */
export interface Verification
  extends Readonly<
    Record<'records' | 'decisions' | 'results' | 'robotsFiles' | 'chains' | 'errors' | 'notes', number>
  > {
  /** What this check can't see, in sentences. */
  readonly limits: readonly string[]
}

type Finding = readonly [level: EvidenceFinding['level'], problem: string]
/** Public keys (JWK). */
type Keys = readonly { readonly x?: string }[] | undefined

/** The ids of so many decisions are kept, to find results without a decision. */
const MAX_IDS = 500_000
const REWRITTEN = 'whoever can write this folder can rewrite all of it, and this check would not see it'

/**
 * Checks a folder of evidence: that each line is a record, that no record of a chain was changed or
 * is missing, that each robots.txt is there, and that signatures are valid.
 * @param options `keys`: public keys (JWK); a head that another key has signed is an error. Default:
 * any key is good. `onFinding`: called with each finding.
 * @throws {OptionError} if this is not a folder, or a folder without records.
 */
export async function verify(
  dir: string,
  options: { readonly keys?: Keys; readonly onFinding?: (finding: EvidenceFinding) => unknown } = {},
): Promise<Verification> {
  const { keys, onFinding } = options
  const counts = { records: 0, decisions: 0, results: 0, errors: 0, notes: 0 }
  const chains = new Map<string, Chain>()
  const robots = new Map<string, Place>()
  const ids = boundedMap<true>(MAX_IDS)
  const find = async ([level, problem]: Finding, place: Place) => {
    counts[level === 'error' ? 'errors' : 'notes']++
    await onFinding?.({ level, problem, ...place })
  }
  const folder = new EvidenceFolder(dir)
  for await (const { file, line, link, record, text = '', problem, level = 'error' } of folder.items()) {
    const place = { file, line }
    if (problem !== undefined) await find([level, problem], place)
    if (link === undefined) continue
    counts.records++
    const chain = chains.get(link.chain) ?? new Chain()
    chains.set(link.chain, chain)
    for (const finding of chain.add(link, text, place)) await find(finding, place)
    if (record === undefined) continue
    for (const finding of chain.read(record, keys)) await find(finding, place)
    if (record.kind === 'decision') {
      counts.decisions++
      ids.set(record.id, true)
      const { sha256 } = record.robotsTxt ?? {}
      if (sha256 !== undefined && !robots.has(sha256)) robots.set(sha256, place)
    } else if (record.kind === 'result') {
      counts.results++
      const isMissing = !ids.has(record.id) && ids.size < MAX_IDS
      if (isMissing) await find([chain.lost > 0 ? 'note' : 'error', `its decision ${record.id} is missing`], place)
    }
  }
  for (const [sha256, place] of robots) {
    const { problem } = await folder.robotsFile(sha256)
    const what = problem === 'missing' ? 'is missing' : 'was changed'
    if (problem !== undefined) await find(['error', `the robots.txt ${sha256} ${what}`], place)
  }
  for (const chain of chains.values()) for (const note of chain.end()) await find(['note', note], chain.place)
  const limits = limitsOf([...chains.values()], keys !== undefined)
  return { ...counts, robotsFiles: robots.size, chains: chains.size, limits }
}

/** What is known of a chain so far. */
class Chain {
  /** Of the last record. */
  place: Place = { file: '', line: 0 }
  lost = 0
  hasHead = false
  /** The records after the last valid head. */
  unsigned = 0
  #seq = -1
  #hash = ''
  #isEnded = false
  /** The times of the last decision and result, which have a clock each. */
  readonly #latest: Record<string, string> = {}
  /** The requests without a result so far. */
  readonly #open = new Map<string, Place>()

  /** Returns what is worth knowing after the last record. */
  end(): readonly string[] {
    const [first] = this.#open.values()
    const kill = 'the chain was not closed: a kill, or still written, or its end was removed'
    const open = `requests without a result, as after a kill: ${this.#open.size}${first && `, the first in ${placeText(first)}`}`
    return [...(first ? [open] : []), ...(this.#isEnded ? [] : [kill])]
  }

  /** Adds a record. Yields what is wrong between the last record and this one. */
  *add({ seq, prev, kind }: NonNullable<EvidenceItem['link']>, text: string, place: Place): Generator<Finding> {
    const expected = this.#seq + 1
    if (seq < expected) return yield ['error', `record ${seq} of its chain comes again, or in the wrong place`]
    if (seq > expected) yield ['error', `records ${expected} to ${seq - 1} of its chain are missing`]
    else if (prev !== this.#hash) yield ['error', `the record before it (${placeText(this.place)}) was changed`]
    if (this.#isEnded) yield ['error', 'the chain has ended before this record']
    this.place = place
    this.#seq = seq
    this.#hash = sha256Of(text)
    this.#isEnded = kind === 'end'
    if (!this.#isEnded) this.unsigned++
  }

  /** Yields what one record shows, apart from its link. */
  *read(record: EvidenceRecord, keys: Keys): Generator<Finding> {
    const { kind, time } = record
    if (time < (this.#latest[kind] ?? '')) yield ['note', 'the time goes back here: the clock was set back']
    if (kind === 'decision' || kind === 'result') this.#latest[kind] = time
    if (kind === 'decision') {
      const { id, use, verdict, obey, replaces = '' } = record
      this.#open.delete(replaces)
      if (use === 'request' && (verdict.allowed || obey !== undefined)) this.#open.set(id, this.place)
    } else if (kind === 'result') this.#open.delete(record.id)
    else if (kind === 'gap') {
      this.lost += record.lost
      yield ['note', `${record.lost} records were lost, as the sink says: ${record.error}`]
    } else if (kind === 'head') {
      if (!isSigned(record)) yield ['error', 'the signature of this head is wrong']
      else if (keys !== undefined && !keys.some(({ x }) => x === record.key.x))
        yield ['error', `the key ${record.keyId} of this head is none of the keys you gave`]
      else Object.assign(this, { hasHead: true, unsigned: 0 })
    }
  }
}

function limitsOf(chains: readonly Chain[], hasKeys: boolean): readonly string[] {
  if (!chains.some(({ hasHead }) => hasHead)) return [`Nothing is signed: ${REWRITTEN}.`]
  const unsigned = chains.reduce((sum, chain) => sum + chain.unsigned, 0)
  return [
    !hasKeys && `The signatures were compared with no key of yours: ${REWRITTEN}, with another key.`,
    unsigned > 0 && `No signed head comes after ${unsigned} of the records: they can be rewritten.`,
    "This check can't see that records after the last signed head of a chain, or a whole chain, were removed.",
  ].filter((sentence) => sentence !== false)
}

/** Returns whether the key in a head signed it, and is the key that it names (RFC 7638). */
function isSigned({ chain, seq, prev, key: { kty, crv, x }, keyId, signature }: HeadRecord): boolean {
  if (keyId !== hash('sha256', JSON.stringify({ crv, kty, x }), 'base64url')) return false
  try {
    const publicKey = createPublicKey({ key: { kty, crv, x }, format: 'jwk' })
    const signed = Buffer.from(`politely-evidence 1 ${chain} ${seq} ${prev}`)
    return verifySignature(undefined, signed, publicKey, Buffer.from(signature, 'base64url'))
  } catch {
    return false // `x` is not a key
  }
}

function placeText({ file, line }: Place): string {
  return `${file}:${line}`
}
