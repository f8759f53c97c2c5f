// `politely doctor`: runs the checks one after the other, and prints each finding at once.
import { originOf } from '@politely/core'
import type { Arguments } from '../../command-line.ts'
import { UsageError } from '../../errors.ts'
import { EXITS } from '../../exit-code.ts'
import { rejectFiles } from '../../input/is-file.ts'
import { dim, green, red, safeText, yellow } from '../../output/style.ts'
import { wrap } from '../../output/wrap.ts'
import { jsonLine, write } from '../../output/write.ts'
import type { Finding } from './finding.ts'
import { checkCrawler, checkNode, checkProxy, checkStore } from './machine.ts'
import { checkSite } from './site.ts'

const INDENT = ' '.repeat(18)
const MARKS = { ok: green('ok  '), warn: yellow('warn'), fail: red('fail') }

export async function doctor(args: Arguments): Promise<number> {
  const [url, ...more] = args.operands
  if (more.length > 0) throw new UsageError('doctor: several URLs were given; write one')
  if (url !== undefined) rejectFiles([url])
  if (url !== undefined && (originOf(url) === undefined || !/^https?:/i.test(url)))
    throw new UsageError(`${JSON.stringify(url)} is not the URL of a site; write one such as https://example.com`, url)
  const isText = args.get('format') === 'text'
  const findings: Finding[] = []
  for await (const finding of allFindings(args, url)) {
    findings.push(finding)
    if (isText) await write(textOf(finding))
  }
  const failed = findings.filter(({ result }) => result === 'fail').length
  const warnings = findings.filter(({ result }) => result === 'warn').length
  if (isText) await write(summary(failed, warnings, url))
  else await write(jsonLine({ version: 1, findings }))
  return failed === 0 ? EXITS.success.code : EXITS.disallowed.code
}

async function* allFindings(args: Arguments, url: string | undefined): AsyncGenerator<Finding> {
  yield checkNode()
  yield checkProxy(args, url)
  const crawler = checkCrawler(args)
  yield crawler
  yield await checkStore(args)
  if (url !== undefined) yield* checkSite(args, url, crawler)
}

function textOf({ check, result, text }: Finding): string {
  const escaped = safeText(text)
  const lines = process.stdout.isTTY ? wrap(escaped, INDENT.length, Math.max(60, process.stdout.columns)) : escaped
  return `${MARKS[result]}  ${check.padEnd(10)}  ${lines.replaceAll('\n', `\n${INDENT}`)}\n`
}

function summary(failed: number, warnings: number, url: string | undefined): string {
  const counts = failed + warnings === 0 ? 'everything works' : `${failed} failed, ${warnings} to look at`
  const hint = url === undefined ? '; write politely doctor URL to check the way to a site' : ''
  return `${dim(counts + hint)}\n`
}
