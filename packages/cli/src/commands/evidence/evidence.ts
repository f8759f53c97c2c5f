// `politely evidence`: chooses the verb, and reads its flags.
import { readFile } from 'node:fs/promises'
import { type DialectName, dialects } from '@politely/core'
import { readingOf } from '@politely/core/crawlers'
import type { EvidenceFinding, ReplayDifference } from '@politely/evidence/audit'
import type { Arguments } from '../../command-line.ts'
import { givenTokens } from '../../crawler.ts'
import { UsageError } from '../../exit-code.ts'
import { withPackage } from '../../input/optional-package.ts'
import { explainReadError } from '../../input/robots-file.ts'
import { replaceFile } from '../../output/file.ts'
import { type Finding, fail, ok, printFindings, warn } from '../../output/findings.ts'
import { printOne, rowsWithin } from '../../output/report.ts'
import { countText, safeText } from '../../output/style.ts'
import { jsonLine, write } from '../../output/write.ts'
import { runVerb, type Verbs } from '../../verb.ts'

const KEY_REMEDY = 'write the name of a public key (JWK), a key file, or a key directory'
const FORMAT = ['format', 'json']
const WHAT_IF = ['dialect', 'user-agent', 'product-token']

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

type Audit = typeof import('@politely/evidence/audit')

function withAudit(args: Arguments, use: (audit: Audit) => Promise<number>): Promise<number> {
  const what = `evidence ${args.operands[0]}`
  return withPackage('@politely/evidence', () => import('@politely/evidence/audit'), what, use)
}

/** Prints what code finds with the package, as it is found. */
function printAudit(
  args: Arguments,
  find: (audit: Audit, pass: (finding: Finding) => Promise<void>) => Promise<void>,
): Promise<number> {
  return withAudit(args, (audit) => {
    const rows = rowsWithin<Finding>((pass) => find(audit, pass))
    return printFindings(args, rows)
  })
}

async function verify(args: Arguments, [dir = '']: readonly string[]): Promise<number> {
  const files = args.all('key')
  const keys = files.length === 0 ? undefined : (await Promise.all(files.map(readKeys))).flat()
  return printAudit(args, async (audit, pass) => {
    const onFinding = (found: EvidenceFinding) => {
      const { level, file, line, problem } = found
      return pass({ ...found, ...(level === 'error' ? fail : warn)('record', `${file}:${line}: ${problem}`) })
    }
    const result = await audit.verifyEvidence(dir, { keys, onFinding })
    const { records, chains, limits } = result
    await pass({ ...result, ...ok('read', `${countText(records, 'record')} in ${countText(chains, 'chain')}`) })
    for (const limit of limits) await pass(warn('not seen', limit))
  })
}

function explain(args: Arguments, [dir = '', url = '']: readonly string[]): Promise<number> {
  const given = args.get('at')
  const at = given === undefined ? undefined : Date.parse(given)
  if (Number.isNaN(at))
    throw new UsageError(`--at: ${JSON.stringify(given)} is not a time; write one such as 2026-11-28T16:00:00Z`)
  return withAudit(args, async (audit) => {
    const explanation = await audit.explainEvidence(dir, url, { at })
    const exit = explanation.decision === undefined ? 'disallowed' : 'success'
    const text = () => `${explanation.sentences.map(safeText).join('\n')}\n`
    return printOne(args, () => explanation, text, exit)
  })
}

function replay(args: Arguments, [dir = '']: readonly string[]): Promise<number> {
  const isWhatIf = WHAT_IF.some((name) => args.has(name))
  const given = args.get('dialect') as DialectName | undefined
  const isNamed = args.has('user-agent') || args.has('product-token')
  const base = dialects[given ?? 'rfc9309']
  const reading = isNamed ? readingOf(givenTokens(args), base) : undefined
  const dialect = reading === undefined || reading.dialect === base ? given : reading.dialect
  return printAudit(args, async (audit, pass) => {
    const onDifference = (found: ReplayDifference) => {
      const { url, file, line, recorded, replayed } = found
      const text = `${url} (${file}:${line}) was ${recorded}; ${isWhatIf ? 'it would be' : 'it is now'} ${replayed}`
      return pass({ ...found, ...(isWhatIf ? warn : fail)('decision', text) })
    }
    const result = await audit.replayEvidence(dir, { productTokens: reading?.productTokens, dialect, onDifference })
    for (const [why, count] of Object.entries(result.notReplayable))
      await pass(warn('no replay', `${countText(count, 'decision')}: ${why}`))
    const { decisions, same, different } = result
    const counts = `${countText(decisions, 'decision')}: ${same} the same, ${different} different`
    await pass({ ...result, ...ok('replayed', counts) })
  })
}

function report(args: Arguments, [dir = '']: readonly string[]): Promise<number> {
  const file = args.get('output')
  return withAudit(args, async (audit) => {
    const { html, facts } = await audit.reportEvidence(dir)
    const text = args.get('format') === 'text' ? html : jsonLine(facts)
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
