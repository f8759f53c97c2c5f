/**
 * Cuts text to a few terminal lines. A rule or URL that a site wrote may have thousands of
 * characters.
 */
export function shorten(text: string): string {
  return text.length > MAX_LENGTH ? `${text.slice(0, MAX_LENGTH)}…` : text
}

const MAX_LENGTH = 200
