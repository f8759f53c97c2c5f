// Checks a folder of evidence: each line, each chain, each robots.txt, each signature. It says what
// the check can't see, too.
import { createPublicKey, verify as verifySignature } from 'node:crypto'
import { boundedMap } from '@politely/fetcher/internal'
import type { EvidenceRecord, HeadRecord } from '../record.ts'
import { EvidenceFolder, type EvidenceItem, type Link, type Place } from './read.ts'
import { sha256Of } from './robots-files.ts'

/** What the check has found. */
export interface EvidenceFinding {
  /** `note`: a kill or a full disk explains it, or it is only worth knowing. */
  readonly level: 'error' | 'note'
  readonly problem: string
  /** Absent for a finding about a whole chain or folder. */
  readonly file?: string
  readonly line?: number
  readonly chain?: string
}

/** What one process, from a start to an end, has written. */
export interface CheckedChain {
  readonly chain: string
  readonly files: number
  readonly records: number
  /** The times of the first and last record, in ISO 8601. */
  readonly from: string
  readonly to: string
  /** Whether the chain was closed. If not, records at its end may be missing. */
  readonly isEnded: boolean
  /** The last head whose signature is valid. */
  readonly head?: { readonly keyId: string; readonly file: string; readonly line: number }
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
/** So many decisions without a result are named. */
const MAX_NAMED = 3

interface Chain {
  readonly files: Set<string>
  records: number
  readonly from: string
  to: string
  last: (Place & { readonly seq: number; readonly hash: string }) | undefined
  readonly latest: { decision: number; result: number }
  lost: number
  backwards: { count: number; readonly first: Place } | undefined
  /** The requests without a result so far. */
  readonly open: Map<string, Place>
  head: CheckedChain['head']
  unsigned: number
  isEnded: boolean
}

/**
 * Checks a folder of evidence: that each line is a record, that no record of a chain was changed or
 * is missing, that each robots.txt is there, and that signatures are valid.
 * @throws {OptionError} if this is not a folder, or a folder without records.
 */
export async function verify(dir: string, { keys, onFinding }: VerifyOptions = {}): Promise<Verification> {
  using folder = new EvidenceFolder(dir)
  const check = new Check(folder, keys)
  const report = async () => {
    for (const finding of check.findings.splice(0)) await onFinding?.(finding)
  }
  for await (const item of folder.items()) {
    check.add(item)
    if (check.findings.length > 0) await report()
  }
  const result = await check.end()
  await report()
  return { ...result, ...check.counts }
}

class Check {
  readonly findings: EvidenceFinding[] = []
  readonly counts = { records: 0, decisions: 0, results: 0, robotsFiles: 0, errors: 0, notes: 0 }
  readonly #folder: EvidenceFolder
  readonly #keys: VerifyOptions['keys']
  readonly #chains = new Map<string, Chain>()
  readonly #ids = boundedMap<true>(MAX_IDS)
  /** The first place that names a robots.txt. */
  readonly #robots = new Map<string, Place>()
  #file = ''

  constructor(folder: EvidenceFolder, keys: VerifyOptions['keys']) {
    this.#folder = folder
    this.#keys = keys
  }

  add({ record, problem, level = 'error', link = record, text = '', file, line }: EvidenceItem): void {
    const place = { file, line }
    if (problem !== undefined) this.#find(level, problem, place)
    if (link === undefined) return
    if (file !== this.#file && link.kind !== 'start')
      this.#find('error', 'the file does not begin with a start record; its first lines are missing', place)
    this.#file = file
    this.#addLink(link, text, place)
    if (record !== undefined) this.#addRecord(record, place)
  }

  /** Returns the result without the counts. */
  async end(): Promise<Pick<Verification, 'chains' | 'limits'>> {
    for (const [sha256, place] of this.#robots) {
      this.counts.robotsFiles++
      const { problem } = await this.#folder.robotsFile(sha256)
      if (problem === 'missing') this.#find('error', `the robots.txt with the SHA-256 ${sha256} is missing`, place)
      if (problem === 'damaged') this.#find('error', `the robots.txt with the SHA-256 ${sha256} was changed`, place)
    }
    for (const [chain, state] of this.#chains) this.#endChain(chain, state)
    const chains = [...this.#chains].map(([chain, { files, records, from, to, isEnded, head, unsigned }]) => ({
      chain,
      files: files.size,
      records,
      from,
      to,
      isEnded,
      ...(head && { head }),
      unsigned,
    }))
    return { chains, limits: this.#limits(chains) }
  }

  #addLink({ chain: name, seq, prev, time, kind }: Link, text: string, place: Place): void {
    this.counts.records++
    const chain = this.#chains.get(name) ?? newChain(time)
    this.#chains.set(name, chain)
    const { last } = chain
    const expected = last === undefined ? 0 : last.seq + 1
    if (seq < expected) {
      this.#find('error', `record ${seq} of its chain comes again, or in the wrong place`, place, name)
      return
    }
    if (seq > expected) {
      const count = seq - expected === 1 ? `record ${expected} is` : `records ${expected} to ${seq - 1} are`
      const where = last === undefined ? 'before this one' : `between ${placeText(last)} and this one`
      const file = last !== undefined && last.file !== place.file ? '; a file may be missing there' : ''
      this.#find('error', `${count} missing, ${where}${file}`, place, name)
    } else if (prev !== (last?.hash ?? '')) {
      const problem =
        last === undefined
          ? 'the first record names one before it'
          : `the record before it (${placeText(last)}) was changed`
      this.#find('error', problem, place, name)
    }
    if (chain.isEnded) this.#find('error', 'the chain has ended before this record', place, name)
    this.#addTime(chain, kind, Date.parse(time), place)
    chain.files.add(place.file)
    chain.records++
    chain.unsigned++
    chain.to = time
    chain.isEnded = kind === 'end'
    chain.last = { ...place, seq, hash: sha256Of(text) }
  }

  /** Decisions and results have a clock each. The other records are as late as the write before them. */
  #addTime(chain: Chain, kind: string, at: number, place: Place): void {
    if (kind !== 'decision' && kind !== 'result') return
    if (at >= chain.latest[kind]) chain.latest[kind] = at
    else {
      chain.backwards ??= { count: 0, first: place }
      chain.backwards.count++
    }
  }

  #addRecord(record: EvidenceRecord, place: Place): void {
    const chain = this.#chains.get(record.chain) as Chain
    const { open } = chain
    switch (record.kind) {
      case 'robots-txt':
        this.#name(record.sha256, place)
        break
      case 'decision': {
        this.counts.decisions++
        const { id, use, verdict, obey, replaces, robotsTxt } = record
        if (robotsTxt !== undefined) this.#name(robotsTxt.sha256, place)
        if (replaces !== undefined) open.delete(replaces)
        if (use === 'request' && (verdict.allowed || obey !== undefined)) open.set(id, place)
        this.#ids.set(id, true)
        break
      }
      case 'result':
        this.counts.results++
        open.delete(record.id)
        if (!this.#ids.has(record.id) && this.#ids.size < MAX_IDS)
          this.#find(
            chain.lost > 0 ? 'note' : 'error',
            `the result is about the decision ${record.id}, which is missing`,
            place,
            record.chain,
          )
        break
      case 'gap':
        chain.lost += record.lost
        this.#find(
          'note',
          `${record.lost} records were lost here, as the sink says: ${record.error}`,
          place,
          record.chain,
        )
        break
      case 'head':
        this.#addHead(record, place)
    }
  }

  #name(sha256: string, place: Place): void {
    if (!this.#robots.has(sha256)) this.#robots.set(sha256, place)
  }

  #addHead(record: HeadRecord, place: Place): void {
    const chain = this.#chains.get(record.chain) as Chain
    const { keyId, key } = record
    const isOwn = this.#keys === undefined || this.#keys.some(({ x }) => x === key.x)
    if (!isSigned(record)) this.#find('error', 'the signature of this head is wrong', place, record.chain)
    else if (!isOwn)
      this.#find('error', `the key ${keyId} of this head is none of the keys you gave`, place, record.chain)
    else {
      chain.head = { keyId, ...place }
      chain.unsigned = 0
    }
  }

  #endChain(name: string, { open, backwards, isEnded, last }: Chain): void {
    if (backwards !== undefined) {
      const more = backwards.count > 1 ? `, and ${backwards.count - 1} times after it` : ''
      this.#find('note', `the time goes back here${more}: the clock was set back`, backwards.first, name)
    }
    if (open.size > 0) {
      const places = [...open.values()].slice(0, MAX_NAMED)
      const more = open.size > MAX_NAMED ? ' and more' : ''
      const problem = `requests without a result, as after a kill: ${open.size} (${places.map(placeText).join(', ')}${more})`
      this.#find('note', problem, undefined, name)
    }
    if (!isEnded)
      this.#find(
        'note',
        'the chain was not closed: it was killed, is still written, or its end was removed',
        last,
        name,
      )
  }

  #limits(chains: readonly CheckedChain[]): readonly string[] {
    const signed = chains.filter(({ head }) => head !== undefined)
    const rewritten = 'whoever can write this folder can rewrite all of it, and this check would not see it'
    if (signed.length === 0) return [`Nothing is signed: ${rewritten}.`]
    const tails = signed.filter(({ unsigned, isEnded }) => unsigned > (isEnded ? 1 : 0))
    return [
      ...(this.#keys === undefined
        ? [`The signatures were compared with no key of yours (--key): ${rewritten}, with another key.`]
        : []),
      ...(signed.length < chains.length
        ? [`${chains.length - signed.length} of ${chains.length} chains have no signed head: they can be rewritten.`]
        : []),
      ...tails.map(
        ({ chain, unsigned, head }) =>
          `Chain ${chain}: ${unsigned} records come after its last signed head (${placeText(head as Place)}), and can be rewritten.`,
      ),
      "This check can't see that records after the last signed head of a chain, or a whole chain, were removed.",
    ]
  }

  #find(level: EvidenceFinding['level'], problem: string, place?: Place, chain?: string): void {
    this.counts[level === 'error' ? 'errors' : 'notes']++
    const { file, line } = place ?? {}
    this.findings.push({ level, problem, ...(file && { file }), ...(line && { line }), ...(chain && { chain }) })
  }
}

function newChain(from: string): Chain {
  return {
    files: new Set(),
    records: 0,
    from,
    to: from,
    last: undefined,
    latest: { decision: 0, result: 0 },
    lost: 0,
    backwards: undefined,
    open: new Map(),
    head: undefined,
    unsigned: 0,
    isEnded: false,
  }
}

/** Returns whether the key in a head signed it, and is the key that it names. */
function isSigned({ chain, seq, prev, key, keyId, signature }: HeadRecord): boolean {
  const { kty, crv, x } = key
  if (kty !== 'OKP' || crv !== 'Ed25519' || typeof x !== 'string') return false
  const thumbprint = Buffer.from(sha256Of(`{"crv":"Ed25519","kty":"OKP","x":"${x}"}`), 'hex').toString('base64url')
  if (keyId !== thumbprint) return false
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
