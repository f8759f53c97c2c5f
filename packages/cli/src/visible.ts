// Text from elsewhere, on a terminal. A site writes its own robots.txt: it shall not move the cursor, recolour the
// screen or turn the writing around.

/** Controls, invisible format characters and line separators become escapes. */
export function visible(text: string): string {
  return text.replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, (c) => `\\u{${c.codePointAt(0)?.toString(16)}}`)
}

/** No longer than a few lines: a rule or a URL may have thousands of characters. */
export function shortened(text: string): string {
  return text.length > MOST_CHARACTERS ? `${text.slice(0, MOST_CHARACTERS)}…` : text
}

const MOST_CHARACTERS = 200
