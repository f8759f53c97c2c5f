// Finds characters outside ASCII that look like a plain character.

import { textOf } from '../bytes.ts'
import { knownKeyOf } from '../parse/directive.ts'
import type { ReportFinding } from './finding.ts'
import { codePoint } from './hidden-characters.ts'
import { canonicalKey } from './key.ts'

/**
 * Characters and, in the same place, the ASCII characters that they look like: Cyrillic and Greek
 * letters, dashes, colons. From Unicode's confusables.txt.
 */
const ALIKE = 'АаВСсЕеНІіКМОоРрЅѕТУуХхΑΒΕΗΙΚΜΝΟοΡΤ\u2010\u2011\u2012\u2013\u2014\u2212\u02d0\u2236\ua789'
const PLAIN = 'AaBCcEeHIiKMOoPpSsTYyXxABEHIKMNOoPT------:::'

const FULL_WIDTH = /[\uff01-\uff5e\ufe13\ufe52-\ufe6b]/

function plainOf(character: string): string {
  const at = ALIKE.indexOf(character)
  if (at !== -1) return PLAIN[at] as string
  return FULL_WIDTH.test(character) ? character.normalize('NFKC') : character
}

/**
 * Reports a character that looks like a plain one in the key or its colon, in a crawler's name, or
 * as the slash of a path.
 *
 * @param content The line, one character for each byte. @returns Whether there is one.
 */
export function lintLookAlikes(content: string, line: number, report: ReportFinding): boolean {
  if (!/[\x80-\xff]/.test(content)) return false
  const text = textOf(content)
  const plain = text.replace(/[\u0080-\uffff]/g, plainOf)
  const [head = '', key = '', value = ''] = /^([^:]*):[\t ]*(\S*)/.exec(plain) ?? []
  const directive = knownKeyOf(key.trim())?.directive
  if (directive === undefined) return false
  const valueStart = head.length - value.length
  const end = valueStart + lengthOfSpecial(directive, value, text.slice(valueStart))
  const at = text.split('').findIndex((character, i) => i < end && character !== plain[i])
  const alike = text[at]
  if (alike === undefined) return false
  const fixed = `${plain.slice(valueStart, end)}${text.slice(end)}`.trim()
  const found = `"${alike}" (${codePoint(alike)}${scriptOf(alike)}) as "${plain[at]}"`
  report('look-alike-character', { line, found }, `${canonicalKey(directive)}: ${fixed}`)
  return true
}

/** Returns how many characters of a value crawlers compare with ASCII characters only. */
function lengthOfSpecial(directive: string, plain: string, original: string): number {
  if (directive.endsWith('allow')) return plain.startsWith('/') ? 1 : 0
  if (directive !== 'user-agent' || !/^(?:\*|[\w-]+)$/.test(plain)) return 0
  // A name in another script alone is a name, not a name with a wrong letter.
  return /^\W*$/.test(original.slice(0, plain.length)) && !FULL_WIDTH.test(original) ? 0 : plain.length
}

function scriptOf(character: string): string {
  if (FULL_WIDTH.test(character)) return ', full-width'
  if (/[Α-ο]/.test(character)) return ', Greek'
  return /[Ѐ-ӿ]/.test(character) ? ', Cyrillic' : ''
}
