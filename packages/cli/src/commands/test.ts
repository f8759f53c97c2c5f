// `politely test`: checks a robots.txt against files of expectations.
import { describeReason, parseRobots, type Robots } from '@politely/core'
import type { Arguments } from '../command-line.ts'
import { clientOptionsOf } from '../crawler.ts'
import { UsageError } from '../errors.ts'
import { EXITS } from '../exit-code.ts'
import { write } from '../output.ts'
import { dialectOf, isUrl, type NamedRobots, parseFile, readText, requiredRobots, timeoutOf } from '../robots-file.ts'
import { checkExpectations, type Outcome, parseExpectations } from './expectations.ts'
import { formatResults, type ResultFormat } from './format-results.ts'

/** Returns the exit code. */
export async function test(args: Arguments): Promise<number> {
  const files = args.operands
  if (files.length === 0)
    throw new UsageError(
      'no file of expectations was given; write one such as politely test robots.expect --robots robots.txt',
    )
  const file = requiredRobots(args, 'politely test robots.expect --robots robots.txt')
  const expectations = []
  for (const each of files) {
    const text = new TextDecoder().decode(await readText(each, 'test', 'write the name of a file of expectations'))
    expectations.push(...parseExpectations(text, each))
  }
  if (expectations.length === 0)
    throw new UsageError(`${files.join(', ')}: there is no expectation; write one such as "deny * /admin"`)
  const { name, robots } = isUrl(file) ? await fetchRobots(file, args) : await parseFile(file, dialectOf(args))
  if (robots === undefined) return EXITS.unreachable.code
  const outcomes = checkExpectations(expectations, robots)
  await write(formatResults(name, outcomes, (args.get('format') ?? 'text') as ResultFormat))
  return outcomes.every(({ problems }: Outcome) => problems.length === 0) ? EXITS.success.code : EXITS.disallowed.code
}

/** A site without robots.txt allows everything, as an empty file does. */
async function fetchRobots(url: string, args: Arguments): Promise<{ name: string; robots: Robots | undefined }> {
  const { RobotsClient } = await import('@politely/fetcher')
  const client = new RobotsClient({ ...clientOptionsOf(args), timeoutMs: timeoutOf(args), dialect: dialectOf(args) })
  try {
    const robots = await client.robots(url)
    const verdict = await client.check(url)
    const name = verdict.access?.url ?? url
    if (verdict.because === 'unreachable') {
      process.stderr.write(`politely: ${name}: ${describeReason(verdict)}\n`)
      return { name, robots: undefined }
    }
    return { name, robots: robots ?? parseRobots('', { dialect: dialectOf(args) }) }
  } finally {
    await client.close()
  }
}

export type { NamedRobots }
