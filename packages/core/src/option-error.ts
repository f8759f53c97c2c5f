/** An option that cannot be used: the caller's mistake, found before anything is done. */
export class OptionError extends TypeError {
  override readonly name = 'OptionError'
  /** Stable; messages may change. */
  readonly code = 'ERR_POLITELY_OPTION'
  /** The option's name. */
  readonly option: string

  /** @param message What is wrong with it and what to write instead; the name is put in front. */
  constructor(option: string, message: string) {
    super(`${option}: ${message}`)
    this.option = option
  }
}
