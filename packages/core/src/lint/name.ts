// Checks the value of a user-agent line. RFC 9309 §2.2.1.
import { bytesOfLatin1 } from '../bytes.ts'
import { namesEveryone as bytesNameEveryone, endOfToken } from '../parse/product-token.ts'
import type { Report } from './finding.ts'

export function lintName(value: string, line: number, report: Report): void {
  const token = tokenOf(value)
  const rest = value.slice(token.length)
  if (value === '') report('user-agent-without-name', line)
  else if (namesEveryone(value)) {
    if (value !== '*') report('product-token-with-other-characters', line, '*')
  } else if (value.startsWith('*')) report('wildcard-in-name', line)
  else if (token === '') report('unreadable-name', line)
  else if (/^mozilla\/\S*[\t ]/i.test(value)) report('user-agent-header-as-name', line)
  else if (/^[\t ]*[,;|][\t ]*[A-Za-z0-9_*-]/.test(rest)) report('several-names-on-one-line', line)
  else if (/^\/\S*$/.test(rest)) report('product-token-with-version', line, token)
  else if (rest !== '') report('product-token-with-other-characters', line, token)
  if (/[0-9]/.test(token)) report('product-token-with-digits', line)
}

/**
 * Returns the name in the form that crawlers compare; an empty string if the line names no crawler.
 */
export function nameOf(value: string): string {
  return namesEveryone(value) ? '*' : tokenOf(value).toLowerCase()
}

/**
 * Returns whether a user-agent line with this value (one character for each byte) names every
 * crawler.
 */
export function namesEveryone(value: string): boolean {
  return bytesNameEveryone(bytesOfLatin1(value), 0, value.length)
}

function tokenOf(value: string): string {
  return value.slice(0, endOfToken(bytesOfLatin1(value), 0, value.length))
}
