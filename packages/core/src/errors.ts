// The base classes of all errors of Politely, `isPolitelyError`, and the error of this package.

/**
 * A property of the prototypes of the classes below. A registered symbol is the same one in every
 * copy of this module, so errors of another copy are recognised too.
 */
const IS_POLITELY_ERROR = Symbol.for('politely.error')
const MARK = { [IS_POLITELY_ERROR]: true }

/**
 * The base class of the errors that Politely throws and that its events carry. Another copy of this
 * package has another class, so call `isPolitelyError` instead of `instanceof`.
 */
export abstract class PolitelyError extends Error {
  /** Stable; messages may change. */
  abstract readonly code: string

  static {
    Object.assign(PolitelyError.prototype, MARK)
  }
}

/**
 * The base class of errors that report an invalid argument, for which Node and fetch throw a
 * `TypeError` too. Libraries that repeat failed calls, such as p-retry, do not repeat such a call.
 */
export abstract class PolitelyTypeError extends TypeError {
  /** Stable; messages may change. */
  abstract readonly code: string

  static {
    Object.assign(PolitelyTypeError.prototype, MARK)
  }
}

/**
 * Returns whether Politely made this error, which then has one of the codes of
 * docs/reference/errors.md. Recognises the errors of another copy of the packages too. Never throws.
 */
export function isPolitelyError(error: unknown): error is Error & { readonly code: string } {
  try {
    return (error as Partial<typeof MARK> | null | undefined)?.[IS_POLITELY_ERROR] === true
  } catch {
    return false // a proxy, whose handler threw
  }
}

/**
 * An option or another argument has an invalid value. It is thrown before anything else happens.
 *
 * Remedy: Write what the message asks for; `option` names the option.
 */
export class OptionError extends PolitelyTypeError {
  override readonly name = 'OptionError'
  readonly code = 'ERR_POLITELY_OPTION'
  /** The name of the option or argument. */
  readonly option: string
  /**
   * What is wrong with the value and what to write instead. The message is the option's name, a
   * colon and this text.
   */
  readonly explanation: string

  constructor(option: string, explanation: string) {
    super(`${option}: ${explanation}`)
    this.option = option
    this.explanation = explanation
  }
}
