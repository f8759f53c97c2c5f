// Proves that a repaired line changes no verdict, for any path and any crawler, in the dialects
// `rfc9309` and `google`. Or says why it may change a verdict.
//
// A line with the same field and value as before changes nothing. Nor does a line that no verdict
// depends on, such as a Sitemap. That leaves the rules. Replacing a rule means adding its new forms
// (rule-forms.ts), then removing its old forms. Either step changes no verdict if the other rules
// decide the same for every path of the form:
//
//   1. The form matches no path.
//   2. A rule of the group overrules it: does the opposite, is stronger, and matches all its paths.
//   3. A rule of the group covers it: does the same, and matches all its paths. No rule of the file
//      that may match one of them wins against the cover and loses against the form.
//
// Where no rule matches, a path is allowed. So an Allow is covered by a rule of length 0.
//
// Groups for one crawler are merged, and google/robotstxt merges the groups of several names. So
// any rule of the file may be a rival, but only a rule of the same group overrules or covers.
import { dialects, type ParsingRules } from '../dialect.ts'
import { isWholeName, nameOf } from '../lint/name.ts'
import { recordAudiences } from '../parse/directive.ts'
import { isRecord, isRule, type ParsedField, type ParsedFile, type ParsedRule } from '../parse/records.ts'
import { END, formsOf, headOf, type RuleForm } from '../parse/rule-forms.ts'

/** Longer patterns are compared as a whole only, which bounds the time. */
const MAX_COMPARED_LENGTH = 2_000

/** Begins the reason of a form that no rule covers. */
export const NO_COVER = 'no other rule of the group does the same for all its paths'

/** Ends a reason that holds in the dialect `google` only. */
export const ONLY_GOOGLE = ' (Google)'

const NOT_COMPARED = 'not compared with all rules, because the file is too large'

/** The proofs for one file, while its lines are repaired one after another. */
export class Proof {
  readonly #fields: ReadonlyMap<number, ParsedField>
  /** How many rules are left in each group. */
  readonly #rules: number[]
  /** The groups with records about crawlers. */
  readonly #withRecords: ReadonlySet<number | undefined>
  readonly #readers: readonly Reader[]

  /** @param maxSteps How many pairs of rules are compared at most. */
  constructor({ fields, groups }: ParsedFile, maxSteps: number) {
    this.#fields = new Map(fields.map((field) => [field.line, field]))
    this.#rules = groups.map(({ rules }) => rules.length)
    this.#withRecords = new Set(fields.flatMap(({ agents, group }) => (agents === undefined ? [] : [group])))
    const rules = fields.filter(isRule)
    this.#readers = [dialects.rfc9309, dialects.google].map(({ parsing }) => new Reader(rules, parsing, maxSteps))
  }

  /**
   * Returns why a repair may change a verdict; undefined if it changes none.
   *
   * @param after The field of the repaired line; undefined if the line is removed.
   */
  riskOf(line: number, after: ParsedField | undefined): string | undefined {
    const before = this.#fields.get(line)
    if (before !== undefined && isRule(before)) return this.#riskOfRule(before, after)
    if (before?.field === 'user-agent') return this.#riskOfName(before, after)
    if (isIndependent(before) && isIndependent(after)) return undefined
    return isSameRecord(before, after) ? undefined : 'the line would get another meaning'
  }

  /** Compares the next repairs with this one. */
  apply(line: number, after: ParsedField | undefined): void {
    const before = this.#fields.get(line)
    if (before?.group === undefined || !isRule(before)) return
    const rule = after !== undefined && isRule(after) ? after : undefined
    for (const reader of this.#readers) reader.apply(before, rule)
    if (rule === undefined) this.#rules[before.group] = (this.#rules[before.group] as number) - 1
  }

  #riskOfRule(before: ParsedRule, after: ParsedField | undefined): string | undefined {
    if (after !== undefined && (after.field !== before.field || !isRule(after)))
      return 'the line would get another meaning'
    if (before.group === undefined) return undefined // crawlers ignore the line
    const [rfc9309, google] = this.#readers.map((reader) => reader.riskOf(before, after))
    if (rfc9309 !== undefined) return rfc9309
    if (google !== undefined) return `${google}${ONLY_GOOGLE}`
    return after === undefined && this.#rules[before.group] === 1
      ? 'without this rule, the names above it would share the rules of the next group'
      : undefined
  }

  /** Only a name that the group has twice is removed. */
  #riskOfName(before: ParsedField, after: ParsedField | undefined): string | undefined {
    if (after?.field === 'user-agent' && after.value === before.value) return undefined
    if (!isWholeName(before.value)) return 'some crawlers compare the whole name'
    if (after === undefined)
      return this.#withRecords.has(before.group) ? 'the records of the group may apply to other crawlers' : undefined
    const isSame = after.field === 'user-agent' && nameOf(after.value) === nameOf(before.value)
    return isSame ? undefined : 'the line would name another crawler'
  }
}

/** Whether no verdict depends on a line: it has no field, or one that is not for a crawler. */
function isIndependent(field: ParsedField | undefined): boolean {
  return (
    field === undefined ||
    (isRecord(field) && (field.field === 'unknown' || recordAudiences[field.field] === 'everyone'))
  )
}

/** Whether two records apply to the same crawlers, and their pace is the same. */
function isSameRecord(before: ParsedField | undefined, after: ParsedField | undefined): boolean {
  if (before === undefined || after === undefined || before.field !== after.field) return false
  return before.value === after.value || before.field === 'content-usage' || before.field === 'content-signal'
}

/** A form of a group, and how many rules have it. */
interface CountedForm extends RuleForm {
  count: number
}

/** How one dialect reads the rules. */
class Reader {
  readonly #parsing: ParsingRules
  readonly #forms = new Map<number, readonly RuleForm[]>()
  /** The forms of each group, by their base. */
  readonly #groups: Map<string, CountedForm[]>[] = []
  /**
   * The forms that may be rivals: by length, each head, with the line of the first form that has it.
   * Repaired rules stay.
   */
  readonly #rivals = { allow: new Map<number, Map<string, number>>(), disallow: new Map<number, Map<string, number>>() }
  #stepsLeft: number

  constructor(rules: readonly ParsedRule[], parsing: ParsingRules, maxSteps: number) {
    this.#parsing = parsing
    this.#stepsLeft = maxSteps
    for (const rule of rules) this.#add(rule, rule)
  }

  riskOf(before: ParsedRule, after: ParsedRule | undefined): string | undefined {
    const old = this.#forms.get(before.line) ?? []
    const repaired = after === undefined ? [] : formsOf(after, this.#parsing)
    const added = repaired.filter((form) => !old.some((other) => isEqual(form, other)))
    const removed = old.filter((form) => !repaired.some((other) => isEqual(form, other)))
    const group = before.group as number
    for (const form of added) {
      const risk = this.#riskOfForm(form, this.#matchingAll(form, group, []))
      if (risk !== undefined) return risk
    }
    for (const form of removed) {
      const replaced = added.filter(({ base }) => covers(base, form.base))
      const risk = this.#riskOfForm(form, [...this.#matchingAll(form, group, removed), ...replaced])
      if (risk !== undefined) return risk
    }
    return undefined
  }

  apply(before: ParsedRule, after: ParsedRule | undefined): void {
    for (const form of this.#forms.get(before.line) ?? []) {
      const counted = this.#groups[before.group as number]?.get(form.base)?.find((other) => isEqual(form, other))
      if (counted !== undefined) counted.count--
    }
    if (after !== undefined) this.#add(before, after)
  }

  /** @param place Has the line and the group. */
  #add({ line, group }: ParsedRule, rule: ParsedRule): void {
    if (group === undefined) return
    const forms = formsOf(rule, this.#parsing)
    this.#forms.set(line, forms)
    this.#groups[group] ??= new Map()
    for (const form of forms) {
      const ofBase = entryOf(this.#groups[group], form.base, () => [])
      const counted = ofBase.find((other) => isEqual(form, other))
      if (counted === undefined) ofBase.push({ ...form, count: 1 })
      else counted.count++
      const heads = entryOf(this.#rivals[form.allows ? 'allow' : 'disallow'], form.length, () => new Map())
      entryOf(heads, headOf(form.base, this.#parsing), () => line)
    }
  }

  /** Returns the forms of a group that match all paths of a form, but for these. */
  #matchingAll({ base }: RuleForm, group: number, without: readonly RuleForm[]): readonly RuleForm[] {
    const byBase = this.#groups[group]
    const found = [...(byBase?.get('/') ?? [])]
    for (let end = base.length > MAX_COMPARED_LENGTH ? base.length : 1; end <= base.length; end++) {
      const prefix = base.slice(0, end)
      if (prefix !== '/') found.push(...(byBase?.get(prefix) ?? NO_FORMS))
    }
    return found.filter((form) => form.count > without.filter((other) => isEqual(form, other)).length)
  }

  /** @param others The other forms of the group that match all its paths. */
  #riskOfForm({ allows, length, base }: RuleForm, others: readonly RuleForm[]): string | undefined {
    if (!/^[/*]/.test(base)) return undefined
    const isOverruled = others.some((other) => other.allows !== allows && length < other.length + (allows ? 0 : 1))
    if (isOverruled) return undefined
    const lengths = others.filter((other) => other.allows === allows).map((other) => other.length)
    const cover = Math.max(allows ? 0 : -1, ...lengths)
    if (cover === -1) return NO_COVER
    const head = headOf(base, this.#parsing)
    // An Allow wins against a Disallow of the same length.
    for (let at = allows ? cover + 1 : cover; at < (allows ? length + 1 : length); at++) {
      const rivals = this.#rivals[allows ? 'disallow' : 'allow'].get(at) ?? NO_RIVALS
      this.#stepsLeft -= rivals.size
      if (this.#stepsLeft < 0) return NOT_COMPARED
      for (const [other, line] of rivals) {
        if (other.startsWith(head) || head.startsWith(other)) return `line ${line} would win or lose against it`
      }
    }
    return undefined
  }
}

const NO_FORMS: readonly CountedForm[] = []
const NO_RIVALS: ReadonlyMap<string, number> = new Map()

/** Whether a base matches all paths of another one. */
function covers(base: string, other: string): boolean {
  return base === '/' || base === other || (!base.endsWith(END) && other.startsWith(base))
}

function isEqual(form: RuleForm, other: RuleForm): boolean {
  return form.allows === other.allows && form.length === other.length && form.base === other.base
}

/** Returns the value of a key. Sets a new value first if the key is missing. */
export function entryOf<K, V>(map: Map<K, V>, key: K, make: () => V): V {
  const found = map.get(key)
  if (found !== undefined) return found
  const made = make()
  map.set(key, made)
  return made
}
