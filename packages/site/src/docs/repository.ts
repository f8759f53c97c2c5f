// Where the repository is: on this machine, and on the web.

import { readFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'

/** The root of the repository. npm scripts of the site run in packages/site. */
export const ROOT: string = join(process.cwd(), '../..')

const { repository, version } = JSON.parse(readFileSync(join(ROOT, 'packages/core/package.json'), 'utf8'))

/** The address of the repository, without a slash at its end. */
export const REPOSITORY: string = repository.url.replace(/^git\+/, '').replace(/\.git$/, '')

/** The version of all packages. */
export const VERSION: string = version

/** Returns the path of a file in the repository, such as `docs/waiting.md`. */
export function pathOf(file: URL | string): string {
  return relative(ROOT, typeof file === 'string' ? file : fileURLToPath(file)).replaceAll('\\', '/')
}
