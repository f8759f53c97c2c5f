// `politely audit`: compares a robots.txt with the catalogue of known crawlers.
import { knownCrawlersDate } from '@politely/core/crawlers'
import { samplePaths } from '@politely/core/review'
import type { Arguments } from '../../command-line.ts'
import { EXITS, UsageError } from '../../exit-code.ts'
import { policyTokensOf } from '../../input/policy-tokens.ts'
import { loadRobots } from '../../input/robots-file.ts'
import { printOne } from '../../output/report.ts'
import { crawlerAccesses } from './crawler-access.ts'
import { type FileName, namesIn } from './file-names.ts'
import { type Audit, formatAudit } from './format-audit.ts'

/** Returns the exit code. */
export async function audit(args: Arguments): Promise<number> {
  const [file, ...given] = args.operands
  if (file === undefined)
    throw new UsageError('no file was given; write the name of a robots.txt, such as politely audit public/robots.txt')
  const wrong = given.find((path) => !path.startsWith('/') && !URL.canParse(path))
  if (wrong !== undefined) throw new UsageError(`audit: ${JSON.stringify(wrong)} is not a path; begin it with /`, wrong)
  const loaded = await loadRobots(file, args, 'audit')
  if (loaded === undefined) return EXITS.unreachable.code
  const { name, robots } = loaded
  const isSample = given.length === 0
  const paths = isSample ? samplePaths([robots]) : given
  const policyTokens = new Set((await policyTokensOf(args)).map(({ token }) => token.toLowerCase()))
  const names = namesIn(robots).map((one): FileName => {
    return policyTokens.has(one.name.toLowerCase())
      ? { ...one, finding: 'known', crawler: undefined, replacedBy: [] }
      : one
  })
  const crawlers = crawlerAccesses(robots, paths, names, args.all('purpose'))
  const found: Audit = { robots: name, date: knownCrawlersDate, paths, isSample, crawlers, names }
  const isUseless = names.some(({ finding }) => args.all('fail-on').includes(finding))
  return printOne(
    args,
    () => found,
    () => formatAudit(found, args.has('all')),
    isUseless ? 'disallowed' : 'success',
  )
}
