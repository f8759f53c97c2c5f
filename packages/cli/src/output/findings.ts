// Prints findings of `doctor`, `keys check` and `identity check`.
import type { Arguments } from '../command-line.ts'
import { printReport } from './report.ts'
import { dim, green, red, safeText, yellow } from './style.ts'
import { wrap } from './wrap.ts'

export interface Finding {
  readonly check: string
  readonly result: 'ok' | 'warn' | 'fail'
  /** What was found. In findings of `doctor`, also what to do, after a semicolon. */
  readonly text: string
  readonly code?: string
  /** What to do, with a `code`. */
  readonly remedy?: string
}

const INDENT = ' '.repeat(18)
const MARKS = { ok: green('ok  '), warn: yellow('warn'), fail: red('fail') }

/**
 * Prints findings as they come. Returns the exit code.
 * @param hint What to write next.
 */
export function printFindings(
  args: Arguments,
  rows: AsyncIterable<Finding> | Iterable<Finding>,
  hint = '',
): Promise<number> {
  const counts = { ok: 0, warn: 0, fail: 0 }
  return printReport(args, {
    rows,
    list: 'findings',
    json: (finding) => finding,
    text: findingText,
    exit({ result }) {
      counts[result]++
      return result === 'fail' ? 'disallowed' : 'success'
    },
    end() {
      const { fail, warn } = counts
      const text = fail + warn === 0 ? 'everything works' : `${fail} failed, ${warn} to look at`
      return { text: `${dim(text + hint)}\n` }
    },
  })
}

/** Returns lines such as `fail  DNS         no PTR record: 192.0.2.1; ask … (dns-without-ptr)`. */
function findingText({ check, result, text, code, remedy }: Finding): string {
  const whole = result === 'ok' || remedy === undefined ? text : `${text}; ${remedy} (${code})`
  const escaped = safeText(whole)
  const lines = process.stdout.isTTY ? wrap(escaped, INDENT.length, Math.max(60, process.stdout.columns)) : escaped
  return `${MARKS[result]}  ${check.padEnd(10)}  ${lines.replaceAll('\n', `\n${INDENT}`)}\n`
}

export const ok = (check: string, text: string): Finding => ({ check, result: 'ok', text })
export const warn = (check: string, text: string): Finding => ({ check, result: 'warn', text })
export const fail = (check: string, text: string): Finding => ({ check, result: 'fail', text })
