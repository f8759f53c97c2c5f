// Makes all decisions of a folder once more, and compares them with what was recorded.
import { type CrawlerRules, type Dialect, type DialectName, describeVerdict, parseRobots } from '@politely/core'
import { decide, ENTRY_VERSION, type Entry } from '@politely/core/engine'
import { type Describable, dialectFor, parseUrl } from '@politely/core/internal'
import { LRUCache } from '@politely/fetcher/internal'
import { type DecisionRecord, RECORD_VERSION } from '../record.ts'
import { EvidenceFolder, type Place } from './read.ts'

/** A decision that comes out differently. */
export interface ReplayDifference extends Place {
  readonly id: string
  /** Of the decision, in ISO 8601. */
  readonly time: string
  readonly url: string
  /** The verdict and its reason, in words. */
  readonly recorded: string
  readonly replayed: string
}

/** The result of `replay`: how many decisions there are, and how many come out the same or different. */
export interface Replay extends Readonly<Record<'decisions' | 'same' | 'different', number>> {
  /**
   * How many decisions can't be made once more, by the reason. `url-incomplete`: the URL is hashed,
   * or invalid without its credentials. `unreadable`: something is missing in the record, or in a
   * line that may have been one. The others are `robots-txt-missing`, `robots-txt-damaged`, and
   * `newer-version` for a record by a later version of Politely.
   */
  readonly notReplayable: Readonly<Record<string, number>>
}

/** The files whose rules stay in memory, by the sum of their sizes. */
const MAX_RULES_BYTES = 64 * 2 ** 20

/**
 * Makes all decisions of a folder once more with this version: the same robots.txt, the same state
 * of the site, the same time, the same options. Counts those that come out the same: the same
 * verdict by the same line.
 * @param options "What if?": the `productTokens` to look for in robots.txt, and the `dialect` by which
 * robots.txt, and a 401 or 403 for it, is read. Default: the names and the dialect of each decision. `onDifference`:
 * called with each decision that comes out differently.
 * @throws {OptionError} if this is not a folder, a folder without records, or for an unknown dialect.
 */
export async function replayEvidence(
  dir: string,
  options: {
    readonly dialect?: DialectName | Dialect | undefined
    readonly productTokens?: readonly string[] | undefined
    readonly onDifference?: ((difference: ReplayDifference) => unknown) | undefined
  } = {},
): Promise<Replay> {
  const folder = new EvidenceFolder(dir)
  const decideAgain = replayer(folder, options.dialect && dialectFor(options.dialect), options.productTokens)
  const counts = { decisions: 0, same: 0, different: 0 }
  const notReplayable: Record<string, number> = {}
  for await (const { link, record, level, file, line } of folder.items()) {
    if (link === undefined ? level !== 'error' : link.kind !== 'decision') continue
    counts.decisions++
    const why = link !== undefined && link.v > RECORD_VERSION ? 'newer-version' : 'unreadable'
    const result = record?.kind === 'decision' ? await compare(record, decideAgain) : why
    if (result === 'same') counts.same++
    else if (typeof result === 'string') notReplayable[result] = (notReplayable[result] ?? 0) + 1
    else {
      counts.different++
      await options.onDifference?.({ file, line, ...result })
    }
  }
  return { ...counts, notReplayable }
}

/** Returns `same`, why a decision can't be made once more, or how it comes out differently. */
async function compare(
  record: DecisionRecord,
  decideAgain: ReturnType<typeof replayer>,
): Promise<string | Omit<ReplayDifference, keyof Place>> {
  const { id, time, url, verdict, access, hashed, hadCredentials } = record
  if (hashed !== undefined || (hadCredentials && verdict.because === 'invalid-url')) return 'url-incomplete'
  try {
    const recorded = { ...verdict, access, url } as Describable
    const replayed = await decideAgain(record)
    if (typeof replayed === 'string') return replayed
    const [old, now] = [recorded, replayed].map((each) => describeVerdict({ ...each, access: undefined }))
    if (old === now) return 'same'
    return { id, time, url, recorded: describeVerdict(recorded), replayed: describeVerdict(replayed) }
  } catch (error) {
    if ((error as NodeJS.ErrnoException).syscall !== undefined) throw error
    return 'unreadable' // the record was changed: a part of it is missing, or is not known
  }
}

/** Returns a function that returns the verdict of this version, or why there is none. */
function replayer(folder: EvidenceFolder, other?: Dialect, otherTokens?: readonly string[]) {
  const known = new LRUCache<string, { readonly bytes: string; readonly rules: CrawlerRules }>({
    maxSize: MAX_RULES_BYTES,
    sizeCalculation: ({ bytes }, key) => 2 * bytes.length + key.length + 1000,
  })
  return async ({ url, by, origin, state, robotsTxt, time }: DecisionRecord): Promise<Describable | string> => {
    const parsed = parseUrl(url)
    if (typeof parsed === 'string') return { allowed: false, because: 'invalid-url', problem: parsed, url }
    const at = Date.parse(time)
    if (origin === undefined || state === undefined || Number.isNaN(at + by.policy.minTtlMs)) return 'unreadable'
    const reading = other ?? dialectFor(by.dialect as DialectName | Dialect)
    const tokens = otherTokens ?? by.productTokens
    const key = JSON.stringify([robotsTxt?.sha256, origin, reading, tokens])
    let file = known.get(key)
    if (file === undefined) {
      const { bytes, problem } = robotsTxt ? await folder.robotsFile(robotsTxt.sha256) : { bytes: '' }
      if (bytes === undefined) return `robots-txt-${problem}`
      // As in a client, the rules of a copy are bound to its origin; without a copy there are none.
      const robots = parseRobots({ bytes }, { dialect: reading, ...(robotsTxt && { origin }) })
      file = { bytes, rules: robots.forCrawler(tokens) }
      known.set(key, file)
    }
    const { forbidden } = other?.access ?? by.policy
    const asRead = (attempt: Entry['latest']) =>
      other && (attempt.status === 401 || attempt.status === 403) ? { ...attempt, kind: forbidden } : attempt
    const entry = {
      ...state,
      ...{ version: ENTRY_VERSION, origin, earlier: [], latest: asRead(state.latest) },
      held: state.held && { ...state.held, attempt: asRead(state.held.attempt) },
      copy: robotsTxt && { ...robotsTxt, bytes: file.bytes },
    } as Entry
    const policy = { ...by.policy, forbidden, afterDays: by.policy.afterDays ?? Infinity } // JSON has no Infinity
    const { verdict, access } = decide(entry, file.rules, parsed, at, policy)
    return { ...verdict, access, url }
  }
}
