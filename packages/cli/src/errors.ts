// The errors of the command line.
import type { ExitName } from './exit-code.ts'

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

/** The user pressed Ctrl-C. */
export class Interrupted extends Error {
  override readonly name = 'Interrupted'
}
