// What the flags of the command have in common.
import { readFileSync } from 'node:fs'
import { describeValue } from '@politely/core/engine'

/** A mistake on the command line. */
export class UsageError extends Error {}

export function readFile(flag: string, path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch (error) {
    throw new UsageError(`${flag}: ${(error as Error).message}`)
  }
}

export function milliseconds(flag: string, seconds: string | undefined): number | undefined {
  if (seconds === undefined) return undefined
  const ms = Number(seconds) * 1000
  if (seconds.trim() !== '' && ms >= 0 && ms <= 86_400_000) return ms
  throw new UsageError(`${flag}: ${describeValue(seconds)} is out of range; write seconds from 0 to 86400, such as 2.5`)
}

export function count(flag: string, text: string | undefined, min = 1): number | undefined {
  if (text === undefined) return undefined
  const value = Number(text)
  if (text.trim() !== '' && Number.isInteger(value) && value >= min) return value
  throw new UsageError(`${flag}: ${describeValue(text)} is not a whole number from ${min} on`)
}
