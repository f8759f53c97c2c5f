// How a command ends: the exit codes, how they follow from the verdicts, and the errors.
import type { Verdict } from '@politely/core'

/** `--help` prints the meanings. */
export const EXITS = {
  success: { code: 0, meaning: 'every URL is allowed, every expectation is met, nothing is to be reported' },
  disallowed: { code: 1, meaning: 'a URL is disallowed, an expectation is not met, or there is something to report' },
  usage: { code: 2, meaning: 'an option, a file or a URL is invalid, or the output cannot be written' },
  unreachable: {
    code: 3,
    meaning:
      'a robots.txt is unreachable, was not sent, or is another file such as an HTML page: its rules are unknown',
  },
  internal: { code: 70, meaning: 'a bug in politely, a failure of the operating system, or a Node that is too old' },
  interrupted: {
    code: 130,
    meaning: 'Ctrl-C or SIGTERM; a shell shows 143 if SIGTERM ends a long computation or the writing of a file',
  },
  /** A shell shows this code for a program that SIGPIPE ended. */
  outputClosed: { code: 141, meaning: 'the reader closed the output (| head) before anything led to 1, 2 or 3' },
} as const

export type ExitName = keyof typeof EXITS

/** If several URLs lead to different exits, the last of these is the exit code. */
const BY_SEVERITY: readonly ExitName[] = ['success', 'disallowed', 'unreachable', 'usage']

export function exitOf(verdict: Pick<Verdict, 'allowed' | 'because'>): ExitName {
  if (verdict.because === 'invalid-url') return 'usage'
  if (verdict.because === 'unreachable') return 'unreachable'
  return verdict.allowed ? 'success' : 'disallowed'
}

export function moreSevere(a: ExitName, b: ExitName): ExitName {
  return BY_SEVERITY.indexOf(a) > BY_SEVERITY.indexOf(b) ? a : b
}

/** An option, argument or file is invalid. The message says what to write instead. */
export class UsageError extends Error {
  override readonly name = 'UsageError'
  /** What the user wrote, if the message repeats it. It may be a URL with credentials. */
  readonly given: string | undefined
  readonly exit: ExitName

  constructor(message: string, given?: string, exit: ExitName = 'usage') {
    super(message)
    this.given = given
    this.exit = exit
  }
}

/** What to do about an error of the operating system. */
const REMEDIES: Readonly<Record<string, string>> = {
  ENOSPC: 'the disk is full, so make room first',
  EDQUOT: 'the disk quota is used up, so make room first',
  EFBIG: 'the file would be larger than the limit of this shell or disk; raise it, such as with ulimit -f',
  ENOENT: 'its folder does not exist, so create it first',
  EISDIR: 'it is a directory; write the name of a file',
  EACCES: 'permission was denied; change the permissions, or write another name',
}

/** @param what The name of the file, and the flag that gives it. */
export function writeError(what: string, { code = '' }: NodeJS.ErrnoException): UsageError {
  return new UsageError(`${what} cannot be written (${code}); ${REMEDIES[code] ?? 'write another name'}`)
}

/** The user pressed Ctrl-C, or the process got SIGTERM. */
export class Interrupted extends Error {
  override readonly name = 'Interrupted'
}
