// Checks a folder of evidence: each line, each chain, each robots.txt, each signature. It says what
// the check can't see, too.
import { createPublicKey, hash, verify as verifySignature } from 'node:crypto'
import { boundedMap } from '@politely/fetcher/internal'
import type { DecisionRecord, HeadRecord, ResultRecord } from '../record.ts'
import { EvidenceFolder, type EvidenceItem, type Place } from './read.ts'

/** What the check has found, in words. */
export interface EvidenceFinding extends Place {
  /** `note`: a kill or a full disk explains it, or it is only worth knowing. */
  readonly level: 'error' | 'note'
  readonly problem: string
}

/** The result of `verify`: what it has counted. A chain is what one sink has written. */
export interface EvidenceVerification extends Readonly<Record<'records' | 'chains' | 'errors' | 'notes', number>> {
  /** What this check can't see, in sentences. */
  readonly limits: readonly string[]
}

type Finding = readonly [level: EvidenceFinding['level'], problem: string]
type Keys = NonNullable<Parameters<typeof verifyEvidence>[1]>['keys']

/** The ids of so many decisions are kept, to find results without a decision. */
const MAX_IDS = 500_000

/**
 * Checks a folder of evidence: that each line is a record, that no record of a chain was changed or
 * is missing, that each robots.txt is there, and that signatures are valid.
 * @param options `keys`: public keys (JWK); a head that another key has signed is an error. Default:
 * any key is good. `onFinding`: called with each finding.
 * @throws {OptionError} if this is not a folder, or a folder without records.
 */
export async function verifyEvidence(
  dir: string,
  options: {
    readonly keys?: readonly { readonly x?: string }[] | undefined
    readonly onFinding?: ((finding: EvidenceFinding) => unknown) | undefined
  } = {},
): Promise<EvidenceVerification> {
  const { keys, onFinding } = options
  const folder = new EvidenceFolder(dir)
  const check = new Check()
  const counts = { errors: 0, notes: 0 }
  const find = async (findings: Iterable<Finding>, { file, line }: Place) => {
    for (const [level, problem] of findings) {
      counts[level === 'error' ? 'errors' : 'notes']++
      await onFinding?.({ level, problem, file, line })
    }
  }
  for await (const item of folder.items()) await find(check.item(item, keys), item)
  for (const [sha256, place] of check.robots) {
    const { problem } = await folder.robotsFile(sha256)
    if (problem !== undefined) await find([['error', `the robots.txt ${sha256} is ${problem}`]], place)
  }
  for (const chain of check.chains.values()) await find(endOf(chain), chain.place)
  return { ...counts, records: check.records, chains: check.chains.size, limits: check.limits(keys) }
}

/** What is known of a chain so far. */
type Chain = ReturnType<typeof newChain>

function newChain() {
  return {
    ...{ seq: -1, last: '', place: { file: '', line: 0 } }, // of the last record
    ...{ lost: 0, unsigned: 0, hasHead: false, isEnded: false },
    /** The times of the last decision and result, which have a clock each. */
    times: { decision: '', result: '' },
    /** The requests without a result so far. */
    open: new Map<string, Place>(),
  }
}

class Check {
  records = 0
  readonly chains = new Map<string, Chain>()
  /** The first place that names a robots.txt, by its hash. */
  readonly robots = new Map<string, Place>()
  readonly #ids = boundedMap<true>(MAX_IDS)

  /** Returns what the check can't see. */
  limits(keys: Keys): readonly string[] {
    const chains = [...this.chains.values()]
    const isCompared = keys !== undefined && chains.some(({ hasHead }) => hasHead)
    const unsigned = chains.reduce((sum, chain) => sum + chain.unsigned, 0)
    const all = 'No signature was compared with a key of yours: who can write this folder can rewrite all of it unseen.'
    const end = `Records after the last signed head of a chain (${unsigned} now) can be changed or removed unseen, and whole chains too.`
    return isCompared ? [end] : [all, end]
  }

  *item({ link, record, problem, level = 'error', text = '', ...at }: EvidenceItem, keys: Keys): Generator<Finding> {
    if (problem !== undefined) yield [level, problem]
    if (link === undefined) return
    this.records++
    const chain = this.chains.get(link.chain) ?? newChain()
    this.chains.set(link.chain, chain)
    const { seq, last, place, isEnded } = chain
    if (link.seq <= seq) yield ['error', `record ${link.seq} of its chain comes again, or in the wrong place`]
    else if (link.seq > seq + 1) yield ['error', `records ${seq + 1} to ${link.seq - 1} of its chain are missing`]
    else if (link.prev !== last) yield ['error', `the record before it (${placeText(place)}) was changed`]
    else if (isEnded) yield ['error', 'the chain has ended before this record']
    if (link.seq <= seq) return
    Object.assign(chain, { seq: link.seq, last: hash('sha256', text), place: at, isEnded: link.kind === 'end' })
    if (link.kind !== 'end') chain.unsigned++
    if (record?.kind === 'decision' || record?.kind === 'result') yield* this.#event(record, chain)
    if (record?.kind === 'gap') {
      chain.lost += record.lost
      yield ['note', `${record.lost} records were lost, as the sink says: ${record.error}`]
    }
    if (record?.kind !== 'head') return
    const isOwn = keys === undefined || keys.some(({ x }) => x === record.key.x)
    if (!isSigned(record)) yield ['error', 'the signature of this head is wrong']
    else if (!isOwn) yield ['error', `the key ${record.keyId} of this head is none of the keys you gave`]
    else Object.assign(chain, { hasHead: true, unsigned: 0 })
  }

  *#event(record: DecisionRecord | ResultRecord, chain: Chain): Generator<Finding> {
    const { kind, time, id } = record
    if (time < chain.times[kind]) yield ['note', 'the time goes back here: the clock was set back']
    chain.times[kind] = time
    if (kind === 'decision') {
      const { use, verdict, obey, replaces = '', robotsTxt } = record
      this.#ids.set(id, true)
      chain.open.delete(replaces)
      if (use === 'request' && (verdict.allowed || obey !== undefined)) chain.open.set(id, chain.place)
      if (robotsTxt && !this.robots.has(robotsTxt.sha256)) this.robots.set(robotsTxt.sha256, chain.place)
    } else {
      chain.open.delete(id)
      const isMissing = !this.#ids.has(id) && this.#ids.size < MAX_IDS
      if (isMissing) yield [chain.lost > 0 ? 'note' : 'error', `its decision ${id} is missing`]
    }
  }
}

/** Yields what is worth knowing after the last record of a chain. */
function* endOf({ open, isEnded }: Chain): Generator<Finding> {
  const [first] = open.values()
  const without = `requests without a result, as after a kill: ${open.size}, the first in `
  if (first !== undefined) yield ['note', without + placeText(first)]
  if (!isEnded) yield ['note', 'the chain was not closed: a kill, or still written, or its end was removed']
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
