// `politely evidence`: chooses the verb, and reads its flags.
import { readFile } from 'node:fs/promises'
import { type DialectName, dialects, isPolitelyError } from '@politely/core'
import { readingOf } from '@politely/core/crawlers'
import { loadOptional } from '@politely/core/flags'
import type { EvidenceFinding, ReplayDifference, ReplayOptions } from '@politely/evidence/audit'
import type { Arguments } from '../../command-line.ts'
import { givenTokens } from '../../crawler.ts'
import { type ExitName, UsageError } from '../../exit-code.ts'
import { explainReadError } from '../../input/robots-file.ts'
import { replaceFile } from '../../output/file.ts'
import { printOne, printReport, rowsWithin } from '../../output/report.ts'
import { jsonLine, write } from '../../output/write.ts'
import { runVerb, type Verbs } from '../../verb.ts'
import { explanationText, replayText, verificationText } from './format-evidence.ts'

const NAME = '@politely/evidence'
const MISSING = `${NAME} is not installed next to politely; write npm install ${NAME} (with --global if politely is global)`
const FORMAT = ['format', 'json']

const VERBS: Verbs = {
  verify: { operands: 'evidence', count: [1, 1], flags: ['key', ...FORMAT], run: verify },
  explain: { operands: 'evidence https://example.com/page', count: [2, 2], flags: ['at', ...FORMAT], run: explain },
  replay: {
    operands: 'evidence',
    count: [1, 1],
    flags: ['dialect', 'user-agent', 'product-token', ...FORMAT],
    run: replay,
  },
  report: { operands: 'evidence --output report.html', count: [1, 1], flags: ['output', ...FORMAT], run: report },
}

/** Returns the exit code. */
export function evidence(args: Arguments): Promise<number> {
  const isReport = args.operands[0] === 'report'
  const format = args.get('format') as string // it has a default
  const formats = isReport ? ['html', 'json'] : ['text', 'json', 'ndjson']
  if (args.has('format') && !formats.includes(format))
    throw new UsageError(`--format: ${args.operands[0]} prints no ${format}; write one of ${formats.join(', ')}`)
  return runVerb('evidence', VERBS, args)
}

type Audit = typeof import('@politely/evidence/audit')

/** Runs code with the package. @throws {UsageError} if it is not installed, or refuses an argument. */
async function withAudit<T>(use: (audit: Audit) => Promise<T>): Promise<T> {
  const audit = await loadOptional(
    NAME,
    () => import('@politely/evidence/audit'),
    () => new UsageError(MISSING),
  )
  try {
    return await use(audit)
  } catch (error) {
    // The package has its own copies of the classes of errors.
    throw isPolitelyError(error) ? new UsageError(error.message) : error
  }
}

async function verify(args: Arguments, [dir = '']: readonly string[]): Promise<number> {
  const files = args.all('key')
  const keys = files.length === 0 ? undefined : (await Promise.all(files.map(readKeys))).flat()
  return withAudit((audit) =>
    print<EvidenceFinding, Awaited<ReturnType<Audit['verify']>>>(args, {
      list: 'findings',
      run: (onFinding) => audit.verify(dir, { keys, onFinding }),
      kind: ({ level }) => level,
      text: verificationText,
      exit: ({ errors }) => (errors > 0 ? 'disallowed' : 'success'),
    }),
  )
}

async function replay(args: Arguments, [dir = '']: readonly string[]): Promise<number> {
  const whatIf = whatIfOf(args)
  return withAudit((audit) =>
    print<ReplayDifference, Awaited<ReturnType<Audit['replay']>>>(args, {
      list: 'differences',
      run: (onDifference) => audit.replay(dir, { ...whatIf, onDifference }),
      kind: () => '',
      text: (result, found) => replayText(result, found, whatIf !== undefined),
      exit: ({ different }) => (different > 0 && whatIf === undefined ? 'disallowed' : 'success'),
    }),
  )
}

function explain(args: Arguments, [dir = '', url = '']: readonly string[]): Promise<number> {
  const at = timeOf(args)
  return withAudit(async (audit) => {
    const explanation = await audit.explain(dir, url, { at })
    const exit = explanation.found === 'unknown' ? 'disallowed' : 'success'
    return printOne(
      args,
      () => explanation,
      () => explanationText(explanation),
      exit,
    )
  })
}

function report(args: Arguments, [dir = '']: readonly string[]): Promise<number> {
  const file = args.get('output')
  return withAudit(async (audit) => {
    const { html, facts } = await audit.reportEvidence(dir)
    const text = args.get('format') === 'json' ? jsonLine(facts) : html
    await (file === undefined ? write(text) : replaceFile('output', file, [text]))
    return 0
  })
}

interface Audited<Found, Result> {
  /** The name of the list in JSON. */
  readonly list: string
  run(add: (found: Found) => void | Promise<void>): Promise<Result>
  /** Text shows so many of each kind. */
  kind(found: Found): string
  text(result: Result, found: readonly Found[]): string
  exit(result: Result): ExitName
}

const MAX_SHOWN = 50

/** Prints what was found and the result: in text and JSON together, in NDJSON as it comes. */
async function print<Found extends object, Result extends object>(
  args: Arguments,
  { list, run, kind, text, exit }: Audited<Found, Result>,
): Promise<number> {
  const format = args.get('format')
  if (format === 'ndjson') {
    let end: ExitName = 'success'
    const rows = rowsWithin<object>(async (pass) => {
      const result = await run(pass)
      end = exit(result)
      await pass(result)
    })
    return printReport(args, { rows, text: () => '', json: (row) => row, end: () => ({ exit: end }) })
  }
  const found: Found[] = []
  const counts = new Map<string, number>()
  const result = await run((one) => {
    const count = counts.get(kind(one)) ?? 0
    counts.set(kind(one), count + 1)
    if (format === 'json' || count < MAX_SHOWN) found.push(one)
  })
  return printOne(
    args,
    () => ({ ...result, [list]: found }),
    () => text(result, found),
    exit(result),
  )
}

/** Returns what the flags change about the decisions; undefined without these flags. */
function whatIfOf(args: Arguments): ReplayOptions | undefined {
  const name = args.get('dialect') as DialectName | undefined
  const hasName = args.has('user-agent') || args.has('product-token')
  if (!hasName) return name && { dialect: name }
  const given = dialects[name ?? 'rfc9309']
  const { productTokens, dialect } = readingOf(givenTokens(args), given)
  return { productTokens, ...((name !== undefined || dialect !== given) && { dialect }) }
}

/** @throws {UsageError} for a text that is not a time. */
function timeOf(args: Arguments): number | undefined {
  const given = args.get('at')
  if (given === undefined) return undefined
  const at = Date.parse(given)
  if (!Number.isNaN(at)) return at
  throw new UsageError(`--at: ${JSON.stringify(given)} is not a time; write one such as 2026-11-28T16:00:00Z`)
}

/** Reads public keys: a JWK, a key file, or a key directory. */
async function readKeys(file: string): Promise<readonly { readonly x?: string }[]> {
  const remedy = 'write the name of a public key (JWK), a key file, or a key directory'
  let json: unknown
  try {
    json = JSON.parse(await readFile(file, 'utf8'))
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw explainReadError(error, file, '--key', remedy)
  }
  const { keys = [json] } = (json ?? {}) as { readonly keys?: readonly unknown[] }
  const found = keys.filter((key): key is { readonly x: string } => typeof (key as { x?: unknown })?.x === 'string')
  if (found.length > 0) return found.map(({ x }) => ({ x }))
  throw new UsageError(`--key: ${JSON.stringify(file)} has no Ed25519 key; ${remedy}`)
}
