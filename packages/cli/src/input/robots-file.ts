// Reads the robots.txt that `--robots` names: a file, or the URL of a site.
import { existsSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { buffer } from 'node:stream/consumers'
import { type Access, parseRobots, type Robots } from '@politely/core'
import { describeForeign, foreignFormatOf, looksLikeMeanings, withoutCredentials } from '@politely/core/internal'
import type { ClientVerdict } from '@politely/fetcher'
import type { Arguments } from '../command-line.ts'
import { UsageError } from '../exit-code.ts'
import { dialectOf } from '../flags.ts'
import { lateNotice } from '../output/late-notice.ts'
import { adviceOn, reasonText } from '../output/sentences.ts'
import { errorLine } from '../output/style.ts'
import { fileName, takeStdin } from './stdin.ts'

/** A robots.txt, and what to call it in a report. */
export interface NamedRobots {
  readonly name: string
  readonly robots: Robots
  /** Its size; infinite if only the beginning was read, because the response is too large. */
  readonly bytes: number
  /** How the file was obtained; undefined for a file of this machine. */
  readonly access?: Access | undefined
  /** Says that the site has no robots.txt. */
  readonly missing?: string | undefined
}

const READ_ERRORS: Readonly<Record<string, string>> = {
  ENOENT: 'there is no such file',
  ENOTDIR: 'there is no such file',
  EISDIR: 'it is a directory',
  EACCES: 'permission to read it was denied',
}
const WRITE_A_FILE = 'write the name of a robots.txt file, or the URL of a site'

/** Whether the value of `--robots` is a URL and no file has that name. */
export function isUrl(file: string): boolean {
  return /^https?:\/\//i.test(file) && !existsSync(file)
}

/**
 * Reads a file, or stdin for `-`.
 *
 * @param what The flag, or the command if the file is an operand.
 * @throws {UsageError} if it cannot be read.
 */
export async function readText(file: string, what: string, remedy: string): Promise<Uint8Array> {
  if (file === '-') return buffer(takeStdin(what))
  try {
    return await readFile(file)
  } catch (error) {
    throw explainReadError(error, file, what, remedy)
  }
}

/** @param what The flag or the operand. */
export function explainReadError(error: unknown, file: string, what: string, remedy: string): UsageError {
  const { code = String(error) } = error as NodeJS.ErrnoException
  const problem = READ_ERRORS[code] ?? code
  return new UsageError(`${what}: ${JSON.stringify(withoutCredentials(file))}: ${problem}; ${remedy}`)
}

/** @throws {UsageError} if the flag is missing. */
export function requiredRobots(args: Arguments, example: string): string {
  const file = args.get('robots')
  if (file === undefined) throw new UsageError(`--robots: is missing; write ${example}`)
  return file
}

/**
 * Reads a robots.txt: a file, or the robots.txt of a URL's site. A site without one allows
 * everything, as an empty file does. Except for `lint`, which says so itself, stderr says so.
 * Says on stderr, too, if the URL has another path than the file that is read. Returns undefined,
 * after a line on stderr, if the rules are not known: the site is unreachable or refused, or the file is something else, such as a login page.
 *
 * @param what The flag, or the command if the file is an operand.
 * @param origin The only site that the file is about. Otherwise URLs are compared by their paths.
 */
export async function loadRobots(
  file: string,
  args: Arguments,
  what: string = '--robots',
  origin?: string,
): Promise<NamedRobots | undefined> {
  const options = { dialect: dialectOf(args), ...(origin !== undefined && { origin }) }
  if (!isUrl(file)) {
    const bytes = await readText(file, what, WRITE_A_FILE)
    const name = fileName(file)
    return isRobots(bytes, name) ? { name, robots: parseRobots(bytes, options), bytes: bytes.length } : undefined
  }
  const { withClient } = await import('./client.ts')
  return withClient(args, async (client) => {
    using _ = lateNotice(args)
    const text = (await client.robots(file))?.text ?? ''
    const { href, pathname, search } = new URL(file)
    const verdict = await client.check(new URL('/', href).href) // robots.txt itself is always allowed
    const name = withoutCredentials(verdict.access?.url ?? file)
    if (!/^\/(?:robots\.txt)?$/.test(pathname + search)) {
      const problem = 'robots.txt counts only at the root of a site (RFC 9309 §2.3)'
      const remedy = `so politely reads ${verdict.origin}/robots.txt`
      process.stderr.write(errorLine(`${withoutCredentials(file)}: ${problem}, ${remedy}`))
    }
    if (isSeen(verdict)) {
      const isNone = verdict.because === 'unavailable'
      const missing = isNone ? `${reasonText(verdict)}, so everything is allowed` : undefined
      if (missing !== undefined && what !== 'lint') process.stderr.write(errorLine(`${name}: ${missing}`))
      const bytes = new TextEncoder().encode(text) // core rejects a text that is only a URL
      const { copy } = verdict.access ?? {}
      const size = copy?.truncated ? Number.POSITIVE_INFINITY : (copy?.bytes ?? 0)
      return { name, robots: parseRobots(bytes, options), bytes: size, access: verdict.access, missing }
    }
    // The file was not seen, so a sentence about the group of the crawler would mislead.
    const problem = verdict.access?.looksLike === undefined ? '' : describeForeign(verdict.access)
    const [advice] = adviceOn(verdict.access, args.get('proxy'))
    process.stderr.write(errorLine([`${name}: ${problem || reasonText(verdict)}`, advice ?? []].flat().join('; ')))
    return undefined
  })
}

/**
 * Returns whether the content of a file may be a robots.txt. If it is not, such as an HTML page, says so
 * on stderr: as a robots.txt, it would allow everything.
 */
export function isRobots(bytes: Uint8Array, name: string): boolean {
  const format = foreignFormatOf(Buffer.from(bytes).toString('latin1'))
  if (format === undefined) return true
  process.stderr.write(errorLine(`${name}: this is not a robots.txt: it ${looksLikeMeanings[format]}`))
  return false
}

/** Whether the server sent the file, or said that it does not exist. */
function isSeen({ because, access }: ClientVerdict): boolean {
  if (because === 'unreachable' || access?.looksLike !== undefined) return false
  return access?.outcome !== 'unavailable' || isMissing(access.status)
}

/** Whether a status says that a site has no robots.txt. Others, such as 401, say nothing about its rules. */
export function isMissing(status: number | undefined): boolean {
  return status === 404 || status === 410
}
