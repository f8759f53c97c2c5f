// Colours and safe text for people.
import { styleText } from 'node:util'
import { escapeControls } from '@politely/core'
import { textWithoutCredentials } from '@politely/core/engine'

export const green = (text: string): string => styleText('green', text)
export const red = (text: string): string => styleText('red', text)
export const yellow = (text: string): string => styleText('yellow', text)
export const bold = (text: string): string => styleText('bold', text)
export const dim = (text: string): string => styleText('dim', text)

const MAX_LENGTH = 200

/**
 * Cuts text to a few terminal lines. A rule or URL that a site wrote may have thousands of
 * characters.
 */
export function shorten(text: string): string {
  return text.length > MAX_LENGTH ? `${text.slice(0, MAX_LENGTH)}…` : text
}

/** Text of a site: shortened, and safe as `safeText` makes it. */
export function printable(text: string): string {
  return escapeControls(shorten(textWithoutCredentials(text)))
}

/** Text that a site may have written: control characters are escaped, and URLs have no credentials. */
export function safeText(text: string): string {
  return escapeControls(textWithoutCredentials(text))
}

/** Every line that politely writes to stderr starts with its name. */
export function errorLine(message: string): string {
  return `politely: ${safeText(message)}\n`
}
