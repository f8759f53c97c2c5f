// The errors of the command line.

/** An option, argument or file is invalid. The message says what to write instead. */
export class UsageError extends Error {
  override readonly name = 'UsageError'
  /** What the user wrote, if the message repeats it. It may be a URL with credentials. */
  readonly given: string | undefined

  constructor(message: string, given?: string) {
    super(message)
    this.given = given
  }
}

/** The user pressed Ctrl-C. */
export class Interrupted extends Error {
  override readonly name = 'Interrupted'
}
