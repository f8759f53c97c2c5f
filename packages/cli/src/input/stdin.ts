// Standard input, which `-` names, and which can be read once.
import { UsageError } from '../exit-code.ts'

const taken = new WeakSet<NodeJS.ReadableStream>()

/** The name of a file in messages and reports. */
export function fileName(file: string): string {
  return file === '-' ? 'stdin' : file
}

/** @param what The flag or the operand that reads it. @throws {UsageError} if it was read before. */
export function takeStdin(what: string): NodeJS.ReadStream {
  const { stdin } = process
  if (taken.has(stdin))
    throw new UsageError(`${what}: stdin was read already, because - was given before; write the name of a file`)
  taken.add(stdin)
  return stdin
}
