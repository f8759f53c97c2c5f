// The errors of the command line.

/** An option, argument or file is invalid. The message says what to write instead. */
export class UsageError extends Error {
  override readonly name = 'UsageError'
}

/** The user pressed Ctrl-C. */
export class Interrupted extends Error {
  override readonly name = 'Interrupted'
}
