// Checks a folder of evidence: each line, each chain, each robots.txt, each signature. It says what
// the check can't see, too.
import { createPublicKey, hash, verify as verifySignature } from 'node:crypto'
import { boundedMap } from '@politely/fetcher/internal'
import type { EvidenceRecord, HeadRecord } from '../record.ts'
import { EvidenceFolder, type EvidenceItem, type Link, type Place } from './read.ts'
import { sha256Of } from './robots-files.ts'

/** What the check has found. */
export interface EvidenceFinding extends Partial<Place> {
  /** `note`: a kill or a full disk explains it, or it is only worth knowing. */
  readonly level: 'error' | 'note'
  readonly problem: string
  readonly chain?: string
}

/** What one process, from a start to an end, has written. */
export interface CheckedChain {
  readonly chain: string
  readonly records: number
  readonly files: readonly string[]
  /** Whether the chain was closed. If not, records at its end may be missing. */
  readonly isEnded: boolean
  /** The last head whose signature is valid. */
  readonly head?: Place & { readonly keyId: string }
  /** The records after that head. Without a head, all. */
  readonly unsigned: number
}

/** The result of `verify`. */
export interface Verification {
  readonly records: number
  readonly decisions: number
  readonly results: number
  readonly robotsFiles: number
  readonly errors: number
  readonly notes: number
  readonly chains: readonly CheckedChain[]
  /** What this check can't see, in sentences. */
  readonly limits: readonly string[]
}

/** Options of `verify`. */
export interface VerifyOptions {
  /** Public keys (JWK). A head that another key has signed is an error. Default: any key is good. */
  readonly keys?: readonly { readonly x?: string }[] | undefined
  /** Called with each finding. */
  readonly onFinding?: ((finding: EvidenceFinding) => void | Promise<void>) | undefined
}

/** The ids of so many decisions are kept, to find results without a decision. */
const MAX_IDS = 500_000
/** So many requests without a result are named. */
const MAX_NAMED = 3
const REWRITTEN = 'whoever can write this folder can rewrite all of it, and this check would not see it'

/**
 * Checks a folder of evidence: that each line is a record, that no record of a chain was changed or
 * is missing, that each robots.txt is there, and that signatures are valid.
 * @throws {OptionError} if this is not a folder, or a folder without records.
 */
export async function verify(dir: string, { keys, onFinding }: VerifyOptions = {}): Promise<Verification> {
  using folder = new EvidenceFolder(dir)
  const check = new Check(keys)
  for await (const item of folder.items()) {
    check.add(item)
    for (const finding of check.findings.splice(0)) await onFinding?.(finding)
  }
  for (const [sha256, place] of check.robots) check.addFile(sha256, await folder.robotsFile(sha256), place)
  const chains = check.end()
  for (const finding of check.findings) await onFinding?.(finding)
  return { ...check.counts, robotsFiles: check.robots.size, chains, limits: limitsOf(chains, keys !== undefined) }
}

/** What is known of a chain so far. */
class Chain {
  readonly files = new Set<string>()
  records = 0
  last: (Place & { readonly seq: number; readonly hash: string }) | undefined
  /** The times of the last events. Decisions and results have a clock each. */
  readonly latest: Record<string, number> = { decision: 0, result: 0 }
  readonly backwards: Place[] = []
  lost = 0
  /** The requests without a result so far. */
  readonly open = new Map<string, Place>()
  head: CheckedChain['head']
  unsigned = 0
  isEnded = false
}

class Check {
  findings: EvidenceFinding[] = []
  readonly counts = { records: 0, decisions: 0, results: 0, errors: 0, notes: 0 }
  /** The first place that names a robots.txt, by its hash. */
  readonly robots = new Map<string, Place>()
  readonly #keys: VerifyOptions['keys']
  readonly #chains = new Map<string, Chain>()
  readonly #ids = boundedMap<true>(MAX_IDS)
  #file = ''

  constructor(keys: VerifyOptions['keys']) {
    this.#keys = keys
  }

  add({ record, problem, level = 'error', link = record, text = '', file, line }: EvidenceItem): void {
    const place = { file, line }
    if (problem !== undefined) this.#find(level, problem, place)
    if (link === undefined) return
    if (file !== this.#file && link.kind !== 'start')
      this.#find('error', 'the file does not begin with a start record; its first lines are missing', place)
    this.#file = file
    const chain = this.#chains.get(link.chain) ?? new Chain()
    this.#chains.set(link.chain, chain)
    this.counts.records++
    this.#addLink(chain, link, text, place)
    if (record !== undefined) this.#addRecord(chain, record, place)
  }

  addFile(sha256: string, { problem }: { readonly problem?: 'missing' | 'damaged' | undefined }, place: Place): void {
    if (problem === undefined) return
    this.#find('error', `the robots.txt ${sha256} ${problem === 'missing' ? 'is missing' : 'was changed'}`, place)
  }

  /** Returns the chains. */
  end(): readonly CheckedChain[] {
    return Array.from(this.#chains, ([chain, { open, backwards, last, ...state }]) => {
      const [first, ...others] = backwards
      const more = others.length > 0 ? `, and ${others.length} times after it` : ''
      if (first !== undefined)
        this.#find('note', `the time goes back here${more}: the clock was set back`, first, chain)
      const named = [...open.values()].slice(0, MAX_NAMED).map(placeText).join(', ')
      const all = open.size > MAX_NAMED ? `${named} and more` : named
      if (open.size > 0)
        this.#find('note', `requests without a result, as after a kill: ${open.size} (${all})`, undefined, chain)
      const { files, records, isEnded, head, unsigned } = state
      if (!isEnded)
        this.#find('note', 'the chain was not closed: a kill, or still written, or its end was removed', last, chain)
      return { chain, records, files: [...files], isEnded, ...(head && { head }), unsigned }
    })
  }

  #addLink(chain: Chain, { chain: name, seq, prev, time, kind }: Link, text: string, place: Place): void {
    const { last } = chain
    const expected = last === undefined ? 0 : last.seq + 1
    if (seq < expected)
      return void this.#find('error', `record ${seq} of its chain comes again, or in the wrong place`, place, name)
    const before = last === undefined ? 'before this one' : `between ${placeText(last)} and this one`
    const missing = seq === expected + 1 ? `record ${expected} is` : `records ${expected} to ${seq - 1} are`
    const file = last !== undefined && last.file !== place.file ? '; a file may be missing there' : ''
    if (seq > expected) this.#find('error', `${missing} missing, ${before}${file}`, place, name)
    else if (last === undefined && prev !== '') this.#find('error', 'a record before this one is missing', place, name)
    else if (last !== undefined && prev !== last.hash)
      this.#find('error', `the record before it (${placeText(last)}) was changed`, place, name)
    if (chain.isEnded) this.#find('error', 'the chain has ended before this record', place, name)
    const [at, latest = at] = [Date.parse(time), chain.latest[kind]]
    if (at < latest) chain.backwards.push(place)
    if (kind in chain.latest) chain.latest[kind] = at
    chain.files.add(place.file)
    chain.records++
    chain.unsigned++
    chain.isEnded = kind === 'end'
    chain.last = { ...place, seq, hash: sha256Of(text) }
  }

  #addRecord(chain: Chain, record: EvidenceRecord, place: Place): void {
    const named = record.kind === 'decision' ? record.robotsTxt?.sha256 : (record as { sha256?: string }).sha256
    if (named !== undefined && !this.robots.has(named)) this.robots.set(named, place)
    if (record.kind === 'decision') {
      const { id, use, verdict, obey, replaces = '' } = record
      this.counts.decisions++
      this.#ids.set(id, true)
      chain.open.delete(replaces)
      if (use === 'request' && (verdict.allowed || obey !== undefined)) chain.open.set(id, place)
    } else if (record.kind === 'result') {
      this.counts.results++
      chain.open.delete(record.id)
      if (!this.#ids.has(record.id) && this.#ids.size < MAX_IDS)
        this.#find(chain.lost > 0 ? 'note' : 'error', `its decision ${record.id} is missing`, place, record.chain)
    } else if (record.kind === 'gap') {
      chain.lost += record.lost
      this.#find('note', `${record.lost} records were lost, as the sink says: ${record.error}`, place, record.chain)
    } else if (record.kind === 'head') {
      const isOwn = this.#keys === undefined || this.#keys.some(({ x }) => x === record.key.x)
      const problem = !isSigned(record)
        ? 'the signature of this head is wrong'
        : `the key ${record.keyId} of this head is none of the keys you gave`
      if (!isOwn || !isSigned(record)) return void this.#find('error', problem, place, record.chain)
      chain.head = { keyId: record.keyId, ...place }
      chain.unsigned = 0
    }
  }

  #find(level: EvidenceFinding['level'], problem: string, place?: Place, chain?: string): void {
    this.counts[level === 'error' ? 'errors' : 'notes']++
    const { file, line } = place ?? {}
    this.findings.push({ level, problem, ...(file && { file, line }), ...(chain && { chain }) } as EvidenceFinding)
  }
}

function limitsOf(chains: readonly CheckedChain[], hasKeys: boolean): readonly string[] {
  const signed = chains.filter(({ head }) => head !== undefined)
  if (signed.length === 0) return [`Nothing is signed: ${REWRITTEN}.`]
  const without = chains.length - signed.length
  const tails = signed.flatMap(({ chain, unsigned, isEnded, head }) =>
    head !== undefined && unsigned > (isEnded ? 1 : 0)
      ? [`Chain ${chain}: the ${unsigned} records after its last signed head (${placeText(head)}) can be rewritten.`]
      : [],
  )
  return [
    ...(hasKeys ? [] : [`The signatures were compared with no key of yours: ${REWRITTEN}, with another key.`]),
    ...(without > 0 ? [`${without} of ${chains.length} chains have no signed head: they can be rewritten.`] : []),
    ...tails,
    "This check can't see that records after the last signed head of a chain, or a whole chain, were removed.",
  ]
}

/** Returns whether the key in a head signed it, and is the key that it names (RFC 7638). */
function isSigned({ chain, seq, prev, key: { kty, crv, x }, keyId, signature }: HeadRecord): boolean {
  if (kty !== 'OKP' || crv !== 'Ed25519' || typeof x !== 'string') return false
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
