/** An option that cannot be used: the caller's mistake, found before anything is done. */
export class OptionError extends TypeError {
  override readonly name = 'OptionError'
  /** Stable; messages may change. */
  readonly code = 'ERR_POLITELY_OPTION'
  /** The option's name. */
  readonly option: string
  /** What is wrong with it and what to write instead; the message is this behind the name. */
  readonly explanation: string

  constructor(option: string, explanation: string) {
    super(`${option}: ${explanation}`)
    this.option = option
    this.explanation = explanation
  }
}
