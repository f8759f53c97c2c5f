// The row of an answer about one purpose, for `usage` and `explain`.
import { type Answer, describeStatement, type Purpose, type PurposeUsage } from '@politely/core/usage'
import { dim, green, red } from './style.ts'
import { hang } from './wrap.ts'

const SIGNS: Readonly<Record<Answer, readonly [string, (text: string) => string]>> = {
  allowed: ['✓', green],
  disallowed: ['✗', red],
  unstated: ['·', dim],
}

/** What a purpose means, for people who meet its name here first. */
const MEANINGS: Readonly<Record<Purpose, string>> = {
  index: 'showing it in a search index',
  follow: 'following its links',
  snippet: 'showing a part of its text',
  archive: 'showing a stored copy of it',
  search: 'using it in a search application',
  'train-ai': 'training a model on it',
  'ai-input': 'giving it to a model as input',
  'text-and-data-mining': 'analysing it automatically',
}

/** The column at which the text of a row begins. */
const INDENT = 38
/** A row names this many statements. */
const MAX_STATEMENTS = 2

/** Returns a row with sign, purpose, answer and the statements that decide. */
export function answerRow(purpose: Purpose, { answer, statements }: PurposeUsage): string {
  return signedRow(purpose, answer, reasonOf(purpose, answer, statements))
}

/** @param what What the answer is about. */
export function signedRow(what: string, answer: Answer, why: string): string {
  const [sign, paint] = SIGNS[answer]
  return `  ${paint(sign)} ${what.padEnd(20)}  ${answer.padEnd(10)}  ${hang(why, INDENT)}`
}

function reasonOf(purpose: Purpose, answer: Answer, statements: PurposeUsage['statements']): string {
  if (answer === 'unstated') return dim(`(${MEANINGS[purpose]})`)
  const deciding = [...new Set(statements.filter((one) => one.answer === answer).map(describeStatement))]
  const more = deciding.length - MAX_STATEMENTS
  return `${deciding.slice(0, MAX_STATEMENTS).join('; ')}${more > 0 ? `; and ${more} more` : ''}`
}
