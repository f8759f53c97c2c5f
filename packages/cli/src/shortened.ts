/** No longer than a few lines: a rule or a URL from elsewhere may have thousands of characters. */
export function shortened(text: string): string {
  return text.length > MOST_CHARACTERS ? `${text.slice(0, MOST_CHARACTERS)}…` : text
}

const MOST_CHARACTERS = 200
