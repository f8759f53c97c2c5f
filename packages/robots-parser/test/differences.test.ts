import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import { differences as sharedDifferences } from '@politely/testkit/differences'
import { withTables } from '@politely/testkit/doc-table'
import { rulesCases } from '@politely/testkit/rules-cases'
import original from 'robots-parser'
import { describe, expect, it } from 'vitest'
import robotsParser, { type RobotsParser } from '../src/index.ts'
import { alsoIn, type Difference, differences, type Question, type Reason, reasons } from './differences.ts'

/** Its types describe an ES module, which it is not. */
const theirParser = original as unknown as RobotsParser

const methods = ['isAllowed', 'getMatchingLineNumber'] as const
const ROBOTS_URL = 'https://example.com/robots.txt'

function answerOf(parser: RobotsParser, robotsUrl: string, robots: string, question: Question): unknown {
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

describe('where robots-parser 3.0.1 and ours differ', () => {
  it.each(differences)('$reason: $question', ({ robotsUrl = ROBOTS_URL, robots, question, theirs, ours }) => {
    expect(answerOf(theirParser, robotsUrl, robots, question)).toEqual(theirs)
    expect(answerOf(robotsParser, robotsUrl, robots, question)).toEqual(ours)
    expect(ours).not.toEqual(theirs)
  })

  it('every reason has a row', () => {
    expect(new Set(differences.map(({ reason }) => reason))).toEqual(new Set(Object.keys(reasons)))
  })

  it('no reason is missing: the tables that core is tested with', () => {
    const text = (bytes: string) => Buffer.from(bytes, 'latin1').toString()
    const parting = [...sharedDifferences, ...rulesCases].filter(({ robots, url, agent }) => {
      if (typeof agent !== 'string') return false // a list is nothing that robots-parser knows
      const absolute = url.startsWith('/') ? `https://example.com${url}` : url
      const [theirs, ours] = [theirParser, robotsParser].map((parser) =>
        methods.map((method) => answerOf(parser, ROBOTS_URL, text(robots), { method, url: absolute, ua: agent })),
      )
      return !isDeepStrictEqual(theirs, ours)
    })
    expect(new Set(parting.map(({ name }) => name))).toEqual(new Set(Object.values(alsoIn).flat()))
  })

  it('docs/robots-parser.md shows them', async () => {
    const path = join(import.meta.dirname, '../../../docs/robots-parser.md')
    const head = ['robots.txt', 'question', 'robots-parser', 'ours', 'why']
    const rows = (Object.keys(reasons) as Reason[]).map((reason) => {
      const row = differences.find((one) => one.reason === reason) as Difference
      return [shownFile(row.robots), shownQuestion(row.question), shown(row.theirs), shown(row.ours), reasons[reason]]
    })
    await expect(withTables(readFileSync(path, 'utf8'), [{ head, rows }])).toMatchFileSnapshot(path)
  })
})

/** What would not be seen is written as in JavaScript; many blanks are one and three dots. */
function visible(text: string): string {
  const escaped = text.replace(/[^\x20-\x7e]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)
  return escaped.replace(/ {9,}/g, ' … ')
}

function shownFile(robots: string): string {
  return robots
    .split('\n')
    .map((line) => `\`${visible(line.trimEnd())}\``)
    .join(' ')
}

function shownQuestion(question: Question): string {
  const { method, url, ua } = { url: undefined, ua: undefined, ...question }
  const asked = [url?.replace('https://example.com', ''), ua].filter((one) => one !== undefined)
  return `\`${method}(${asked.map((one) => `"${visible(one)}"`).join(', ')})\``
}

function shown(answer: unknown): string {
  if (answer instanceof Error) return `throws a ${answer.name}`
  return `\`${typeof answer === 'number' ? answer : JSON.stringify(answer)}\``
}
