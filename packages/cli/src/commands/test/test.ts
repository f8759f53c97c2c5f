// `politely test`: checks a robots.txt against files of expectations.
import type { Arguments } from '../../command-line.ts'
import { EXITS, UsageError } from '../../exit-code.ts'
import { loadRobots, readText, requiredRobots } from '../../input/robots-file.ts'
import { fileName } from '../../input/stdin.ts'
import { write } from '../../output/write.ts'
import { checkExpectations, type ExpectationOutcome, parseExpectations } from './expectations.ts'
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
    expectations.push(...parseExpectations(text, fileName(each)))
  }
  if (expectations.length === 0)
    throw new UsageError(`${files.join(', ')}: there is no expectation; write one such as "deny * /admin"`)
  const loaded = await loadRobots(file, args)
  if (loaded === undefined) return EXITS.unreachable.code
  const outcomes = await checkExpectations(expectations, loaded)
  await write(formatResults(loaded.name, outcomes, args.get('format') as ResultFormat))
  return outcomes.every(({ problems }: ExpectationOutcome) => problems.length === 0)
    ? EXITS.success.code
    : EXITS.disallowed.code
}
