// Parses the values of Content-Usage and Content-Signal: labels, each with yes or no.
import { parseDictionary, Token } from 'structured-headers'
import {
  aiprefLabels,
  contentSignalLabels,
  contentSignalUses,
  currentAiprefDraft,
  type SignalUse,
} from '../../parse/preference-labels.ts'
import { aiprefKey, CONTENT_SIGNALS } from '../documents.ts'
import type { Purpose, Statement, UsageSource } from '../purpose.ts'
import { datesAsIntegers } from '../structured-fields.ts'

/**
 * What a label says.
 * @inline
 */
export interface LabelAnswer {
  readonly purpose: Purpose
  readonly answer: Statement['answer']
  /** The label with its value, such as `train-ai=n`. */
  readonly label: string
  /** The document that defines the label. A key of `usageDocuments`. */
  readonly vocabulary: string
}

/** The parsed value of Content-Usage or Content-Signal. JSON-safe. */
export interface LabelValues {
  /** What the labels of the current vocabulary say. */
  readonly answers: readonly LabelAnswer[]
  /** What the labels of older drafts said. A reader of the current draft ignores them. */
  readonly older: readonly LabelAnswer[]
  /** The parts that were ignored, each with its reason: `foo=y is no label of vocab-08`. */
  readonly ignored: readonly string[]
  /** The values of the key `use` of Content Signals; an empty list without one. */
  readonly uses: readonly SignalUse[]
}

/** A value, and where it was found. */
export interface FoundValues {
  readonly values: LabelValues
  readonly source: UsageSource
}

/** A longer value is not read. Servers and clients limit all headers together to about as much. */
const MAX_LENGTH = 16_384

/** At most so many parts that were ignored are listed. */
const MAX_IGNORED = 20

/**
 * Parses preferences in the syntax of AIPREF: the value of the header `Content-Usage`, or of the
 * field in robots.txt without its path. It is a dictionary of RFC 9651: one mistake in it makes all
 * of it unknown. draft-ietf-aipref-vocab-08 §6.
 */
export function parseContentUsage(value: string): LabelValues {
  const answers: LabelAnswer[] = []
  const older: LabelAnswer[] = []
  const ignored: string[] = []
  for (const [key, [item]] of dictionaryOf(value, ignored)) {
    const known = Object.hasOwn(aiprefLabels, key) ? aiprefLabels[key] : undefined
    const token = item instanceof Token ? item.toString() : undefined
    const label = `${key}=${token ?? '…'}`
    if (known === undefined) ignored.push(`${key} is no label of ${currentAiprefDraft}`)
    else if (token !== 'y' && token !== 'n') ignored.push(`the value of ${key} is neither y nor n`)
    else {
      const answer = token === 'y' ? 'allowed' : 'disallowed'
      const draft = known.current ? currentAiprefDraft : (known.drafts.at(-1) as string)
      const list = known.current ? answers : older
      list.push({ purpose: known.purpose, answer, label, vocabulary: aiprefKey(draft) })
      if (!known.current) ignored.push(`${key} is a label of ${draft}, and none of ${currentAiprefDraft}`)
    }
  }
  return { answers, older, ignored: ignored.slice(0, MAX_IGNORED), uses: [] }
}

/** Returns an empty dictionary for a value that does not parse, and adds the reason to `ignored`. */
function dictionaryOf(value: string, ignored: string[]): ReturnType<typeof parseDictionary> {
  if (value.length > MAX_LENGTH) ignored.push(`the value is longer than ${MAX_LENGTH} characters`)
  else {
    try {
      return parseDictionary(datesAsIntegers(value))
    } catch (error) {
      ignored.push(`the value is no dictionary (RFC 9651), so all of it is unknown: ${(error as Error).message}`)
    }
  }
  return new Map()
}

/**
 * Parses Content Signals: the value of the header `Content-Signal`, or of the field in robots.txt
 * without its path. Keys and values are compared without case, and a part that cannot be read does
 * not affect the others. A semicolon separates parts as a comma does: an error that sites make.
 * contentsignals.org; our choice where it is silent.
 */
export function parseContentSignal(value: string): LabelValues {
  const answers: LabelAnswer[] = []
  const ignored: string[] = []
  const uses: SignalUse[] = []
  for (const part of value.slice(0, MAX_LENGTH).split(/[,;]/)) {
    const [key = '', word = ''] = part.split('=', 2).map((text) => text.trim().toLowerCase())
    const purpose = Object.hasOwn(contentSignalLabels, key) ? contentSignalLabels[key] : undefined
    const label = `${key}=${word}`
    const use = contentSignalUses.find((one) => one === word)
    if (part.trim() === '') continue
    if (key === 'use' && use !== undefined) uses.push(use)
    else if (key === 'use') ignored.push(`the value of use is none of ${contentSignalUses.join(', ')}`)
    else if (purpose === undefined) ignored.push(`${key} is no Content Signal`)
    else if (word !== 'yes' && word !== 'no') ignored.push(`the value of ${key} is neither yes nor no`)
    else
      answers.push({ purpose, answer: word === 'yes' ? 'allowed' : 'disallowed', label, vocabulary: CONTENT_SIGNALS })
  }
  if (value.length > MAX_LENGTH) ignored.push(`the value is longer than ${MAX_LENGTH} characters, and was cut`)
  return { answers, older: [], ignored: ignored.slice(0, MAX_IGNORED), uses }
}
