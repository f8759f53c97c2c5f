// Questions out of robots-parser's test suite as its repository has it, beyond its last release, with google/robotstxt's answers.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import {
  conformanceDirOrNote,
  type OtherVector,
  otherVectorsIn,
  type Vector,
  vectorsIn,
} from '@politely/testkit/conformance'
import { withTables } from '@politely/testkit/doc-table'
import { describe, expect, it } from 'vitest'
import robotsParser, { type Robot } from '../src/index.ts'

const dir = conformanceDirOrNote()

const SENT = 'RFC 9309 §2.2.2: both sides are encoded; the reference leaves the URL to its caller'
const LOST = 'the vectors have U+FFFD for half surrogate pairs, on both sides'
const OTHER = 'the vectors do not say where its robots.txt is'

/** Why we answer otherwise than the suite, by the vector's name. */
const unlikeSuite: Readonly<Record<string, string>> = {
  'robots-parser-0122': LOST,
  'robots-parser-0123': LOST,
  'robots-parser-0206': OTHER,
}
/** Why we answer otherwise than the reference, by what the vectors say of it. */
const unlikeReference: Readonly<Record<string, string>> = {
  'url-normalisation: raw non-ASCII in the URL': SENT,
  'url-normalisation: lower-case hex in the URL': SENT,
}

interface Answered {
  readonly id: string
  readonly kind: string
  readonly asSuite: boolean
  /** Undefined where the reference has nothing to say. */
  readonly asReference: boolean | undefined
  readonly why: string | undefined
}

describe.skipIf(dir === undefined)("the questions of robots-parser's suite", () => {
  it('are answered as it wants them answered, or there is a reason', async () => {
    const isTheirs = ({ source }: { readonly source: string }) => source.startsWith('samclarke/robots-parser:')
    const access = (await vectorsIn(dir as string)).filter(isTheirs).map(askAccess)
    const others = (await otherVectorsIn(dir as string)).filter(isTheirs).map(askOther)
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
        countedReasons(ofKind),
      ]
    })
    const page = join(import.meta.dirname, '../../../docs/robots-parser.md')
    const head = ['question', 'vectors', 'as the suite', 'as google/robotstxt', 'otherwise, and why']
    await expect(withTables(readFileSync(page, 'utf8'), [{ head, rows }])).toMatchFileSnapshot(page)
  })
})

function askAccess({
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
}: Vector): Answered {
  const ours = robotFor(note, robots).isAllowed(url, agent)
  const why = agree ? unlikeSuite[id] : unlikeReference[reason]
  return { id, kind, asSuite: ours === expected, asReference: ours === google, why }
}

function askOther({ id, kind, robots, agent, url = '', note, expected }: OtherVector): Answered {
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

/** The notes of this suite say `robots url …`. */
function robotFor(note: string | undefined, robots: Uint8Array): Robot {
  const [, url] = /^robots url (.*)$/.exec(note ?? '') ?? []
  if (url === undefined) throw new Error(`no URL of a robots.txt in ${note}`)
  return robotsParser(url, Buffer.from(robots).toString())
}

function countedReasons(answered: readonly Answered[]): string {
  const unlike = answered.filter(({ asSuite, asReference }) => !asSuite || asReference === false)
  const counts = Map.groupBy(unlike, ({ why }) => why)
  return [...counts].map(([why, { length }]) => `${length}: ${why}`).join('; ')
}
