// Parses all files with a library, and finds the files and URLs at which it throws.
import type { SiteFile } from '../files/site-file.ts'
import { SAMPLE_SIZE, urlsFor } from '../files/site-urls.ts'
import type { Library } from './library.ts'

export interface Site {
  readonly file: SiteFile
  readonly robotsUrl: string
  readonly text: string
  readonly urls: readonly string[]
}

export function siteOf(file: SiteFile, seed: number): Site {
  const { origin, bytes } = file
  return { file, robotsUrl: `${origin}/robots.txt`, text: bytes.toString('utf8'), urls: urlsFor(file, seed) }
}

/** A library and the files that it has parsed. */
export interface Prepared {
  readonly library: Library
  /** For each site, the parsed file and the URLs that the library checks without an error. */
  readonly sites: readonly { readonly rules: unknown; readonly urls: readonly string[] }[]
  readonly failedFiles: number
  readonly failedChecks: number
}

/** Parses all files. A file at which the library throws has no URLs. */
export async function prepare(library: Library, sites: readonly Site[]): Promise<Prepared> {
  let failedFiles = 0
  let failedChecks = 0
  const parsed: { rules: unknown; urls: readonly string[] }[] = []
  for (const { text, robotsUrl, urls } of sites) {
    try {
      const rules = await library.prepare(text, robotsUrl)
      const urlsToCheck = library.checks === 'all' ? urls : urls.slice(0, SAMPLE_SIZE)
      const checked = urlsToCheck.filter((url) => doesNotThrow(library, rules, url))
      failedChecks += urlsToCheck.length - checked.length
      parsed.push({ rules, urls: checked })
    } catch {
      failedFiles++
      parsed.push({ rules: undefined, urls: [] })
    }
  }
  return { library, sites: parsed, failedFiles, failedChecks }
}

function doesNotThrow(library: Library, rules: unknown, url: string): boolean {
  try {
    library.isAllowed(rules, url)
    return true
  } catch {
    return false
  }
}
