// What was thrown -> one line on stderr and an exit code.
import { escapeControls, OptionError } from '@politely/core'
import { CommanderError } from 'commander'
import { EXIT_CODES } from './exit-code.ts'

/** Something cannot be used as it was written. The message says what to write instead. */
export class UsageError extends Error {
  override readonly name = 'UsageError'
}

/** Ctrl-C. */
export class Interrupted extends Error {
  override readonly name = 'Interrupted'
}

export function explain(error: unknown): { readonly exitCode: number; readonly text: string } {
  const { fine, usage, internal, interrupted } = EXIT_CODES
  if (error instanceof Interrupted) return { exitCode: interrupted.code, text: '' }
  if (error instanceof CommanderError && error.exitCode === 0) return { exitCode: fine.code, text: '' } // --help, --version
  if (error instanceof UsageError) return { exitCode: usage.code, text: line(error.message) }
  if (error instanceof OptionError) return { exitCode: usage.code, text: line(inFlags(error)) }
  const { message, stack } = error instanceof Error ? error : new Error(String(error))
  if (process.env.POLITELY_DEBUG) return { exitCode: internal.code, text: `${stack}\n` }
  return { exitCode: internal.code, text: line(`unexpected error: ${message}; set POLITELY_DEBUG=1 to see where`) }
}

/** Every line that politely itself has to say begins alike. */
export function line(message: string): string {
  return `politely: ${escapeControls(message)}\n`
}

/** The API's names for options, as they are typed here. */
function inFlags({ option, explanation }: OptionError): string {
  return `${flagOf(option)}: ${explanation.replace('give productToken', `give ${flagOf('productToken')}`)}`
}

function flagOf(option: string): string {
  return `--${option.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`
}
