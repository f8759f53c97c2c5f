// The base classes of all errors of Politely, the error of this package, and the marks of classes.
// `instanceof` is false for an object of another copy of a package, so marks recognise such objects.

/** A registered symbol is the same one in every copy of this module. */
const markOf = (className: string) => Symbol.for(`politely.${className}`)

/** Marks all objects of a class, so that another copy of this package recognises them. */
export function markClass(className: string, { prototype }: { readonly prototype: object }): void {
  Object.assign(prototype, { [markOf(className)]: true })
}

/** Returns whether a value is an object of this marked class, of any copy. Never throws. */
export function isOfClass(className: string, value: unknown): boolean {
  try {
    return (value as { readonly [mark: symbol]: unknown } | null | undefined)?.[markOf(className)] === true
  } catch {
    return false // a proxy, whose handler threw
  }
}

/**
 * Returns what is wrong with an object of another copy of a package, and what to do. Returns
 * undefined if the value is not an object of this marked class.
 */
export function otherCopyProblem(className: string, packageName: string, value: unknown): string | undefined {
  if (!isOfClass(className, value)) return undefined
  return `is a ${className} of another copy of ${packageName}; npm ls ${packageName} lists the copies; install one version only, and leave the package out of bundles`
}

/** The mark of all errors of Politely. */
const ERROR = 'error'

/**
 * The base class of the errors that Politely throws and that its events carry. Another copy of this
 * package has another class, so call `isPolitelyError` instead of `instanceof`.
 */
export abstract class PolitelyError extends Error {
  /** Stable; messages may change. */
  abstract readonly code: string

  static {
    markClass(ERROR, PolitelyError)
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
    markClass(ERROR, PolitelyTypeError)
  }
}

/**
 * Returns whether Politely made this error, which then has one of the codes of
 * docs/reference/errors.md. Recognises the errors of another copy of the packages too. Never throws.
 */
export function isPolitelyError(error: unknown): error is Error & { readonly code: string } {
  return isOfClass(ERROR, error)
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
