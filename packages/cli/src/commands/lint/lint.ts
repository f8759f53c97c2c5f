// `politely lint`: prints the mistakes in robots.txt files.
import { type Finding, type LintOptions, lintRobots, type Severity } from '@politely/core'
import { type Fix, fixRobots, ignoredFindings } from '@politely/core/review'
import type { Arguments } from '../../command-line.ts'
import { EXITS, UsageError } from '../../exit-code.ts'
import { dialectOf } from '../../flags.ts'
import { policyTokensOf } from '../../input/policy-tokens.ts'
import { isUrl, loadRobots, readText } from '../../input/robots-file.ts'
import { fileName } from '../../input/stdin.ts'
import { replaceFile } from '../../output/file.ts'
import { errorLine, printable } from '../../output/style.ts'
import { write } from '../../output/write.ts'
import { type FindingFormat, formatFindings } from './format-findings.ts'
import type { FileFindings, PlacedFinding } from './reported-findings.ts'

/** Returns the exit code. */
export async function lint(args: Arguments): Promise<number> {
  if (args.operands.length === 0)
    throw new UsageError('no file was given; write one such as politely lint public/robots.txt, or the URL of a site')
  const results: FileFindings[] = []
  let isUnreachable = false
  const options: LintOptions = { dialect: dialectOf(args), policyTokens: await policyTokensOf(args) }
  for (const given of args.operands) {
    if (isUrl(given)) {
      if (args.has('fix')) throw new UsageError(`--fix: ${given} is a URL; write the name of a file`, given)
      const loaded = await loadRobots(given, args, 'lint')
      if (loaded === undefined) {
        isUnreachable = true // the findings of the others are printed all the same
        continue
      }
      const { name, missing, robots } = loaded
      const { findings, ...rest } = findingsIn(name, new TextEncoder().encode(robots.text), robots.text, {
        ...options,
        origin: given,
      })
      const message = missing && `Nothing to lint: ${missing}.` // not that a file is empty
      results.push({ ...rest, findings: message ? findings.map((finding) => ({ ...finding, message })) : findings })
    } else {
      if (args.has('fix')) {
        if (given === '-') throw new UsageError('--fix: - is stdin, which cannot be fixed; write the name of a file')
        await fixFile(given, args.get('fix') === 'all')
      }
      const bytes = await readText(given, 'lint', 'write the name of a robots.txt file, or the URL of a site')
      results.push(findingsIn(fileName(given), bytes, new TextDecoder().decode(bytes), options))
    }
  }
  const limit = SEVERITIES.indexOf(args.get('max-severity') as Severity | 'none')
  const isFailure = (severity: Severity) => SEVERITIES.indexOf(severity) > limit
  if (results.length === 0) return EXITS.unreachable.code
  await write(formatFindings(results, args.get('format') as FindingFormat, isFailure))
  const fails = results.some(({ findings }) => findings.some(({ severity }) => isFailure(severity)))
  if (isUnreachable) return EXITS.unreachable.code
  return fails ? EXITS.disallowed.code : EXITS.success.code
}

/**
 * Writes the fixed file, and prints each fix on stderr, so that stdout has the findings that are
 * left.
 */
async function fixFile(file: string, isAll: boolean): Promise<void> {
  const bytes = await readText(file, 'lint', 'write the name of a robots.txt file')
  const text = Buffer.from(bytes).toString('utf8')
  if (!Buffer.from(text).equals(bytes)) {
    process.stderr.write(errorLine(`${file}: not fixed, because it is not UTF-8; save it as UTF-8`))
    return
  }
  ignoredIn(text.split(/\r\n|\r|\n/)) // rejects an unknown code before the file is written
  const { text: fixed, applied, left } = fixRobots(text, isAll)
  if (applied.length > 0) await replaceFile('fix', file, [fixed])
  for (const fix of applied) process.stderr.write(`fixed  ${describeFix(file, fix)}\n`)
  for (const fix of left) process.stderr.write(`left   ${describeFix(file, fix)}\n`)
}

function describeFix(file: string, { code, line, before, after, changes }: Fix): string {
  const lines = after?.split(/\r\n|\r|\n/).map((line) => printable(line.trim()))
  const what = lines === undefined ? 'removed' : `-> ${lines.join(' and ')}`
  const effect = changes === undefined ? '' : `; ${printable(changes)}`
  return `${printable(file)}:${line}  ${code}  ${printable(before.trim())}  ${what}${effect}`
}

/** By severity. `--max-severity` names the highest one that is accepted. */
const SEVERITIES: readonly (Severity | 'none')[] = ['none', 'note', 'warning', 'error']

function findingsIn(name: string, source: Uint8Array, text: string, options: LintOptions): FileFindings {
  const lines = text.split(/\r\n|\r|\n/)
  const ignored = ignoredIn(lines)
  const all = lintRobots(source, options)
  const findings = all
    .filter(({ code, line }) => !ignored.get(line)?.has(code))
    .map((finding): PlacedFinding => ({ ...finding, column: columnOf(lines, finding) }))
  return { name, text, findings, suppressed: all.length - findings.length }
}

/** The first character of the line that is not a blank. Counted from 1. */
function columnOf(lines: readonly string[], { line }: Finding): number {
  return 1 + (/^[\s\ufeff]*/.exec(lines[line - 1] ?? '')?.[0].length ?? 0)
}

/**
 * Returns the codes that comments suppress, by line.
 * @throws {UsageError} for an unknown code, which would otherwise suppress nothing in silence.
 */
function ignoredIn(lines: readonly string[]): ReadonlyMap<number, ReadonlySet<string>> {
  const { byLine, unknown } = ignoredFindings(lines)
  if (unknown === undefined) return byLine
  throw new UsageError(
    `line ${unknown.line}: politely-ignore: ${JSON.stringify(unknown.code)} is no code of a finding; write one that politely lint prints`,
  )
}
