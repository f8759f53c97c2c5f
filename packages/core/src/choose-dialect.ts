// Validates the `dialect` option.
import { describeValue } from './describe-value.ts'
import { type AccessDefaults, type Dialect, type DialectName, dialects, type ParsingRules } from './dialect.ts'
import { OptionError } from './errors.ts'

/** The valid answers to each question that has a fixed list of them. The others are numbers. */
const VALID_ANSWERS: {
  readonly [Q in keyof (ParsingRules & AccessDefaults)]?: readonly (ParsingRules & AccessDefaults)[Q][]
} = {
  keys: ['lenient', 'exact'],
  groupEnd: ['user-agent', 'blank-line'],
  agents: ['token', 'token-or-digits', 'whole-value', 'name', 'substring'],
  severalTokens: ['first', 'all'],
  groups: ['merged', 'first-for-all', 'first'],
  groupsForAll: ['used', 'ignored'],
  winner: ['most-octets', 'first'],
  allow: ['rule', 'unknown'],
  wildcards: ['special', 'literal'],
  compare: ['rfc9309', 'decoded', 'plain', 'google'],
  emptyRules: ['nothing', 'reported', 'allows-all'],
  indexPages: ['folder', 'plain'],
  robotsTxtItself: ['allowed', 'by-rules'],
  forbidden: ['unavailable', 'restricted'],
  whenUnreachable: ['use-copy', 'disallow'],
}

/**
 * Returns a dialect by name, or a copy of a custom one, which the caller can no longer change.
 * @throws {OptionError} for an unknown name or an invalid answer.
 */
export function dialectFor(dialect: DialectName | Dialect = 'rfc9309'): Dialect {
  if (typeof dialect === 'string' && Object.hasOwn(dialects, dialect)) return dialects[dialect]
  if (typeof dialect !== 'object' || dialect === null) {
    const names = Object.keys(dialects).join(', ')
    throw new OptionError('dialect', `${describeValue(dialect)} is not known; write one of ${names}`)
  }
  const { name } = dialect
  if (typeof name !== 'string') {
    const problem = name === undefined ? 'name is missing' : `name: ${describeValue(name)} is not a string`
    throw new OptionError('dialect', `${problem}; write one such as "mine"`)
  }
  if (dialects[name as DialectName] === dialect) return dialect // a built-in dialect is valid
  const copy: Dialect = { name, parsing: { ...dialect.parsing }, access: { ...dialect.access } }
  const given: Record<string, unknown> = { ...copy.parsing, ...copy.access }
  const { parsing, access } = dialects.rfc9309
  for (const question of Object.keys({ ...parsing, ...access })) {
    const validAnswers: readonly unknown[] | undefined = VALID_ANSWERS[question as keyof typeof VALID_ANSWERS]
    const answer = given[question]
    const isValid =
      validAnswers === undefined ? typeof answer === 'number' && answer >= 0 : validAnswers.includes(answer)
    if (isValid) continue
    const expected =
      validAnswers === undefined
        ? `${question === 'afterDays' ? 'days' : 'hours'}, 0 or more`
        : `one of ${validAnswers.join(', ')}`
    const path = `${Object.hasOwn(parsing, question) ? 'parsing' : 'access'}.${question}`
    const problem = answer === undefined ? `${path} is missing` : `${path}: ${describeValue(answer)} is not valid`
    throw new OptionError('dialect', `${problem}; write ${expected}, or start from { ...dialects.rfc9309 }`)
  }
  return copy
}
