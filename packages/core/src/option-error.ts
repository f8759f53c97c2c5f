/**
 * An option or another argument has an invalid value. It is thrown before anything else happens.
 *
 * Remedy: Write what the message asks for; `option` names the option.
 */
export class OptionError extends TypeError {
  override readonly name = 'OptionError'
  /** Does not change between versions; the message may. */
  readonly code = 'ERR_POLITELY_OPTION'
  /** The name of the option or argument. */
  readonly option: string
  /** What is wrong with the value and what to write instead. The message is the option's name, a colon and this text. */
  readonly explanation: string

  constructor(option: string, explanation: string) {
    super(`${option}: ${explanation}`)
    this.option = option
    this.explanation = explanation
  }
}

/** Values are cut to this many characters in messages. */
const MAX_QUOTED_LENGTH = 100

/** Describes an invalid value in an error message, also one that JSON cannot represent. */
export function describeValue(value: unknown): string {
  if (typeof value === 'string') {
    return JSON.stringify(value.length > MAX_QUOTED_LENGTH ? `${value.slice(0, MAX_QUOTED_LENGTH)}…` : value)
  }
  if (typeof value === 'function') return 'a function'
  if (typeof value !== 'object' || value === null) return String(value)
  const type = Object.prototype.toString.call(value).slice('[object '.length, -1) // such as `Promise`
  return type === 'Object' ? 'an object' : `an object of type ${type}`
}
