// `URL.parse` for every runtime that core supports. Node 22.0 doesn't have it.

/** Returns the URL, or null if it's invalid. */
export function urlOrNull(text: string, base?: string): URL | null {
  if (typeof URL.parse === 'function') return URL.parse(text, base)
  return URL.canParse(text, base) ? new URL(text, base) : null
}
