// Finds characters that a reader of the file does not see.

/** Characters that nobody sees, wherever they are. U+200C and U+200D are part of some words. */
const INVISIBLE = /[\u00ad\u200b\u200e\u200f\u202a-\u202e\u2060-\u206f\ufeff]/

/** Blanks outside ASCII, and the characters that are invisible at the end of a word. */
const BLANKS = String.raw`(?![\t-\r ])[\s\u200c\u200d]`

const BLANK_IN_KEY = new RegExp(`^[^:]*?(${BLANKS})[^:]*:`)
const BLANK_AT_END = new RegExp(`^(${BLANKS})|(${BLANKS})$`)

/**
 * Returns a character of the line that is invisible, or a blank outside ASCII where a reader sees
 * no difference: in the key, or at an end of the key or the value.
 */
export function hiddenCharacter(text: string, parts: readonly string[]): string | undefined {
  const inKey = parts.length > 1 ? BLANK_IN_KEY.exec(text)?.[1] : undefined
  return INVISIBLE.exec(text)?.[0] ?? inKey ?? parts.map((part) => BLANK_AT_END.exec(part)?.[0]).find(Boolean)
}

/** Returns the line without its invisible characters, and with plain blanks. */
export function withoutHidden(text: string): string {
  const plain = text.replace(new RegExp(INVISIBLE, 'g'), '').replace(new RegExp(BLANKS, 'g'), ' ')
  return plain.replace(/: +/, ': ').trim()
}

/** Returns the name of a hidden character: `U+00A0 (no-break space)`. */
export function nameOfHidden(character: string): string {
  return `${codePoint(character)} (${character === '\u00a0' ? 'no-break space' : 'invisible'})`
}

/** Returns a code point as Unicode writes it: `U+00A0`. */
export function codePoint(character: string): string {
  return `U+${character.charCodeAt(0).toString(16).toUpperCase().padStart(4, '0')}`
}
