// Describes answers about the use of a page in English, for people. The wording may change; programs
// read the data itself.
import { escapeControls } from '../describe-value.ts'
import { conflictKinds, type UsageConflict, type UsageReading } from './conflicts.ts'
import type { Purpose, Statement, UsageSource } from './purpose.ts'
import type { PurposeUsage } from './usage-of.ts'

/**
 * Describes where a statement was found, such as `line 4 of robots.txt` or `the header
 * X-Robots-Tag`. Text from the site is escaped, here and below, so the results are safe to print.
 */
export function describeSource({ in: where, channel, name, line }: UsageSource): string {
  switch (where) {
    case 'robots.txt':
      return `line ${line} of robots.txt`
    case 'header':
      return escapeControls(`the header ${name}`)
    case 'html':
      return escapeControls(channel === 'license' ? `the element ${name}` : `the meta element ${name}`)
    case 'tdmrep.json':
      return name === '' ? 'tdmrep.json' : escapeControls(`tdmrep.json, location ${name}`)
  }
}

/**
 * Describes the answer about a purpose, such as `train-ai is disallowed: line 3 of robots.txt says
 * train-ai=n`.
 */
export function describePurpose(purpose: Purpose, { answer, statements }: PurposeUsage): string {
  if (statements.length === 0) return `${purpose} is unstated`
  const said = statements.map(describeStatement)
  return `${purpose} is ${answer}: ${said.join('; ')}${answer === 'disallowed' && said.length > 1 ? ' (a refusal counts)' : ''}`
}

/** Describes a statement, such as `line 3 of robots.txt says train-ai=n`. */
export function describeStatement({ label, source }: Statement): string {
  return `${describeSource(source)} says ${escapeControls(label)}`
}

/** Describes a conflict: its two readings, and what it is about. */
export function describeConflict({ kind, purpose, readings: [followed, other] }: UsageConflict): string {
  const about = purpose === undefined ? '' : `${purpose}: `
  // Here the sources say more than the sentences, which only repeat the answers.
  const describe = kind === 'channels-disagree' ? describeBySources : describeReading
  return `${about}${describe(followed)}, but ${describe(other)}. ${conflictKinds[kind]}`
}

/** Describes a reading, such as `unstated by its words`. */
export function describeReading({ how, answer, licenses }: UsageReading): string {
  const result = answer ?? (licenses?.length ? escapeControls(licenses.join(' ')) : 'no license')
  return `${result} ${how}`
}

function describeBySources({ answer, sources }: UsageReading): string {
  return `${answer} by ${sources.map(describeSource).join(' and ')}`
}
