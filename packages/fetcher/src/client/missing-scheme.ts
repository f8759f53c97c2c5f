// Detects URLs without a scheme: mistakes of the caller. Pages contain other invalid URLs, such as `mailto:` links.
import type { UrlProblem } from '@politely/core'
import { withoutCredentials } from '@politely/core/engine'

/** Explains that a URL has no scheme, and what to write instead. Returns undefined for every other problem. */
export function missingScheme(url: string, problem: UrlProblem): string | undefined {
  if (problem !== 'relative') return undefined
  const text = withoutCredentials(url.trim())
  const written = JSON.stringify(text)
  if (text.startsWith('//')) return `${written} has no scheme; write ${JSON.stringify(`https:${text}`)}`
  // A host has a dot, or a port after it.
  const hasHost = /^[a-z0-9-][^/?#]*[.:]/i.test(text)
  if (hasHost) return `${written} has no scheme; write ${JSON.stringify(`https://${text}`)}`
  return `${written} is relative; write the whole URL: new URL(${written}, "https://example.com/").href`
}
