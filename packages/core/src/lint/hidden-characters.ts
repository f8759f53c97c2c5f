// Finds characters that a reader of the file does not see.

/** Characters that are invisible everywhere. U+200C and U+200D are not, as some words need them. */
const INVISIBLE = /[\u0085\u00ad\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff]/g

/** Blanks outside ASCII, and the characters that are invisible at the end of a word. */
const BLANKS = /(?![\t-\r ])[\s\u200c\u200d]/g

/**
 * Returns a character of the line that is invisible, or a blank outside ASCII where a reader sees
 * no difference: in the key, or at an end of the key or the value.
 *
 * @param parts The key and the value, or the whole line if it has no colon.
 */
export function hiddenCharacter(text: string, parts: readonly string[]): string | undefined {
  const key = parts.length > 1 ? parts[0] : ''
  const ends = parts.map((part) => part.charAt(0) + part.slice(-1)).join('')
  return text.match(INVISIBLE)?.[0] ?? `${key}${ends}`.match(BLANKS)?.[0]
}

/** Returns the line without its invisible characters, and with plain blanks. */
export function withoutHidden(text: string): string {
  return text.replace(INVISIBLE, '').replace(BLANKS, ' ').replace(/: +/, ': ').trim()
}

/** Returns the name of a hidden character: `U+00A0 (no-break space)`. */
export function nameOfHidden(character: string): string {
  return `${codePoint(character)} (${character === '\u00a0' ? 'no-break space' : 'invisible'})`
}

/** Returns a code point as Unicode writes it: `U+00A0`. */
export function codePoint(character: string): string {
  return `U+${character.charCodeAt(0).toString(16).toUpperCase().padStart(4, '0')}`
}
