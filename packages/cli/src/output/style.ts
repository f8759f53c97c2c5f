// Colours and safe text for people.
import { styleText } from 'node:util'
import { escapeControls } from '@politely/core'
import { shorten } from './shorten.ts'

export const green = (text: string): string => styleText('green', text)
export const red = (text: string): string => styleText('red', text)
export const yellow = (text: string): string => styleText('yellow', text)
export const bold = (text: string): string => styleText('bold', text)
export const dim = (text: string): string => styleText('dim', text)

/** Text of a site: shortened, and with control characters escaped. */
export function printable(text: string): string {
  return escapeControls(shorten(text))
}
