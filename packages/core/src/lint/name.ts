// Checks the value of a user-agent line. RFC 9309 §2.2.1.
import { bytesOfLatin1 } from '../bytes.ts'
import { namesEveryone } from '../parse/product-token.ts'
import { leadingToken } from '../parse/user-agent-name.ts'
import { documentedNames, shortenedTokens } from './crawler-names.ts'
import type { ReportFinding } from './finding.ts'

/** Returns whether a name is documented, with more than a product token can have. */
export function isDocumented(name: string): boolean {
  return documentedNames.has(name.toLowerCase())
}

export function lintName(value: string, line: number, report: ReportFinding): void {
  const [, name = '', version = ''] = /^(.*?)(\/[^\t /]*)?$/s.exec(value) ?? []
  const isKnown = isDocumented(name)
  const token = isKnown ? name : leadingToken(value)
  const rest = isKnown ? version : value.slice(token.length)
  if (value === '') report('user-agent-without-name', line)
  else if (valueNamesEveryone(value)) {
    if (value !== '*') report('product-token-with-other-characters', line, '*')
  } else if (value.startsWith('*')) report('wildcard-in-name', line)
  else if (token === '') report('unreadable-name', line)
  else if (/^mozilla\/\S*[\t ]/i.test(value)) report('user-agent-header-as-name', line)
  else if (/^[\t ]*[,;|][\t ]*[A-Za-z0-9_*-]/.test(rest)) report('several-names-on-one-line', line)
  else if (VERSION.test(rest)) report('product-token-with-version', line, token)
  else if (rest !== '') report('product-token-with-other-characters', line, token)
  const whole = Object.hasOwn(shortenedTokens, token.toLowerCase()) ? shortenedTokens[token.toLowerCase()] : undefined
  if (whole !== undefined) report('product-token-without-vendor', line, whole)
  if (/[0-9]/.test(token) && !isKnown) report('product-token-with-digits', line)
}

const VERSION = /^\/\S*$/

/**
 * Returns the name in the form that crawlers compare; an empty string if the line names no crawler.
 */
export function nameOf(value: string): string {
  return valueNamesEveryone(value) ? '*' : leadingToken(value).toLowerCase()
}

/** Returns whether a line has a product token, perhaps with a version, or `*`, and nothing else. */
export function isWholeName(value: string): boolean {
  const rest = value.slice(leadingToken(value).length)
  return rest === '' || VERSION.test(rest) || valueNamesEveryone(value)
}

/**
 * Returns whether a user-agent line with this value (one character for each byte) names every
 * crawler.
 */
export function valueNamesEveryone(value: string): boolean {
  return namesEveryone(bytesOfLatin1(value), 0, value.length)
}
