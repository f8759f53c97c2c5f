// Repairs what the linter finds, as far as no verdict changes: `politely lint --fix`, and the quick
// fixes of the playground.
//
// A fix replaces one line, or removes it. It is applied if `Proof` (proof.ts) proves that it changes
// no verdict. The fixes of a pass are proved one after another, each for the file with the fixes
// before it: of two equal rules, each is superfluous, but only one of them can go.
import { encodeText, rangeOf } from '../bytes.ts'
import { dialects } from '../dialect.ts'
import type { Finding } from '../lint/finding.ts'
import type { CodeWithText, FindingCode } from '../lint/finding-kinds.ts'
import { lintRobots } from '../lint/lint-robots.ts'
import { isRule, type ParsedFile, parseFields } from '../parse/records.ts'
import { formsOf } from '../parse/rule-forms.ts'
import { parseRobots } from '../parse-robots.ts'
import { findingFixes } from './finding-fixes.ts'
import { ignoredFindings } from './ignored-findings.ts'
import { NO_COVER, ONLY_GOOGLE, Proof } from './proof.ts'
import { crawlerName, pathsNear, sampleUrl } from './sample-paths.ts'

/** One repaired line. */
export interface Fix {
  readonly code: FindingCode
  /** The line in the file before this pass. Counted from 1. */
  readonly line: number
  readonly before: string
  /** Undefined if the line is removed. */
  readonly after: string | undefined
  /** Why the fix may change a verdict, or which one it changes; undefined if it changes none. */
  readonly changes: string | undefined
}

export interface FixedFile {
  readonly text: string
  readonly applied: readonly Fix[]
  /** Fixes that may change a verdict, and were not applied. */
  readonly left: readonly Fix[]
}

/** Each pass may make a finding of another line or kind visible, such as a duplicate. */
const MAX_PASSES = 4

/** Bounds the time for a hostile file: comparing this many pairs of rules takes a few seconds. */
const MAX_STEPS = 100_000_000

/** An editor asks for quick fixes after each pause in typing. */
const MAX_QUICK_STEPS = 2_000_000

/** @param isAll Whether to apply fixes that may change a verdict, too. */
export function fixRobots(source: string, isAll: boolean): FixedFile {
  let text = source
  const applied: Fix[] = []
  let left: readonly Fix[] = []
  for (let pass = 0; pass < MAX_PASSES; pass++) {
    const fixes = provedFixes(text, MAX_STEPS, ({ changes }) => isAll || changes === undefined)
    const chosen = isAll ? fixes : fixes.filter(({ changes }) => changes === undefined)
    left = isAll ? [] : fixes.filter(({ changes }) => changes !== undefined)
    if (chosen.length === 0) break
    text = applyFixes(text, chosen)
    applied.push(...chosen)
  }
  return { text, applied, left }
}

/** Returns the fix of each line, with what it changes if it is the only one. */
export function quickFixes(text: string): readonly Fix[] {
  return provedFixes(text, MAX_QUICK_STEPS, () => false)
}

/** @param isApplied Whether the next fixes are proved for the file with this one. */
function provedFixes(text: string, maxSteps: number, isApplied: (fix: Fix) => boolean): readonly Fix[] {
  const fixes = fixesOf(text)
  if (fixes.length === 0) return fixes
  const proof = new Proof(fieldsOf(text), maxSteps)
  const proved = fixes.map((fix) => {
    const after = fix.after === undefined ? undefined : fieldsOf(fix.after).fields[0]
    const risk = ownRisk(fix) ?? proof.riskOf(fix.line, after)
    const isOfSpelling = FIXES[fix.code] === 'reencode' && risk?.endsWith(ONLY_GOOGLE)
    const proved = { ...fix, changes: isOfSpelling ? 'Google reads the two spellings differently' : risk }
    if (isApplied(proved)) proof.apply(fix.line, after)
    return proved
  })
  return withExamples(text, proved)
}

/** Why the author must decide about a fix, whatever the other lines are. */
function ownRisk({ code, after }: Fix): string | undefined {
  if (FIXES[code] === 'revive') return 'the line does nothing now, and would do something'
  if (FIXES[code] === 'reread' || /[\r\n]/.test(after ?? '')) return 'crawlers would read it in another way than now'
  return undefined
}

/**
 * What the fix of a finding does:
 * - `remove`: the line is superfluous.
 * - `respell`: writes the line in another spelling, or a preference on the use of content as the
 *   only thing that the line can mean. Preferences change no verdict.
 * - `reencode`: the path means the same by RFC 9309, but not to Google, which compares it unchanged.
 * - `revive`: the line does nothing now, so the fix adds a rule. It may change verdicts on many paths.
 * - `reread`: crawlers read the line in another way than its author. The fix may be several lines.
 * - `rename`: writes the name of a user-agent line.
 * - `none`: only the author can tell what is meant.
 *
 * `revive` and `reread` are left to the user.
 */
type FixKind = 'remove' | 'respell' | 'reencode' | 'revive' | 'reread' | 'rename' | 'none'

/** The fixes. A finding that says what to write instead needs one: `fix` in its row. */
const FIXES: Readonly<Record<CodeWithText, FixKind> & Partial<Record<FindingCode, FixKind>>> = findingFixes

/** At most one fix for each line in a pass. */
export function fixesOf(text: string): readonly Fix[] {
  const lines = linesOf(text)
  const ignored = ignoredFindings(lines.map(({ text: content }) => content)).byLine
  const fixes = new Map<number, Fix>()
  for (const finding of lintRobots(encodeText(text))) {
    const { code, line } = finding
    if (ignored.get(line)?.has(code)) continue
    const before = lines[line - 1]
    if (before === undefined || fixes.has(line)) continue
    const after = replacementOf(finding, before)
    if (after === before.text || (after !== undefined && closesOrOpensAll(before.text, after))) continue
    fixes.set(line, { code, line, before: before.text, after, changes: undefined })
  }
  return [...fixes.values()]
}

/**
 * Returns the line to write, or undefined to remove the line. Without a fix it returns the line
 * itself.
 */
function replacementOf({ code, write }: Finding, { text: before, end }: Line): string | undefined {
  const { [code]: kind = 'none' } = FIXES
  if (kind === 'remove') return undefined
  if (kind === 'reread' && write !== undefined) {
    const [, comment = ''] = /(\s*#.*)$/.exec(before) ?? []
    return `${write.join(end === '' ? '\n' : end)}${code === 'escaped-line-end' ? '' : comment}`
  }
  const [only, another] = write ?? []
  if (kind === 'none' || only === undefined || another !== undefined) return before
  const comment = /\s*#.*$/.exec(before)?.[0] ?? ''
  return kind === 'rename'
    ? `User-agent: ${only}${comment}`
    : `${/^[\s\ufeff]*/.exec(before)?.[0] ?? ''}${only}${comment}`
}

/**
 * Whether a repaired line has a rule for all paths that the line has not now. No fix closes or opens
 * a whole site: only its owner can know that.
 */
function closesOrOpensAll(before: string, after: string): boolean {
  const now = rulesForAll(before)
  return [...rulesForAll(after)].some((field) => !now.has(field))
}

function rulesForAll(text: string): ReadonlySet<string> {
  const { parsing } = dialects.rfc9309
  const rules = fieldsOf(text).fields.filter(isRule)
  return new Set(
    rules.filter((rule) => formsOf(rule, parsing).some(({ base }) => base === '/')).map(({ field }) => field),
  )
}

function fieldsOf(text: string): ParsedFile {
  return parseFields(rangeOf(encodeText(text)), dialects.rfc9309.parsing)
}

interface Line {
  readonly text: string
  readonly end: string
}

function linesOf(text: string): readonly Line[] {
  return Array.from(text.matchAll(/([^\r\n]*)(\r\n|\r|\n|$)/g), ([, content = '', end = '']) => ({
    text: content,
    end,
  }))
}

/** Returns the text with its lines replaced. */
export function applyFixes(text: string, fixes: readonly Fix[]): string {
  const byLine = new Map(fixes.map((fix) => [fix.line, fix]))
  return linesOf(text)
    .map(({ text: content, end }, i) => {
      const fix = byLine.get(i + 1)
      if (fix === undefined) return `${content}${end}`
      return fix.after === undefined ? '' : `${fix.after}${end}`
    })
    .join('')
}

/** More examples take more time than they tell. */
const MAX_EXAMPLES = 20

/** Returns the fixes, each that no rule covers with a verdict that it changes. */
function withExamples(text: string, fixes: readonly Fix[]): readonly Fix[] {
  const { fields, groups } = fieldsOf(text)
  const robots = (source: string, dialect: 'rfc9309' | 'google') => parseRobots(encodeText(source), { dialect })
  let examples = 0
  return fixes.map((fix) => {
    if (fix.changes?.startsWith(NO_COVER) !== true || examples++ >= MAX_EXAMPLES) return fix
    const { group = -1, value = '' } = fields.find(({ line }) => line === fix.line) ?? {}
    const crawler = crawlerName(groups[group]?.agents[0] ?? '')
    for (const dialect of ['rfc9309', 'google'] as const) {
      const [before, after] = [text, applyFixes(text, [fix])].map((source) =>
        robots(source, dialect).forCrawler(crawler),
      )
      const changed = pathsNear(value, dialects[dialect].parsing).find(
        (path) => before?.isAllowed(sampleUrl(path)) !== after?.isAllowed(sampleUrl(path)),
      )
      if (changed === undefined) continue
      const becomes = after?.isAllowed(sampleUrl(changed)) ? 'allowed' : 'disallowed'
      return {
        ...fix,
        changes: `${changed} becomes ${becomes} for ${crawler}${dialect === 'google' ? ONLY_GOOGLE : ''}`,
      }
    }
    return fix
  })
}
