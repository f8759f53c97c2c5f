// Rules that nearly match a URL, and what keeps each from it: for `politely explain`.
//
// A rule is near if it matches as soon as one or two differences are set aside: another case, a
// final `$`, a missing slash, percent-encoding, and the like. `tracePattern` tries them.
import { textOf } from '../bytes.ts'
import type { ParsingRules } from '../dialect.ts'
import { hostedUrlIn } from '../lint/path.ts'
import { hostWithoutWww, meantPath } from '../lint/paths/meant-path.ts'
import type { Explanation } from '../match/explanation.ts'
import { type PatternTrace, tracePattern } from '../match/trace.ts'
import { isRule, type ParsedRule } from '../parse/records.ts'
import type { Robots } from '../robots.ts'
import { printableForm, ruleForm } from '../url/normal-form.ts'
import { hostOf, originOf } from '../url/origin.ts'

/** A rule that nearly matches. */
export interface NearRule {
  readonly directive: 'allow' | 'disallow'
  /** The pattern as written in the file. */
  readonly text: string
  readonly line: number
  /** What keeps it from matching, for people: `its $ requires the URL to end there, but it goes on with "?a=1"`. */
  readonly why: string
}

/** A pattern and a path in normal form. */
interface Pair {
  readonly form: string
  readonly target: string
}

/** Sets one difference aside. */
interface Relaxation {
  /** Returns the pair without the difference; undefined if it has none. */
  readonly relax: (pair: Pair) => Pair | undefined
  /** @param trace Of the relaxed pair. */
  readonly why: (pair: Pair, trace: PatternTrace) => string
}

const CASE: Relaxation = {
  relax: ({ form, target }) => ({ form: form.toLowerCase(), target: target.toLowerCase() }),
  why: ({ form, target }, { steps }) => {
    const pieces = form
      .replace(/\$$/, '')
      .split('*')
      .filter((piece) => piece !== '')
    const literals = steps.filter(({ part }) => part !== '*' && part !== '$')
    const i = literals.findIndex(({ start, end }, k) => target.slice(start, end) !== pieces[k])
    return `the case differs: the URL has "${target.slice(literals[i]?.start, literals[i]?.end)}"`
  },
}

const END: Relaxation = {
  relax: ({ form, target }) => {
    // `/a/$` is for the folder alone, so its pages are not near. Only a query is.
    if (form.endsWith('/$')) return target.includes('?') ? { form, target: target.split('?', 1)[0] ?? '' } : undefined
    return form.endsWith('$') ? { form: form.slice(0, -1), target } : undefined
  },
  why: ({ target }, { steps }) =>
    `its $ requires the URL to end there, but it goes on with "${target.slice(steps.at(-1)?.end)}"`,
}

const SLASH: Relaxation = {
  relax: ({ form, target }) => {
    // With a slash, every URL would match `/*/`.
    if (/\*\/\$?$/.test(form)) return undefined
    const longer = target.replace(/^([^?]*[^/?])(?=\?|$)/, '$1/')
    return longer === target ? undefined : { form, target: longer }
  },
  why: ({ target }) => `the URL has no slash after "${target.split('?', 1)[0]}"`,
}

const ENCODING: Relaxation = {
  relax: ({ form, target }) => ({ form: decoded(form), target: decoded(target) }),
  why: ({ target }) => `"${target}" has other percent-encoding`,
}

function decoded(form: string): string {
  return form.replace(/(?:%[\dA-F]{2})+/gi, (bytes) => {
    try {
      return decodeURIComponent(bytes)
    } catch {
      return bytes
    }
  })
}

const PARAMETER: Relaxation = {
  relax: ({ form, target }) =>
    /[?&]/.test(form) ? { form: form.replace(/\?(?=.)/, '?*&').replace(/^([^?]*)&/, '$1?'), target } : undefined,
  why: ({ form }) =>
    form.includes('?')
      ? 'the URL has the parameter after another one, with & before it'
      : 'the URL has the parameter first, with ? before it',
}

/** In the order in which they are tried. */
const RELAXATIONS: readonly Relaxation[] = [CASE, END, SLASH, ENCODING, PARAMETER]

const MAX_SHOWN = 3

/** Bounds the time for a large file and a long URL: the sum of the bytes of pattern × path. */
const MAX_WORK = 30_000_000

/**
 * Returns the rules that would change the verdict if they matched, and that nearly do: the nearest
 * three.
 *
 * @param url The URL that is explained. Without it, or for a path alone, the file's origin has its host.
 */
export function nearRules(
  robots: Robots,
  { target, verdict, groups, matches }: Explanation,
  url = '',
): readonly NearRule[] {
  if (target === undefined || (verdict.because !== 'rule' && verdict.because !== 'no-rule-matched')) return []
  const { parsing } = robots.dialect
  const file = robots.fields()
  const lines = new Set(groups.map(({ line }) => line))
  const rules = file.groups.filter(({ line }) => lines.has(line)).flatMap((group) => group.rules)
  const others = rules.filter(
    (rule) => isRule(rule) && rule.value !== '' && (rule.field === 'allow') !== verdict.allowed,
  )
  const host = hostWithoutWww(hostOf(originOf(url) ?? originOf(robots.origin ?? '') ?? ''))
  let work = 0
  const near = others.flatMap((rule) => {
    // A short pattern or path takes time too.
    work += (rule.value.length + 16) * (target.length + 16)
    if (work > MAX_WORK) return []
    if (verdict.because === 'rule' && !wins(rule, verdict.rule, parsing)) return []
    const { field: directive, line } = rule
    if (matches.some((match) => match.line === line)) return []
    const found = differenceOf(rule, target, host, parsing, matches.length === 0)
    return found === undefined ? [] : [{ directive, text: textOf(rule.value), line, ...found }]
  })
  return [...near, ...rulesOfAll(robots, target, verdict.allowed, groups)]
    .sort((a, b) => a.rank - b.rank || b.text.length - a.text.length)
    .slice(0, MAX_SHOWN)
    .map(({ rank, ...rule }) => rule)
}

/** Returns the rule of the group for `*` that would decide, if the crawler read that group. */
function rulesOfAll(robots: Robots, target: string, allowed: boolean, groups: Explanation['groups']) {
  const { verdict, groups: ofAll } = robots.explain(target, '*')
  const isRead = ofAll.some(({ line }) => groups.some((group) => group.line === line))
  if (isRead || verdict.because !== 'rule' || verdict.allowed === allowed) return []
  const { directive, text, line } = verdict.rule
  return [{ directive, text, line, why: 'it is for *, and this crawler has its own group', rank: 5 }]
}

/** Whether a rule would decide instead of another one that it contradicts. */
function wins(rule: ParsedRule, other: { line: number; bytes: number }, { compare, winner }: ParsingRules): boolean {
  if (winner === 'first') return rule.line < other.line
  const bytes = ruleForm(rule.value, compare).length
  return rule.field === 'allow' ? bytes >= other.bytes : bytes > other.bytes
}

/**
 * @param host Of the URL, as `hostWithoutWww` returns it; empty if not known.
 * @param isAlone Whether no rule matches, so that a remote likeness counts too.
 */
function differenceOf(
  { value }: ParsedRule,
  target: string,
  host: string,
  { compare, wildcards }: ParsingRules,
  isAlone: boolean,
): { readonly why: string; readonly rank: number } | undefined {
  const traceOf = (pair: Pair) => tracePattern(pair.form, pair.target, wildcards)
  const pair = { form: printableForm(ruleForm(value, compare)), target }
  if (!/^[/*]/.test(value)) {
    const hosted = hostedUrlIn(value, new Set([host]))
    if (hosted !== undefined && host !== '' && hostWithoutWww(hosted.host) !== host) return undefined
    const meant = hosted?.path.replace(/^(?!\/)/, '/') ?? meantPath(value) ?? `/${value}`
    const isMeant = traceOf({ form: printableForm(ruleForm(meant, compare)), target }).matches
    return isMeant ? { why: `a path begins with a slash, as in "${textOf(meant)}"`, rank: 0 } : undefined
  }
  // The printable forms are equal, but not the bytes that are compared.
  if (traceOf(pair).matches) return { why: ENCODING.why(pair, traceOf(pair)), rank: 3 }
  if (wildcards === 'literal' && tracePattern(pair.form, target).matches)
    return { why: 'this dialect has no wildcards', rank: 0 }
  for (const [rank, { relax, why }] of RELAXATIONS.entries()) {
    const relaxed = relax(pair)
    const trace = relaxed === undefined ? undefined : traceOf(relaxed)
    if (trace?.matches) return { why: why(pair, trace), rank }
  }
  for (const [i, first] of RELAXATIONS.entries()) {
    const one = first.relax(pair)
    for (const second of one === undefined ? [] : RELAXATIONS.slice(i + 1)) {
      const two = second.relax(one as Pair)
      const trace = two === undefined ? undefined : traceOf(two)
      if (trace?.matches)
        return { why: `${first.why(second.relax(pair) ?? pair, trace)}, and ${second.why(pair, trace)}`, rank: 10 + i }
    }
  }
  const isLater =
    isAlone && pair.form.length > 2 && laterForms(pair.form).some((form) => traceOf({ form, target }).matches)
  return isLater
    ? { why: 'the URL has this later, and a rule matches from the beginning of the path', rank: 20 }
    : undefined
}

/** Returns patterns that find a rule later in a path, and not only as a part of a name there. */
function laterForms(form: string): readonly string[] {
  const base = form.replace(/\*+$/, '')
  return (/[/?.=&$]$/.test(base) ? [''] : ['/', '?', '.', '&', '$']).map((end) => `/*${base}${end}`)
}
