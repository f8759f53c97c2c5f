// Which dialect a caller means.
import { type AccessDefaults, type Dialect, type DialectName, dialects, type ParsingRules } from './dialect.ts'
import { OptionError } from './option-error.ts'

/** The answers that a dialect may give to each question that has a few. */
const ANSWERS: {
  readonly [Q in keyof (ParsingRules & AccessDefaults)]?: readonly (ParsingRules & AccessDefaults)[Q][]
} = {
  keys: ['lenient', 'exact'],
  groupEnd: ['user-agent', 'blank-line'],
  agents: ['token', 'token-or-digits', 'whole-value', 'name', 'substring'],
  severalTokens: ['first', 'all'],
  groups: ['merged', 'first-for-all', 'first'],
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

/** @throws {OptionError} for an unknown name, or a custom dialect with an unknown answer. */
export function dialectFor(dialect: DialectName | Dialect = 'rfc9309'): Dialect {
  if (typeof dialect === 'string') {
    if (Object.hasOwn(dialects, dialect)) return dialects[dialect]
    const names = Object.keys(dialects).join(', ')
    throw new OptionError('dialect', `${JSON.stringify(dialect)} is not known; write one of ${names}`)
  }
  if (dialects[dialect?.name as DialectName] === dialect) return dialect // one of ours needs no checks; a caller with many files passes it each time
  const given: Record<string, unknown> = { ...dialect?.parsing, ...dialect?.access }
  for (const question of Object.keys({ ...dialects.rfc9309.parsing, ...dialects.rfc9309.access })) {
    const answers: readonly unknown[] | undefined = ANSWERS[question as keyof typeof ANSWERS]
    const answer = given[question]
    const fits = answers === undefined ? typeof answer === 'number' && answer >= 0 : answers.includes(answer)
    if (fits) continue
    const wanted =
      answers === undefined
        ? `${question === 'afterDays' ? 'days' : 'hours'}, 0 or more`
        : `one of ${answers.join(', ')}`
    const hint = 'begin a dialect of your own with { ...dialects.rfc9309 }'
    throw new OptionError(
      'dialect',
      `${JSON.stringify(answer) ?? 'nothing'} does not answer ${question}; write ${wanted}, and ${hint}`,
    )
  }
  return dialect
}
