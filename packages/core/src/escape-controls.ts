/**
 * Escapes control characters, invisible format characters and line separators, so that text from
 * elsewhere is safe to print. A rule is written by a site, which could otherwise move the
 * terminal's cursor, change its colours or reverse the direction of the text.
 */
export function escapeControls(text: string): string {
  // A value that is not a string becomes text, so that a log line never fails.
  return String(text).replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, (c) => `\\u{${c.codePointAt(0)?.toString(16)}}`)
}
