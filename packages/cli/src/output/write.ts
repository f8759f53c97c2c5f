// Writes to stdout with back-pressure, and JSON that a terminal can show.
import { once } from 'node:events'
import { textWithoutCredentials } from '@politely/core/internal'
import { writeError } from '../exit-code.ts'

/**
 * Returns a value as one line of JSON. URLs in it lose their credentials.
 *
 * `JSON.stringify` escapes only the control characters below
 * U+0020. The others, and invisible format characters, could move the terminal's cursor or reverse
 * the direction of text that a site wrote.
 */
export function jsonLine(value: object): string {
  return jsonText(value)
}

/** Returns a value as indented JSON, for reports that people read too. */
export function indentedJson(value: object): string {
  return jsonText(value, 2)
}

function jsonText(value: object, indent?: number): string {
  const plain = JSON.stringify(value, undefined, indent)
  // Most values have no URL with credentials, and need no second pass.
  const json = /@|%40/.test(plain) ? JSON.stringify(value, withoutSecrets, indent) : plain
  // Most lines are printable ASCII, and this test is several times faster than the replacement.
  if (/^[ -~\n]*$/.test(json)) return `${json}\n`
  return `${json.replace(/[\x7f-\x9f\p{Cf}\p{Zl}\p{Zp}]/gu, unicodeEscapes)}\n`
}

/** Leaves the credentials out of the URLs of a text. */
function withoutSecrets(_: string, value: unknown): unknown {
  return typeof value === 'string' ? textWithoutCredentials(value) : value
}

/** Returns one escape for each UTF-16 code unit, as JSON has it. */
function unicodeEscapes(character: string): string {
  return character.split('').reduce((text, unit) => `${text}\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`, '')
}

/**
 * Writes to stdout. Resolves when more may be written, so that unread output does not fill the memory.
 * @throws {UsageError} if the operating system refuses, such as for a full disk.
 */
export async function write(text: string | Uint8Array): Promise<void> {
  if (process.stdout.write(text)) return
  await once(process.stdout, 'drain').catch((error) => {
    throw writeError('the output', error)
  })
}
