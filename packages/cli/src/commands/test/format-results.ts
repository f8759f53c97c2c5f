// Prints the results of `politely test`. docs/reference/output-formats.md describes the formats for
// programs.
import { crawlerText } from '../../crawler.ts'
import { annotation, escapeXml, junitReport } from '../../output/ci-reports.ts'
import { reportPath } from '../../output/report-path.ts'
import { bold, dim, green, printable, red } from '../../output/style.ts'
import { jsonLine } from '../../output/write.ts'
import type { ExpectationOutcome } from './expectations.ts'

export type ResultFormat = 'text' | 'json' | 'junit' | 'github'

export function formatResults(robots: string, outcomes: readonly ExpectationOutcome[], format: ResultFormat): string {
  return FORMATS[format](robots, outcomes)
}

const FORMATS: Readonly<Record<ResultFormat, (robots: string, outcomes: readonly ExpectationOutcome[]) => string>> = {
  text(robots, outcomes) {
    const failed = outcomes.filter(({ problems }) => problems.length > 0)
    const blocks = failed.map(({ expectation: { crawler, file, line, text }, problems }) => {
      const name = crawlerText([crawler])
      const lines = [
        ...(name === crawler ? [] : [dim(`    for ${name}`)]),
        ...problems.map(({ message }) => `    ${printable(message)}`),
      ]
      return `${red('✗')} ${bold(printable(text))}  ${dim(`${printable(file)}:${line}`)}\n${lines.join('\n')}\n`
    })
    const passed = outcomes.length - failed.length
    const summary =
      failed.length === 0
        ? green(`✓ ${count(passed)} met by ${printable(robots)}`)
        : red(`${failed.length} of ${count(outcomes.length)} not met by ${printable(robots)}`)
    return `${blocks.join('')}${summary}\n`
  },
  json(robots, outcomes) {
    const results = outcomes.map(({ expectation: { check: _, ...expectation }, problems }) => ({
      ...expectation,
      met: problems.length === 0,
      problems,
    }))
    return jsonLine({ version: 1, robots, met: outcomes.every(({ problems }) => problems.length === 0), results })
  },
  junit(robots, outcomes) {
    const cases = outcomes.map(({ expectation: { kind, text, file, line }, problems }) => {
      const messages = problems.map(({ message }) => escapeXml(message))
      const [message] = messages
      const place = escapeXml(`${file}:${line}`)
      const failure = message && { type: kind, message, text: `${place}: ${messages.join('\n')}` }
      return { name: escapeXml(text), file: escapeXml(file), ...(failure && { failure }) }
    })
    return junitReport([{ name: escapeXml(robots), cases }])
  },
  github: (_robots, outcomes) =>
    outcomes
      .flatMap(({ expectation: { file, line, text }, problems }) =>
        problems.map(({ message }) => annotation('error', { file: reportPath(file), line, title: text }, message)),
      )
      .join(''),
}

function count(expectations: number): string {
  return expectations === 1 ? '1 expectation' : `${expectations} expectations`
}
