// Turns a thrown value into one line on stderr and an exit code.
import { OptionError } from '@politely/core'
import { withoutCredentials } from '@politely/core/internal'
import { EXITS, Interrupted, UsageError } from './exit-code.ts'
import { errorLine } from './output/style.ts'

export function describeError(error: unknown): { readonly exitCode: number; readonly text: string } {
  const { usage, internal, interrupted } = EXITS
  if (error instanceof Interrupted) return { exitCode: interrupted.code, text: '' }
  if (error instanceof UsageError) return { exitCode: EXITS[error.exit].code, text: errorLine(usageMessage(error)) }
  if (error instanceof OptionError) return { exitCode: usage.code, text: errorLine(withFlagNames(error)) }
  const { message, stack } = error instanceof Error ? error : new Error(String(error))
  if (process.env.POLITELY_DEBUG) return { exitCode: internal.code, text: `${stack}\n` }
  return {
    exitCode: internal.code,
    text: errorLine(`unexpected error: ${message}; set POLITELY_DEBUG=1 to print the stack`),
  }
}

/** Returns the message without the credentials of a URL that it repeats. */
function usageMessage({ message, given }: UsageError): string {
  if (given === undefined) return message
  const shown = withoutCredentials(given)
  return message.replaceAll(JSON.stringify(given), JSON.stringify(shown)).replaceAll(given, shown)
}

/** Replaces the API's option names by the flags of the command line. */
function withFlagNames({ option, explanation }: OptionError): string {
  return `${flagOf(option)}: ${explanation.replaceAll(/`?\b(userAgent|productToken)\b`?/g, (_, name) => flagOf(name))}`
}

/** `productToken` -> `--product-token`. */
function flagOf(option: string): string {
  return `--${option.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`
}
