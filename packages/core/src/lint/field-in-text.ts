// Finds a field inside of a text that is one line: where a line end is missing.
import { knownKeyOf } from '../parse/directive.ts'

/** The fields that a line may have after another one. The names of other fields are usual words. */
const FREQUENT: ReadonlySet<string | undefined> = new Set(['user-agent', 'allow', 'disallow', 'sitemap', 'crawl-delay'])

/** Longer keys are not searched for, which bounds the time for a long line. */
const MAX_KEY_LENGTH = 40

/** Returns whether a text begins with a frequent field and its colon. */
export function beginsWithField(text: string): boolean {
  const [, key = ''] = /^[\t ]*([^:]+?)[\t ]*:/.exec(text.slice(0, MAX_KEY_LENGTH)) ?? []
  return FREQUENT.has(knownKeyOf(key)?.directive)
}

/** Returns whether a value contains a blank, a frequent field of one or two words, and a colon. */
export function containsField(value: string): boolean {
  const parts = value.split(':').slice(0, -1)
  return parts.some((part) => {
    const words = part
      .slice(-MAX_KEY_LENGTH)
      .replace(/[\t ]+$/, '')
      .split(/[\t ]+/)
      .slice(1)
    return [words.slice(-1), words.slice(-2)].some((key) => FREQUENT.has(knownKeyOf(key.join(' '))?.directive))
  })
}
