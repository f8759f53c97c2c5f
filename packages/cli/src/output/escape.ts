// Escapes text for XML and for the workflow commands of GitHub. URLs in it lose their credentials.
import { escapeControls, textWithoutCredentials } from '@politely/core/internal'

/**
 * Characters that XML cannot contain become spaces. Invisible characters become references, because
 * they could reverse the direction of text in a terminal.
 */
export function escapeXml(text: string): string {
  return textWithoutCredentials(text)
    .replace(/[\p{Cc}\p{Cs}\ufffe\uffff]/gu, ' ')
    .replace(/[&<>"\p{Cf}\p{Zl}\p{Zp}]/gu, (character) => ENTITIES[character] ?? `&#${character.codePointAt(0)};`)
}

const ENTITIES: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' }

/** The message of a workflow command. */
export function escapeData(text: string): string {
  const shown = textWithoutCredentials(text)
  return escapeControls(shown.replace(/%/g, '%25').replace(/\r/g, '%0D').replace(/\n/g, '%0A'))
}

/** A property of a workflow command. */
export function escapeProperty(text: string): string {
  return escapeData(text).replace(/:/g, '%3A').replace(/,/g, '%2C')
}
