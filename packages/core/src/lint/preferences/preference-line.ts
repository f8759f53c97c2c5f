// Checks preferences on the use of content, line by line: Content-Usage (AIPREF) and Content-Signal
// (Content Signals). Both are lists of `label=answer`, with an optional path before them, and both
// are about the same purposes. But their labels and answers differ, and so do their readers:
//
//   Content-Usage: /blog/ train-ai=n, search=y       a Dictionary of RFC 9651; else nothing is read
//   Content-Signal: /blog/ ai-train=no, search=yes   no exact syntax
//
// So a line is split in a lenient way first. If all its parts have one possible meaning, the
// findings say how to write the whole line.
import { textOf } from '../../bytes.ts'
import {
  aiprefLabels,
  contentSignalLabels,
  contentSignalUses,
  currentAiprefDraft,
  type LabelPurpose,
} from '../../parse/preference-labels.ts'
import { quoted, type ReportFinding } from '../finding.ts'
import type { FindingCode } from '../finding-kinds.ts'
import { canonicalKey } from '../key.ts'

export type PreferenceField = 'content-usage' | 'content-signal'

/** The labels and answers of a field. */
interface Vocabulary {
  readonly labels: ReadonlyMap<string, LabelPurpose>
  readonly answers: Readonly<Record<Answer, string>>
}

type Answer = 'yes' | 'no'

const ALL_AIPREF = new Map(Object.entries(aiprefLabels))
const SIGNALS = new Map(Object.entries(contentSignalLabels))

const VOCABULARIES: Readonly<Record<PreferenceField, Vocabulary>> = {
  'content-usage': {
    labels: new Map([...ALL_AIPREF].flatMap(([label, { purpose, current }]) => (current ? [[label, purpose]] : []))),
    answers: { yes: 'y', no: 'n' },
  },
  'content-signal': {
    labels: SIGNALS,
    answers: { yes: 'yes', no: 'no' },
  },
}

/** @param value One character for each byte. */
export function lintPreferences(field: PreferenceField, value: string, line: number, report: ReportFinding): void {
  const { path, list } = splitPreference(value)
  if (list === '') {
    report('unreadable-preference', { line, found: 'a line without a preference' })
    return
  }
  const items = itemsIn(list).map((item) => checkItem(item, field))
  const lineWith = (parts: readonly (string | undefined)[]): readonly string[] =>
    parts.length === 0 || parts.includes(undefined)
      ? []
      : [textOf(`${canonicalKey(field)}: ${path && `${path} `}${parts.join(', ')}`)]
  const corrected = lineWith(items.map(({ better }) => better))
  const found = value.startsWith(path) ? syntaxError(list, field) : 'a path without a slash before it'
  if (found !== undefined) {
    if (field === 'content-usage') {
      report('unreadable-content-usage', { line, found }, ...corrected)
      return
    }
    report('content-signal-spelling', { line, found }, ...corrected)
  }
  for (const code of new Set(items.map((item) => item.code))) {
    const [first, ...others] = items.filter((item) => item.code === code)
    if (code === undefined || first === undefined) continue
    const found = `${quoted(textOf(first.text))}${others.length > 0 ? ` (and ${others.length} more)` : ''}${first.why}`
    const write = code === 'expired-label' ? lineWith(items.map(newestForm)) : corrected
    report(code, { line, found }, ...(code === 'unknown-label' ? [] : write))
  }
  lintSeveralAnswers(items, line, report)
}

/** A preference whose path, which may be empty, is apart from its list of labels. */
interface Preference {
  readonly path: string
  readonly list: string
}

/**
 * Splits a value. A path without its slash, or a whole URL, becomes the path that was probably
 * meant.
 */
export function splitPreference(value: string): Preference {
  const [, path = '', list = ''] = /^(\/[^\t ]*)[\t ]*(.*)$/s.exec(value) ?? []
  if (path !== '') return { path, list }
  const [, word = '', rest = ''] = /^([^\t ,;=]+)[\t ]+(.+)$/s.exec(value) ?? []
  if (!/[/*]/.test(word) || isDictionary(value)) return { path: '', list: value }
  return { path: word.replace(/^(?:https?:\/\/[^/]*)?\/?/i, '/'), list: rest }
}

/** One `label=answer` as in the file. */
interface RawItem {
  readonly text: string
  readonly label: string
  readonly value: string
  /** Whether a semicolon precedes it. */
  readonly isParameter: boolean
}

function itemsIn(list: string): readonly RawItem[] {
  return Array.from(list.matchAll(ITEM), ([all, before = '', label = '', value = '']) => ({
    text: all.slice(before.length),
    label: label.toLowerCase(),
    value,
    isParameter: before.includes(';'),
  }))
}

/** A label and a value. The look-behind bounds the time in a long run of blanks. */
const ITEM = /(?<![\t ,;])([\t ,;]*)([^\t ,;=]+)(?:(?<![\t ])[\t ]*=[\t ]*("(?:[^"\\]|\\.)*"?|\([^)]*\)?|[^\t ,;]*))?/g

/** An item, what is wrong with it, and how to write it. */
interface CheckedItem extends RawItem {
  /** Undefined if nothing is wrong. */
  readonly code: FindingCode | undefined
  /** The reason, or the source of the label; it follows the quoted item. */
  readonly why: string
  /** How to write the item; undefined if that is not certain. */
  readonly better: string | undefined
  /** How to write a label of an older draft today; undefined if no label has its meaning. */
  readonly newest?: string | undefined
}

/** Looks for a label in its own field, then in older drafts, then in the other field. */
function checkItem(item: RawItem, field: PreferenceField): CheckedItem {
  const { label, value, isParameter } = item
  const { labels, answers } = VOCABULARIES[field]
  const isSignal = field === 'content-signal'
  const old = ALL_AIPREF.get(label)
  const purpose = labels.get(label) ?? old?.purpose ?? SIGNALS.get(label)
  const own = labels.has(label) ? label : [...labels.keys()].find((name) => labels.get(name) === purpose)
  const answer = answerOf(value)
  const written = (name: string | undefined) => name && answer && `${name}=${answers[answer]}`
  const result = (code?: FindingCode, why = '', better = written(own)): CheckedItem => ({ ...item, code, why, better })

  if (isSignal && label === 'use') {
    const use = contentSignalUses.find((one) => one === value.toLowerCase())
    return use === undefined
      ? result('unreadable-preference', noneOf(contentSignalUses))
      : result(undefined, '', `use=${use}`)
  }
  if (isParameter && !isSignal) {
    // Parameters have no meaning, but may have any name.
    if (purpose === undefined) return result()
    return result('unreadable-preference', ', because a semicolon precedes it')
  }
  if (labels.has(label)) {
    const { yes, no } = answers
    const known = isSignal ? value.toLowerCase() : value
    if (known === yes || known === no) return result()
    const isOther = /^(?:y|n|yes|no)$/.test(value)
    return isOther ? result('preference-of-other-field') : result('unreadable-preference', noneOf([yes, no]))
  }
  if (!isSignal && old !== undefined) {
    const drafts = ` (${old.drafts.join(', ')}; the newest is ${currentAiprefDraft})`
    return { ...result('expired-label', drafts, written(label)), newest: written(own) }
  }
  if (purpose !== undefined || (!isSignal && label === 'use')) return result('preference-of-other-field')
  const better = /^[a-z*][a-z0-9_.*-]*=[\w-]+$/.test(`${label}=${value}`) ? `${label}=${value}` : undefined
  return result('unknown-label', ` (defined: ${[...labels.keys()].join(', ')})`, better)
}

function noneOf(values: readonly string[]): string {
  return `, because its value is none of ${values.join(', ')}`
}

function newestForm({ code, newest, better }: CheckedItem): string | undefined {
  return code === 'expired-label' ? newest : better
}

/** Returns the answer that a value surely means. */
function answerOf(value: string): Answer | undefined {
  if (/^"?(?:y|yes|true|allow|\?1)"?$/i.test(value)) return 'yes'
  return /^"?(?:n|no|false|disallow|\?0)"?$/i.test(value) ? 'no' : undefined
}

/** Returns why crawlers, or some of them, cannot read a list; undefined if all can. */
function syntaxError(list: string, field: PreferenceField): string | undefined {
  const isUsage = field === 'content-usage'
  if (isUsage && isDictionary(list)) return undefined
  if (/[A-Z]/.test(isUsage ? list.replace(/=[^,;]*/g, '') : list)) return 'an uppercase letter'
  if (/^,|,$|,[\t ]*,/.test(list)) return 'a comma without a label beside it'
  if (/[\t ]=|=[\t ]/.test(list)) return 'a space beside ='
  if (/=[^\t ,;=]*[\t ]+[^\t ,;]/.test(list)) return 'a missing comma'
  if (isUsage) return 'its syntax (RFC 9651)'
  return /[^\t ,][\t ]+[^\t ,]|;/.test(list) ? 'a separator that is not a comma' : undefined
}

/** Reports a label with different answers on one line. */
function lintSeveralAnswers(items: readonly CheckedItem[], line: number, report: ReportFinding): void {
  const answers = new Map<string, string>()
  const differs = items.find(({ label, value, isParameter }) => {
    const answer = answerOf(value) ?? value
    const first = answers.get(label) ?? answer
    if (!isParameter) answers.set(label, first)
    return !isParameter && first !== answer
  })
  if (differs !== undefined) report('several-preferences', { line, found: quoted(textOf(differs.label)) })
}

// The syntax of a Dictionary. RFC 9651 §4.2.2.

const KEY = /[a-z*][a-z0-9_.*-]*/y
/** Token, Decimal, Integer, String, Byte Sequence, Boolean, Date or Display String. */
const VALUE =
  /[A-Za-z*][\w!#$%&'*+.^`|~:/-]*|-?\d{1,12}\.\d{1,3}|-?\d{1,15}|"(?:[ !#-[\]-~]|\\["\\])*"|:[\w+/=]*:|\?[01]|@-?\d{1,15}|%"(?:[ !#$&-~]|%[0-9a-f]{2})*"/y
const EQUALS = /=/y
const SEMICOLON = /; */y
const COMMA = /[\t ]*,[\t ]*/y
const LIST_START = /\( */y
const LIST_END = /\)/y
/** Follows an item of an Inner List. */
const BEFORE_NEXT = / +|(?=\))/y

/** Returns whether a text parses as a Dictionary with at least one member. */
function isDictionary(text: string): boolean {
  let at = 0
  const skip = (token: RegExp): boolean => {
    token.lastIndex = at
    const isNext = token.test(text)
    if (isNext) at = token.lastIndex
    return isNext
  }
  const parameters = (): boolean => {
    while (skip(SEMICOLON)) if (!skip(KEY) || (skip(EQUALS) && !skip(VALUE))) return false
    return true
  }
  const item = (): boolean => skip(VALUE) && parameters()
  const innerList = (): boolean => {
    while (!skip(LIST_END)) if (!item() || !skip(BEFORE_NEXT)) return false
    return parameters()
  }
  do {
    if (!skip(KEY)) return false
    const hasValue = skip(EQUALS)
    if (!(hasValue ? (skip(LIST_START) ? innerList() : item()) : parameters())) return false
  } while (skip(COMMA))
  return at === text.length
}
