// Questions out of robots-parser's test suite as its repository has it, beyond its last release, with google/robotstxt's answers.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { conformanceDir, type OtherVector, otherVectorsIn, type Vector, vectorsIn, withTables } from '@politely/testkit'
import { describe, expect, it } from 'vitest'
import robotsParser from '../src/index.ts'

const dir = conformanceDir()
const page = join(import.meta.dirname, '../../../docs/robots-parser.md')

const SENT = 'RFC 9309 §2.2.2: the reference leaves the URL alone; robots-parser and we compare what a client sends'
const LOST = 'no question: the vectors hold U+FFFD for the lone surrogates of the suite'
const OTHER = 'no question: the vectors do not say that the robots.txt is of another origin'

/** Where we answer otherwise than a suite that has the reference on its side, or than the reference, and why. */
const reasons: Readonly<Record<string, string>> = {
  'robots-parser-0122': LOST,
  'robots-parser-0123': LOST,
  'robots-parser-0206': OTHER,
}

interface Answered {
  readonly id: string
  readonly kind: string
  readonly ours: unknown
  readonly expected: unknown
  /** Undefined where the reference has nothing to say. */
  readonly google: boolean | undefined
  readonly reason: string | undefined
}

describe.skipIf(dir === undefined)("the questions of robots-parser's suite", () => {
  const isTheirs = ({ source }: { readonly source: string }) => source.startsWith('samclarke/robots-parser:')

  it('are answered as it wants them answered, or there is a reason', async () => {
    const access = (await vectorsIn(dir as string)).filter(isTheirs)
    const others = (await otherVectorsIn(dir as string)).filter(isTheirs)
    expect([access.length, others.length]).toEqual([143, 63])
    const answered = [...access.map(answerAccess), ...others.map(answerOther)]

    const unlikeSuite = answered.filter(({ ours, expected }) => !Object.is(ours, expected) && JSON.stringify(ours) !== JSON.stringify(expected))
    const unlikeGoogle = answered.filter(({ ours, google }) => google !== undefined && ours !== google)
    const withoutReason = [...unlikeSuite, ...unlikeGoogle].filter(({ reason }) => reason === undefined)
    expect(withoutReason).toEqual([])
  })
})

function answerAccess({ id, robots, agents: [agent], url, note, expected, google, agree, reason }: Vector): Answered {
  const ours = robotsParser(robotsUrlIn(note), Buffer.from(robots).toString()).isAllowed(url, agent)
  return { id, kind: 'access', ours, expected, google, reason: !agree && reason?.startsWith('url-normalisation') ? SENT : reasons[id] }
}

function answerOther({ id, kind, robots, agent, url = '', note, expected }: OtherVector): Answered {
  const robot = robotsParser(robotsUrlIn(note ?? `robots url ${URL.parse(url)?.origin ?? 'http://www.example.com'}/robots.txt`), Buffer.from(robots).toString())
  const asked: Readonly<Record<string, () => unknown>> = {
    'access-undefined': () => robot.isAllowed(url, agent) ?? null,
    'lone-surrogate:access': () => robot.isAllowed(url, agent),
    'explicitly-disallowed': () => robot.isExplicitlyDisallowed(url, agent as string) ?? null,
    'crawl-delay': () => robot.getCrawlDelay(agent) ?? null,
    line: () => robot.getMatchingLineNumber(url, agent),
    host: () => robot.getPreferredHost(),
    sitemaps: () => robot.getSitemaps(),
  }
  return { id, kind, ours: asked[kind]?.(), expected, google: undefined, reason: reasons[id] }
}

/** The notes of this suite say `robots url …`. */
function robotsUrlIn(note: string | undefined): string {
  return /^robots url (.*)$/.exec(note ?? '')?.[1] as string
}
