// Writes to stdout with back-pressure, and JSON that a terminal can show.
import { once } from 'node:events'

/**
 * Returns a value as one line of JSON. `JSON.stringify` escapes only the control characters below U+0020. The others, and invisible format
 * characters, could move the terminal's cursor or reverse the direction of text that a site wrote.
 */
export function jsonLine(value: object): string {
  const escape = (text: string) =>
    text.replace(/[^]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)
  return `${JSON.stringify(value).replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, escape)}\n`
}

/** Resolves when more may be written, so that unread output does not fill the memory. */
export async function write(text: string): Promise<void> {
  if (!process.stdout.write(text)) await once(process.stdout, 'drain')
}
