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
export function isDictionary(text: string): boolean {
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
