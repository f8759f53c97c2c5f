// Where the repository is: on this machine, and on the web.

import { readFileSync } from 'node:fs'
import { join } from 'node:path'

/** The root of the repository. npm scripts of the site run in packages/site. */
export const ROOT: string = join(process.cwd(), '../..')

const { repository } = JSON.parse(readFileSync(join(ROOT, 'packages/core/package.json'), 'utf8'))

/** The address of the repository, without a slash at its end. */
export const REPOSITORY: string = repository.url.replace(/^git\+/, '').replace(/\.git$/, '')
