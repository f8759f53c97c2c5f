// Recognises the name of a file that was given in place of a URL.
import { existsSync, statSync } from 'node:fs'
import { UsageError } from '../exit-code.ts'
import { shorten } from '../output/style.ts'

export function isFile(path: string): boolean {
  return existsSync(path) && statSync(path).isFile()
}

/**
 * Says what to write instead of the name of a file.
 * @param command The command that is to read it as a robots.txt.
 * @param ofLists The command that is to read it as a list.
 */
export function fileHint(path: string, command = 'check', ofLists = 'check'): string {
  const shown = JSON.stringify(shorten(path))
  return /robots[^/]*\.txt$/i.test(path)
    ? `this is a file; to check URLs against it, write politely ${command} URL --robots ${shown}`
    : `this is a file; to check the URLs in it, write politely ${ofLists} - < ${shown}`
}

/** @throws {UsageError} if one of the operands, which are URLs, is the name of a file. */
export function rejectFiles(operands: readonly string[], command?: string, ofLists?: string): void {
  const file = operands.find((operand) => !/^https?:/i.test(operand) && isFile(operand))
  if (file === undefined) return
  throw new UsageError(`${JSON.stringify(shorten(file))}: ${fileHint(file, command, ofLists)}`, file)
}
