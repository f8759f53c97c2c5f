// The names of the parts of a site and of an answer, and what to write for the words of other fakes.
import { OptionError } from '@politely/core'
import { assertKnown } from '@politely/fetcher/internal'

/** Words in lower case without punctuation, and the end of the error message. */
type Hints = readonly (readonly [words: RegExp, hint: string])[]

const SLOW: Hints[number] = [
  /^(.*delay|latency|wait|sleep|timeout|duration)(ms|s|secs|seconds)?$/,
  "a slow answer is a function that waits; write pages: { '/': async () => { await new Promise((done) => setTimeout(done, 100)); return 'a page' } }",
]
const FAILS: Hints[number] = [
  /^(network)?(error|fail|failure|throws?|rejects?)$/,
  "did you mean `fails`? (write { fails: 'dns' }, or 'refused', 'timeout', 'reset', 'tls')",
]

/** What a site does not have. */
export const SITE_HINTS: Hints = [
  [
    /^(robots?(txt|text|file|body|rules)|rules|(dis)?allow(ed)?|crawldelay|useragent|sitemaps?)$/,
    "did you mean `robots`? (write { robots: 'User-agent: *\\nCrawl-delay: 5\\nDisallow: /cart' })",
  ],
  [
    /^(status(code)?|headers|body|html|text|json|content)$/,
    "is a part of an answer; write { pages: { '/': { status: 200, headers: {}, body: 'a page' } } }",
  ],
  [/^(routes?|paths?|urls?|handlers?|responses?)$/, "did you mean `pages`? (write { pages: { '/': 'a page' } })"],
  SLOW,
  FAILS,
]

/** What an answer does not have. */
export const ANSWER_HINTS: Hints = [
  [/^(status)?code$/, 'did you mean `status`? (write { status: 404 })'],
  [/^(text|html|content|data)$/, "did you mean `body`? (write { body: 'a page' })"],
  [/^json$/, 'write Response.json(…), or { body: JSON.stringify(…) }'],
  [/^(content|mime)?type$/, "write { headers: { 'content-type': 'text/html' } }"],
  [/^(redirect(to|url)?|location)$/, "write { status: 301, headers: { location: '/new' } }"],
  SLOW,
  FAILS,
]

/** What a failure does not have. */
export const FAILURE_HINTS: Hints = [
  [
    /^(robots|pages)$/,
    "does not belong next to `fails`, the failure of a whole site; write { pages: { '/': { fails: 'dns' } } }",
  ],
  [/^(status|headers|body)$/, 'does not belong next to `fails`, since a failed request gets no response'],
  SLOW,
]

/** What a fake web has no option for. */
export const WEB_HINTS: Hints = [SLOW]

/**
 * Checks the names of parts.
 * @throws {OptionError} for a name that is not in `known`; the message says what to write.
 */
export function assertParts(parts: object, known: Readonly<Record<string, true>>, hints: Hints): void {
  for (const name of Object.keys(parts)) {
    if (Object.hasOwn(known, name)) continue
    const word = name.replace(/[^a-z]/gi, '').toLowerCase()
    const hint = hints.find(([words]) => words.test(word))?.[1]
    if (hint !== undefined) throw new OptionError(name, hint)
  }
  assertKnown(parts, known)
}
