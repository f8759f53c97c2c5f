// The rules for the crawlers of `politely match`: of one file, or of the file of each URL's origin.
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { type CrawlerRules, originOf, parseRobots, type Robots, type RulesVerdict } from '@politely/core'
import { rulesFor } from '@politely/core/crawlers'
import type { Arguments } from '../../command-line.ts'
import type { Crawler } from '../../crawler.ts'
import { UsageError } from '../../exit-code.ts'
import { dialectOf } from '../../flags.ts'
import { fileNameOf } from '../../input/robots-dir.ts'
import { explainReadError, isRobots, loadRobots } from '../../input/robots-file.ts'

/** The verdict on a URL, also if the folder has no file for its origin. */
export type MatchVerdict = RulesVerdict | NoFile

interface NoFile {
  readonly allowed: false
  /** The folder of `--robots-dir` has no robots.txt for the origin of the URL. */
  readonly because: 'no-file'
  readonly origin: string
  readonly file: string
}

/** Returns one verdict for each crawler. */
export type CheckUrl = (url: string) => readonly MatchVerdict[]

/**
 * How many files are kept parsed. URLs are often sorted by site, or come from a few thousand sites.
 */
const MAX_FILES = 2000

/**
 * Returns undefined if the site of `--robots` did not send a file.
 * @throws {UsageError} if neither or both of the two flags are given, and if a file cannot be read.
 */
export async function openRules(args: Arguments, crawlers: readonly Crawler[]): Promise<CheckUrl | undefined> {
  const [file, folder] = [args.get('robots'), args.get('robots-dir')]
  if ((file === undefined) === (folder === undefined)) {
    const problem = file === undefined ? '--robots: is missing' : '--robots and --robots-dir cannot be combined'
    throw new UsageError(`${problem}; write politely match --robots robots.txt < urls.txt, or --robots-dir FOLDER`)
  }
  if (folder !== undefined) return ofFolder(folder, args, crawlers)
  const loaded = await loadRobots(file as string, args, '--robots', args.get('origin'))
  if (loaded === undefined) return undefined
  const books = rulesOf(loaded.robots, crawlers)
  return (url) => books.map((rules) => rules.check(url))
}

function rulesOf(robots: Robots, crawlers: readonly Crawler[]): readonly CrawlerRules[] {
  return crawlers.map(({ tokens }) => rulesFor(robots, tokens))
}

function ofFolder(folder: string, args: Arguments, crawlers: readonly Crawler[]): CheckUrl {
  if (!existsSync(folder)) throw new UsageError(`--robots-dir: ${JSON.stringify(folder)}: there is no such folder`)
  const dialect = dialectOf(args)
  /** Undefined for an origin without a robots.txt. */
  const books = new Map<string, readonly CrawlerRules[] | undefined>()
  const anyFile = rulesOf(parseRobots('', { dialect }), crawlers)

  function open(origin: string): readonly CrawlerRules[] | undefined {
    const path = join(folder, fileNameOf(origin))
    try {
      const bytes = readFileSync(path)
      return isRobots(bytes, path) ? rulesOf(parseRobots(bytes, { dialect, origin }), crawlers) : undefined
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
      throw explainReadError(error, path, '--robots-dir', 'write the name of a folder of robots.txt files')
    }
  }

  return (url) => {
    const origin = originOf(url)
    if (origin === undefined) return anyFile.map((rules) => withoutOrigin(rules.check(url), url))
    let rules = books.get(origin)
    if (rules === undefined && !books.has(origin)) rules = open(origin)
    // The origin that was used last is the last one of the map.
    books.delete(origin)
    books.set(origin, rules)
    if (books.size > MAX_FILES) books.delete(books.keys().next().value as string)
    if (rules !== undefined) return rules.map((each) => each.check(url))
    return crawlers.map(() => ({ allowed: false, because: 'no-file', origin, file: fileNameOf(origin) }))
  }
}

/** A path belongs to no origin, so that no file of a folder is about it. */
function withoutOrigin(verdict: RulesVerdict, url: string): RulesVerdict {
  return verdict.because === 'invalid-url'
    ? verdict
    : { allowed: false, because: 'invalid-url', url, problem: 'relative' }
}
