// What a change of robots.txt does to the URLs of a site, by the line that causes it: for
// `politely diff` and the playground.
import { withoutCredentials } from '../describe-value.ts'
import type { CrawlerRules } from '../match/crawler-rules.ts'
import type { RulesVerdict } from '../match/verdict.ts'

/** What happens to the URLs of one crawler, by the line that causes it. */
export interface CrawlerChange {
  readonly crawler: string
  readonly disallowed: readonly LineChange[]
  readonly allowed: readonly LineChange[]
}

export interface LineChange {
  /**
   * `new` if a line of the new file decides now, `old` if a line of the old file no longer does.
   */
  readonly file: 'old' | 'new'
  /** Undefined if no line does: a group or the whole file went away. */
  readonly line: number | undefined
  readonly rule: string | undefined
  readonly count: number
  readonly examples: readonly string[]
}

const MAX_EXAMPLES = 3

/** Counts what changes for one crawler. */
export class ChangeCounter {
  readonly #crawler: string
  readonly #before: CrawlerRules
  readonly #after: CrawlerRules
  readonly #changes = { disallowed: new Map<string, LineChange>(), allowed: new Map<string, LineChange>() }

  /** How many URLs were invalid. */
  invalid = 0

  constructor(crawler: string, before: CrawlerRules, after: CrawlerRules) {
    this.#crawler = crawler
    this.#before = before
    this.#after = after
  }

  /** @param name What to show of the URL. */
  add(url: string, name: string = withoutCredentials(url)): void {
    const [old, now] = [this.#before.check(url), this.#after.check(url)]
    if (now.because === 'invalid-url') this.invalid++
    if (old.allowed === now.allowed) return
    const cause = causeOf(old, now)
    const key = `${cause.file} ${cause.line}`
    const found = this.#changes[now.allowed ? 'allowed' : 'disallowed']
    const { count = 0, examples = [] } = found.get(key) ?? {}
    const shown = examples.length < MAX_EXAMPLES ? [...examples, name] : examples
    found.set(key, { ...cause, count: count + 1, examples: shown })
  }

  result(): CrawlerChange {
    const { disallowed, allowed } = this.#changes
    const byCount = (changes: ReadonlyMap<string, LineChange>) =>
      [...changes.values()].sort((a, b) => b.count - a.count)
    return { crawler: this.#crawler, disallowed: byCount(disallowed), allowed: byCount(allowed) }
  }
}

/** The new rule that decides now; otherwise the old rule that no longer does. */
function causeOf(old: RulesVerdict, now: RulesVerdict): Pick<LineChange, 'file' | 'line' | 'rule'> {
  const [file, verdict] = now.because === 'rule' ? (['new', now] as const) : (['old', old] as const)
  if (verdict.because !== 'rule') return { file, line: undefined, rule: undefined }
  const { directive, text, line } = verdict.rule
  return { file, line, rule: `${directive === 'allow' ? 'Allow' : 'Disallow'}: ${text}` }
}
