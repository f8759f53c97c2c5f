// `politely doctor`: runs the checks one after the other, and prints each finding at once.
import { originOf } from '@politely/core'
import type { Arguments } from '../../command-line.ts'
import { UsageError } from '../../exit-code.ts'
import { rejectFiles } from '../../input/is-file.ts'
import { type Finding, printFindings } from '../../output/findings.ts'
import { checkCrawler, checkNode, checkProxy, checkStore } from './machine.ts'
import { checkSite } from './site.ts'

export async function doctor(args: Arguments): Promise<number> {
  const [url, ...more] = args.operands
  if (more.length > 0) throw new UsageError('doctor: several URLs were given; write one')
  if (url !== undefined) rejectFiles([url])
  if (url !== undefined && (originOf(url) === undefined || !/^https?:/i.test(url)))
    throw new UsageError(`${JSON.stringify(url)} is not the URL of a site; write one such as https://example.com`, url)
  const hint = url === undefined ? '; write politely doctor URL to check the way to a site' : ''
  return printFindings(args, allFindings(args, url), hint)
}

async function* allFindings(args: Arguments, url: string | undefined): AsyncGenerator<Finding> {
  yield checkNode()
  yield checkProxy(args, url)
  const crawler = checkCrawler(args)
  yield crawler
  yield await checkStore(args)
  if (url !== undefined) yield* checkSite(args, url, crawler)
}
