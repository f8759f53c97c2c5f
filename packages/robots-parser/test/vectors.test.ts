// The test vectors of robots-parser's repository, which has more than the last release, with the
// results of google/robotstxt.
import { isDeepStrictEqual } from 'node:util'
import {
  conformanceDirOrNote,
  type OtherVector,
  otherVectorsIn,
  type Vector,
  vectorsIn,
} from '@politely/testkit/cases/conformance'
import { expectTables } from '@politely/testkit/doc-page'
import { describe, expect, it } from 'vitest'
import robotsParser, { type Robot } from '../src/index.ts'

const dir = conformanceDirOrNote()

const ENCODED_URL = 'RFC 9309 §2.2.2: we encode rule and URL; google/robotstxt expects an encoded URL'
const LOST_SURROGATES = 'the vectors replace lone surrogates by U+FFFD in both rule and URL'
const UNKNOWN_ROBOTS_URL = 'the vectors do not contain the URL of robots.txt'

/** Why our result differs from the suite, by the vector's ID. */
const unlikeSuite: Readonly<Record<string, string>> = {
  'robots-parser-0122': LOST_SURROGATES,
  'robots-parser-0123': LOST_SURROGATES,
  'robots-parser-0206': UNKNOWN_ROBOTS_URL,
}
/** Why our result differs from google/robotstxt, by the reason that the vectors give. */
const unlikeReference: Readonly<Record<string, string>> = {
  'url-normalisation: raw non-ASCII in the URL': ENCODED_URL,
  'url-normalisation: lower-case hex in the URL': ENCODED_URL,
}

interface Outcome {
  readonly id: string
  readonly kind: string
  readonly asSuite: boolean
  /** Undefined if google/robotstxt has no such function. */
  readonly asReference: boolean | undefined
  readonly why: string | undefined
}

describe.skipIf(dir === undefined)("the vectors of robots-parser's repository", () => {
  it('pass, or differ for a stated reason', { tags: 'page' }, async () => {
    const isTheirs = ({ source }: { readonly source: string }) => source.startsWith('samclarke/robots-parser:')
    const access = (await vectorsIn(dir as string)).filter(isTheirs).map(checkAccess)
    const others = (await otherVectorsIn(dir as string)).filter(isTheirs).map(checkOther)
    const all = [...access, ...others]
    expect([access.length, others.length]).toEqual([143, 63])
    expect(all.filter(({ asSuite, asReference, why }) => !(asSuite && asReference !== false) && !why)).toEqual([])

    const kinds = [...new Set(all.map(({ kind }) => kind))]
    const rows = kinds.map((kind) => {
      const ofKind = all.filter((one) => one.kind === kind)
      const judged = ofKind.filter(({ asReference }) => asReference !== undefined)
      return [
        kind,
        `${ofKind.length}`,
        `${ofKind.filter(({ asSuite }) => asSuite).length}`,
        judged.length === 0 ? '' : `${judged.filter(({ asReference }) => asReference).length} of ${judged.length}`,
        countReasons(ofKind),
      ]
    })
    const head = ['vectors about', 'count', 'same as the suite', 'same as google/robotstxt', 'different, and why']
    await expectTables('docs/robots-parser.md', { head, rows })
  })
})

function checkAccess({
  id,
  kind,
  robots,
  agents: [agent],
  url,
  note,
  expected,
  google,
  agree,
  reason = '',
}: Vector): Outcome {
  const ours = robotFor(note, robots).isAllowed(url, agent)
  const why = agree ? unlikeSuite[id] : unlikeReference[reason]
  return { id, kind, asSuite: ours === expected, asReference: ours === google, why }
}

function checkOther({ id, kind, robots, agent, url = '', note, expected }: OtherVector): Outcome {
  const robot = robotFor(note ?? `robots url ${new URL('/robots.txt', url || 'http://www.example.com')}`, robots)
  const questions: Readonly<Record<string, () => unknown>> = {
    'access-undefined': () => robot.isAllowed(url, agent),
    'lone-surrogate:access': () => robot.isAllowed(url, agent),
    'explicitly-disallowed': () => robot.isExplicitlyDisallowed(url, agent ?? ''),
    'crawl-delay': () => robot.getCrawlDelay(agent),
    line: () => robot.getMatchingLineNumber(url, agent),
    host: () => robot.getPreferredHost(),
    sitemaps: () => robot.getSitemaps(),
  }
  const ours = questions[kind]?.() ?? null // JSON has no undefined
  return { id, kind, asSuite: isDeepStrictEqual(ours, expected), asReference: undefined, why: unlikeSuite[id] }
}

/** Parses the file at the URL in the vector's note, which is `robots url …`. */
function robotFor(note: string | undefined, robots: Uint8Array): Robot {
  const [, url] = /^robots url (.*)$/.exec(note ?? '') ?? []
  if (url === undefined) throw new Error(`the note ${note} contains no URL of a robots.txt; expected "robots url …"`)
  return robotsParser(url, Buffer.from(robots).toString())
}

function countReasons(outcomes: readonly Outcome[]): string {
  const unlike = outcomes.filter(({ asSuite, asReference }) => !asSuite || asReference === false)
  const counts = Map.groupBy(unlike, ({ why }) => why)
  return [...counts].map(([why, { length }]) => `${length}: ${why}`).join('; ')
}
