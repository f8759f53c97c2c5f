// What a library made of each file, and which questions about it the library answers: some throw at a file, or at a URL.

import type { SiteFile } from '../files/site-file.ts'
import { questionsFor, SAMPLE } from '../files/site-question.ts'
import type { Library } from './library.ts'

export interface Site {
  readonly file: SiteFile
  readonly robotsUrl: string
  readonly text: string
  readonly urls: readonly string[]
}

export function siteOf(file: SiteFile, seed: number): Site {
  const { origin, bytes } = file
  return { file, robotsUrl: `${origin}/robots.txt`, text: bytes.toString('utf8'), urls: questionsFor(file, seed) }
}

/** A library with all files read. */
export interface Prepared {
  readonly library: Library
  /** For each site what the library made of it, and the questions that it answers. */
  readonly of: readonly { readonly rules: unknown; readonly urls: readonly string[] }[]
  readonly failedFiles: number
  readonly failedQuestions: number
}

/** A file that a library throws at is one without questions. */
export async function prepare(library: Library, sites: readonly Site[]): Promise<Prepared> {
  let failedFiles = 0
  let failedQuestions = 0
  const of: { rules: unknown; urls: readonly string[] }[] = []
  for (const { text, robotsUrl, urls } of sites) {
    try {
      const rules = await library.prepare(text, robotsUrl)
      const asked = library.questions === 'all' ? urls : urls.slice(0, SAMPLE)
      const answered = asked.filter((url) => answers(library, rules, url))
      failedQuestions += asked.length - answered.length
      of.push({ rules, urls: answered })
    } catch {
      failedFiles++
      of.push({ rules: undefined, urls: [] })
    }
  }
  return { library, of, failedFiles, failedQuestions }
}

function answers(library: Library, rules: unknown, url: string): boolean {
  try {
    library.isAllowed(rules, url)
    return true
  } catch {
    return false
  }
}
