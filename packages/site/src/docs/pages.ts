// Which files of the repository are pages, and the names of these pages.

import { globSync } from 'node:fs'
import { ROOT } from './repository.ts'

/** Files outside of docs/ that users read too. */
const OTHERS = ['CHANGELOG.md', 'CONFORMANCE.md', 'SECURITY.md']

/** The patterns of the files that are pages, relative to the root of the repository. */
export const PATTERNS: readonly string[] = ['docs/*.md', 'docs/reference/**/*.md', ...OTHERS]

/**
 * Returns the name of the page that a file becomes, which is also its path on the site:
 * `docs/waiting.md` is `waiting`, `docs/reference/api/README.md` is `reference/api`. The start page,
 * `README.md`, is the empty string. Returns undefined for all other files. docs/decisions is for
 * contributors, and stays in the repository.
 */
export function pageOf(file: string): string | undefined {
  if (file === 'README.md') return ''
  if (file.startsWith('docs/decisions/')) return undefined
  if (OTHERS.includes(file)) return file.replace('.md', '').toLowerCase()
  return /^docs\/(.*?)(?:\/README)?\.md$/.exec(file)?.[1]
}

/** Returns all pages that are made of files, with their files. */
export function pageFiles(): readonly { readonly page: string; readonly file: string }[] {
  return globSync([...PATTERNS], { cwd: ROOT }).flatMap((path) => {
    const file = path.replaceAll('\\', '/')
    const page = pageOf(file)
    return page === undefined ? [] : { page, file }
  })
}

/** Returns the names of all pages that are made of files. */
export function pages(): readonly string[] {
  return pageFiles().map(({ page }) => page)
}
