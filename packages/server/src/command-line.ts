// What the flags of the command have in common.

import { readFileSync } from 'node:fs'
import { describeValue } from '@politely/core/engine'
import type { Arguments } from '@politely/core/flags'

/** A mistake on the command line. */
export class CommandLineError extends Error {}

const READ_PROBLEMS: Readonly<Record<string, string>> = {
  ENOENT: 'there is no such file; create it, or write the name of another file',
  EISDIR: 'this is a directory; write the name of a file',
  EACCES: 'permission was denied; change the permissions, or write another file',
}

/** @throws {CommandLineError} for a file that cannot be read. */
export function readFile(flag: string, path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch (error) {
    const { code = '', message } = error as NodeJS.ErrnoException
    const problem = READ_PROBLEMS[code] ?? `it cannot be read (${code || message}); write another file`
    throw new CommandLineError(`${flag}: ${describeValue(path)}: ${problem}`)
  }
}

/** Returns the value of a flag with seconds in milliseconds. @throws {CommandLineError} for a value out of range. */
export function milliseconds(values: Arguments, flag: string, min = 0): number | undefined {
  const seconds = values.get(flag)
  if (seconds === undefined) return undefined
  const value = Number(seconds)
  if (seconds.trim() !== '' && value >= min && value <= 86_400) return value * 1000
  throw new CommandLineError(
    `--${flag}: ${describeValue(seconds)} is out of range; write seconds from ${min} to 86400, such as 2.5`,
  )
}

/** Returns the value of a flag with a whole number. @throws {CommandLineError} for a value out of range. */
export function count(values: Arguments, flag: string, min = 1, max?: number): number | undefined {
  const text = values.get(flag)
  if (text === undefined) return undefined
  const value = Number(text)
  if (text.trim() !== '' && Number.isInteger(value) && value >= min && value <= (max ?? value)) return value
  const range = max === undefined ? `${min} on` : `${min} to ${max}`
  throw new CommandLineError(`--${flag}: ${describeValue(text)} is not a whole number from ${range}`)
}
