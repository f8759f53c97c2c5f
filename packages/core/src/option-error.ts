/**
 * An option has an invalid value. It is thrown before anything else happens.
 *
 * Remedy: Write what the message asks for; `option` names the option.
 */
export class OptionError extends TypeError {
  override readonly name = 'OptionError'
  /** Does not change between versions; the message may. */
  readonly code = 'ERR_POLITELY_OPTION'
  /** The name of the option. */
  readonly option: string
  /** What is wrong with the value and what to write instead. The message is the option's name, a colon and this text. */
  readonly explanation: string

  constructor(option: string, explanation: string) {
    super(`${option}: ${explanation}`)
    this.option = option
    this.explanation = explanation
  }
}
