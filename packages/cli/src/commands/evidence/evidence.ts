// `politely evidence`: chooses the verb, and reads its flags.
import { readFile } from 'node:fs/promises'
import { type DialectName, dialects, isPolitelyError } from '@politely/core'
import { readingOf } from '@politely/core/crawlers'
import { loadOptional } from '@politely/core/flags'
import type { EvidenceFinding, ReplayDifference } from '@politely/evidence/audit'
import type { Arguments } from '../../command-line.ts'
import { givenTokens } from '../../crawler.ts'
import { UsageError } from '../../exit-code.ts'
import { explainReadError } from '../../input/robots-file.ts'
import { replaceFile } from '../../output/file.ts'
import { printOne } from '../../output/report.ts'
import { jsonLine, write } from '../../output/write.ts'
import { runVerb, type Verbs } from '../../verb.ts'
import { explanationText, replayText, verificationText } from './format-evidence.ts'

const NAME = '@politely/evidence'
const MISSING = `${NAME} is not installed next to politely; write npm install ${NAME} (with --global if politely is global)`
const KEY_REMEDY = 'write the name of a public key (JWK), a key file, or a key directory'
const FORMAT = ['format', 'json']
const WHAT_IF = ['dialect', 'user-agent', 'product-token']
/** Text shows so many findings of each level, and differences. */
const MAX_SHOWN = 50

const VERBS: Verbs = {
  verify: { operands: 'evidence', count: [1, 1], flags: ['key', ...FORMAT], run: verify },
  explain: { operands: 'evidence https://example.com/page', count: [2, 2], flags: ['at', ...FORMAT], run: explain },
  replay: { operands: 'evidence', count: [1, 1], flags: [...WHAT_IF, ...FORMAT], run: replay },
  report: { operands: 'evidence --output report.html', count: [1, 1], flags: ['output', ...FORMAT], run: report },
}

/** Returns the exit code. */
export function evidence(args: Arguments): Promise<number> {
  return runVerb('evidence', VERBS, args)
}

/** Runs code with the package. @throws {UsageError} if it is not installed, or refuses an argument. */
async function withAudit<T>(use: (audit: typeof import('@politely/evidence/audit')) => Promise<T>): Promise<T> {
  const load = () => import('@politely/evidence/audit')
  const audit = await loadOptional(NAME, load, () => new UsageError(MISSING))
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
  const findings: EvidenceFinding[] = []
  return withAudit(async (audit) => {
    const onFinding = (one: EvidenceFinding) => {
      const isShown = findings.filter(({ level }) => level === one.level).length < MAX_SHOWN
      if (args.get('format') === 'json' || isShown) findings.push(one)
    }
    const result = await audit.verify(dir, { keys, onFinding })
    const text = () => verificationText(result, findings)
    return printOne(args, () => ({ ...result, findings }), text, result.errors > 0 ? 'disallowed' : 'success')
  })
}

function explain(args: Arguments, [dir = '', url = '']: readonly string[]): Promise<number> {
  const given = args.get('at')
  const at = given === undefined ? undefined : Date.parse(given)
  if (Number.isNaN(at))
    throw new UsageError(`--at: ${JSON.stringify(given)} is not a time; write one such as 2026-11-28T16:00:00Z`)
  return withAudit(async (audit) => {
    const explanation = await audit.explain(dir, url, { at })
    const exit = explanation.decision === undefined ? 'disallowed' : 'success'
    return printOne(
      args,
      () => explanation,
      () => explanationText(explanation),
      exit,
    )
  })
}

function replay(args: Arguments, [dir = '']: readonly string[]): Promise<number> {
  const isWhatIf = WHAT_IF.some((name) => args.has(name))
  const given = args.get('dialect') as DialectName | undefined
  const isNamed = args.has('user-agent') || args.has('product-token')
  const { productTokens, dialect } = isNamed ? readingOf(givenTokens(args), dialects[given ?? 'rfc9309']) : {}
  const differences: ReplayDifference[] = []
  const onDifference = (one: ReplayDifference) => {
    if (args.get('format') === 'json' || differences.length < MAX_SHOWN) differences.push(one)
  }
  return withAudit(async (audit) => {
    const result = await audit.replay(dir, { productTokens, dialect: dialect ?? given, onDifference })
    const text = () => replayText(result, differences, isWhatIf)
    const exit = result.different > 0 && !isWhatIf ? 'disallowed' : 'success'
    return printOne(args, () => ({ ...result, differences }), text, exit)
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

/** Reads public keys: a JWK, a key file, or a key directory. */
async function readKeys(file: string): Promise<readonly { readonly x: string }[]> {
  try {
    const json = JSON.parse(await readFile(file, 'utf8'))
    const keys = [json?.keys ?? json].flat().filter((key) => typeof key?.x === 'string')
    if (keys.length > 0) return keys
  } catch (error) {
    throw explainReadError(error, file, '--key', KEY_REMEDY)
  }
  throw new UsageError(`--key: ${JSON.stringify(file)} has no Ed25519 key; ${KEY_REMEDY}`)
}
