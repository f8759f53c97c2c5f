// Prints findings of `doctor`, `keys check` and `identity check`.
import { dim, green, red, safeText, yellow } from './style.ts'
import { wrap } from './wrap.ts'

interface Finding {
  readonly check: string
  readonly result: 'ok' | 'warn' | 'fail'
  readonly text: string
  readonly code?: string
  /** What to do. In findings of `doctor`, the text says it. */
  readonly remedy?: string
}

const INDENT = ' '.repeat(18)
const MARKS = { ok: green('ok  '), warn: yellow('warn'), fail: red('fail') }

/** Returns lines such as `fail  DNS         no PTR record: 192.0.2.1; ask … (dns-without-ptr)`. */
export function findingText({ check, result, text, code, remedy }: Finding): string {
  const whole = result === 'ok' || remedy === undefined ? text : `${text}; ${remedy} (${code})`
  const escaped = safeText(whole)
  const lines = process.stdout.isTTY ? wrap(escaped, INDENT.length, Math.max(60, process.stdout.columns)) : escaped
  return `${MARKS[result]}  ${check.padEnd(10)}  ${lines.replaceAll('\n', `\n${INDENT}`)}\n`
}

/** @param hint What to write next. */
export function findingsSummary(findings: readonly Finding[], hint = ''): string {
  const count = (wanted: Finding['result']) => findings.filter(({ result }) => result === wanted).length
  const [failed, warnings] = [count('fail'), count('warn')]
  const counts = failed + warnings === 0 ? 'everything works' : `${failed} failed, ${warnings} to look at`
  return `${dim(counts + hint)}\n`
}
