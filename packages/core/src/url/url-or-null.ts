// `URL.parse` for every runtime that core supports.

/** Returns the URL, or null if it's invalid. `URL.parse` does the same in Node from 22.1 on. */
export function urlOrNull(text: string, base?: string): URL | null {
  if (typeof URL.parse === 'function') return URL.parse(text, base)
  return URL.canParse(text, base) ? new URL(text, base) : null
}
