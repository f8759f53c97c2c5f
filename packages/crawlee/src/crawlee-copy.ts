// The copy of Crawlee that this package uses. The crawlers must be of the same copy, because this
// package extends their timeouts through it.
import { createRequire } from 'node:module'
import { dirname } from 'node:path'
import { OptionError } from '@politely/core'

interface BasicModule {
  readonly BasicCrawler: abstract new () => object
}

const BASIC = '@crawlee/basic'
/** The oldest minor version of Crawlee 3 whose timeouts this package can extend. */
const MIN_MINOR = 18
const path = createRequire(import.meta.url).resolve(BASIC)

/** Loads a module like this copy of `@crawlee/basic` does. */
export const requireLikeCrawlee: NodeJS.Require = createRequire(path)

/**
 * Checks that a crawler is of the copy of Crawlee that this package uses.
 *
 * @throws {OptionError} if an install contains two copies, and the crawler is of the other one. npm
 * installs two copies if package.json has `@crawlee/cheerio` 3.18.0 and a newer patch exists: it
 * takes the newest `@crawlee/basic` for this package.
 */
export function assertSameCopy(crawler: object): void {
  const { BasicCrawler }: BasicModule = requireLikeCrawlee(path)
  if (crawler instanceof BasicCrawler) return
  const other = pathOfCopy(crawler)
  const its = other === undefined ? 'a copy of Crawlee outside of node_modules, such as a bundle' : describeCopy(other)
  const remedy =
    other === undefined ? 'leave Crawlee and @politely/crawlee out of the bundle' : remedyFor(versionOf(other))
  throw new OptionError('crawler', `is of ${its}, but @politely/crawlee uses ${describeCopy(path)}; ${remedy}`)
}

function remedyFor(version: string): string {
  const [major = 0, minor = 0] = version.split('.').map(Number)
  if (major === 3 && minor < MIN_MINOR) return `install Crawlee 3.${MIN_MINOR}`
  if (version === versionOf(path)) return 'run npm dedupe, so that there is one copy'
  return `write "${BASIC}": "${version}" in the dependencies of your package.json and install again, so that there is one copy`
}

/** Returns the path of the loaded copy of `@crawlee/basic` to which a crawler belongs. */
function pathOfCopy(crawler: object): string | undefined {
  for (const [file, loaded] of Object.entries(requireLikeCrawlee.cache)) {
    if (!/[\\/]@crawlee[\\/]basic[\\/]index\.js$/.test(file)) continue
    const { BasicCrawler }: Partial<BasicModule> = loaded?.exports ?? {}
    if (BasicCrawler !== undefined && crawler instanceof BasicCrawler) return file
  }
  return undefined
}

function versionOf(file: string): string {
  return requireLikeCrawlee(`${dirname(file)}/package.json`).version
}

function describeCopy(file: string): string {
  return `${BASIC} ${versionOf(file)} in ${dirname(file)}`
}
