import { isDeepStrictEqual } from 'node:util'
import { differences as sharedDifferences } from '@politely/testkit/cases/differences'
import { rulesCases } from '@politely/testkit/cases/rules-cases'
import { expectTables } from '@politely/testkit/doc-page'
import original from 'robots-parser'
import { describe, expect, it } from 'vitest'
import robotsParser, { type RobotsParser } from '../src/index.ts'
import { type Difference, differences, namesInCoreTables, type Question, type Reason, reasons } from './differences.ts'

/**
 * The cast is necessary because robots-parser's types describe an ES module, but the package is
 * CommonJS.
 */
const theirParser = original as unknown as RobotsParser

const methods = ['isAllowed', 'getMatchingLineNumber'] as const
const ROBOTS_URL = 'https://example.com/robots.txt'

function resultOf(parser: RobotsParser, robotsUrl: string, robots: string, question: Question): unknown {
  try {
    const robot = parser(robotsUrl, robots)
    switch (question.method) {
      case 'isAllowed':
      case 'getMatchingLineNumber':
        return robot[question.method](question.url, question.ua)
      case 'getCrawlDelay':
        return robot.getCrawlDelay(question.ua)
      default:
        return robot[question.method]()
    }
  } catch (error) {
    return error
  }
}

describe('differences between robots-parser 3.0.1 and our package', () => {
  it.each(differences)('$reason: $question', ({ robotsUrl = ROBOTS_URL, robots, question, theirs, ours }) => {
    expect(resultOf(theirParser, robotsUrl, robots, question)).toEqual(theirs)
    expect(resultOf(robotsParser, robotsUrl, robots, question)).toEqual(ours)
    expect(ours).not.toEqual(theirs)
  })

  it('has a row for every reason', () => {
    expect(new Set(differences.map(({ reason }) => reason))).toEqual(new Set(Object.keys(reasons)))
  })

  it("lists every difference that occurs in the tables of core's tests", () => {
    const text = (bytes: string) => Buffer.from(bytes, 'latin1').toString()
    const differing = [...sharedDifferences, ...rulesCases].filter(({ robots, url, agent }) => {
      if (typeof agent !== 'string') return false // robots-parser does not support a list of names
      const absolute = url.startsWith('/') ? `https://example.com${url}` : url
      const [theirs, ours] = [theirParser, robotsParser].map((parser) =>
        methods.map((method) => resultOf(parser, ROBOTS_URL, text(robots), { method, url: absolute, ua: agent })),
      )
      return !isDeepStrictEqual(theirs, ours)
    })
    expect(new Set(differing.map(({ name }) => name))).toEqual(new Set(Object.values(namesInCoreTables).flat()))
  })

  it('docs/robots-parser.md lists them', { tags: 'page' }, async () => {
    const head = ['robots.txt', 'call', 'robots-parser', 'ours', 'why']
    const rows = (Object.keys(reasons) as Reason[]).map((reason) => {
      const row = differences.find((one) => one.reason === reason) as Difference
      return [
        formatFile(row.robots),
        formatCall(row.question),
        formatResult(row.theirs),
        formatResult(row.ours),
        reasons[reason],
      ]
    })
    await expectTables('docs/robots-parser.md', { head, rows })
  })
})

/** Escapes invisible characters as in JavaScript. Shortens a long run of spaces to ` … `. */
function visible(text: string): string {
  const escaped = text.replace(/[^\x20-\x7e]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)
  return escaped.replace(/ {9,}/g, ' … ')
}

function formatFile(robots: string): string {
  return robots
    .split('\n')
    .map((line) => `\`${visible(line.trimEnd())}\``)
    .join(' ')
}

function formatCall(question: Question): string {
  const { method, url, ua } = { url: undefined, ua: undefined, ...question }
  const args = [url?.replace('https://example.com', ''), ua].filter((one) => one !== undefined)
  return `\`${method}(${args.map((one) => `"${visible(one)}"`).join(', ')})\``
}

function formatResult(result: unknown): string {
  if (result instanceof Error) return `throws a ${result.name}`
  return `\`${typeof result === 'number' ? result : JSON.stringify(result)}\``
}
