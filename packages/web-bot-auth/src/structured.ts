// Structured fields (RFC 9651), without the tolerance that a signature does not allow.
import {
  type Dictionary,
  type InnerList,
  type Item,
  isInnerList,
  parseDictionary,
  serializeInnerList,
  serializeItem,
} from 'structured-headers'

export type { Dictionary, InnerList, Item }
export { isInnerList }

/**
 * Parses a dictionary. RFC 9651 §3.2 lets the last of two equal keys win, and the last of two equal
 * parameters; here two of them make the field invalid, so that no two readers of a request see
 * different signatures.
 * @returns undefined for an invalid field.
 */
export function strictDictionary(text: string): Dictionary | undefined {
  try {
    const dictionary = parseDictionary(text)
    const params = [...dictionary.values()].reduce((sum, member) => sum + paramsIn(member), 0)
    const punctuation = text.replace(STRING, '')
    const isStrict = dictionary.size === membersOf(text).length && params === punctuation.split(';').length - 1
    return isStrict ? dictionary : undefined
  } catch {
    return undefined
  }
}

/**
 * Returns whether a member of a valid dictionary is written in the only form that RFC 9651 §4.1 has
 * for it: no `1.0` or `01` for 1, one space between two items, base64 with padding.
 */
export function isCanonical(text: string, dictionary: Dictionary, key: string): boolean {
  const written = membersOf(text)[[...dictionary.keys()].indexOf(key)]
  const member = dictionary.get(key)
  return member !== undefined && written?.trim() === `${key}=${serializedMember(member)}`
}

/**
 * @returns undefined for a value that the parser reads and RFC 9651 cannot write, such as a date
 * out of range.
 */
export function serializedMember(member: InnerList | Item): string | undefined {
  try {
    return isInnerList(member) ? serializeInnerList(member) : serializeItem(member)
  } catch {
    return undefined
  }
}

function paramsIn([value, { size }]: InnerList | Item): number {
  return size + (Array.isArray(value) ? value.reduce((sum, [, inner]) => sum + inner.size, 0) : 0)
}

/**
 * A string, or a display string, which has no escapes. Only they may have commas and semicolons
 * inside.
 */
const STRING = /%"[^"]*"|"(?:[^"\\]|\\.)*"/g
const STRING_OR_COMMA = new RegExp(`${STRING.source}|,`, 'g')

/** Returns the members of a valid dictionary as they are written. */
function membersOf(text: string): readonly string[] {
  const members: string[] = []
  let start = 0
  for (const { 0: token, index } of text.matchAll(STRING_OR_COMMA)) {
    if (token !== ',') continue
    members.push(text.slice(start, index))
    start = index + 1
  }
  return text.trim() === '' ? [] : [...members, text.slice(start)]
}
