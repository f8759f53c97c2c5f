// Writes CSV (RFC 4180).
import { escapeControls, textWithoutCredentials } from '@politely/core/internal'

export function csvLine(cells: readonly (string | number | boolean)[]): string {
  return `${cells.map(csvCell).join(',')}\r\n`
}

/**
 * A cell that a spreadsheet would read as a formula begins with an apostrophe, and control characters
 * are escaped: the text is a site's. URLs in it lose their credentials.
 */
function csvCell(value: string | number | boolean): string {
  const text = typeof value === 'string' && /^[=+\-@\t\r]/.test(value) ? `'${escaped(value)}` : escaped(String(value))
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text
}

function escaped(given: string): string {
  const text = textWithoutCredentials(given)
  return /^[ -~]*$/.test(text) ? text : escapeControls(text) // as jsonLine: most text is ASCII
}
