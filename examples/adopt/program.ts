// A program to patch: which packages it needs, what changes in its files, and how to run it.
import { cpSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Page, Web } from './web.ts'

/** What a program's user sees of a page: the page, a refusal, or a failure. */
export type Result = 'page' | 'refused' | 'failed'

export interface Check {
  readonly robotsTxt: string
  readonly url: string
}

export interface Program {
  /** What npm installs, such as `linkinator@8`. */
  readonly installs: readonly string[]
  /** Our packages that the patch imports. */
  readonly ours: readonly string[]
  /** The folder of the program below the folder of the installation, or what to take from a checkout. */
  readonly files: string | { readonly repository: string; readonly paths: readonly string[] }
  /** The host name in the URLs of the site. Default: 127.0.0.1. */
  readonly host?: string
  /** Whether the program fetches the pages itself. If not, `crawl` does so, for pages that the program allows. */
  readonly fetchesPages: boolean
  /** The versions to compare: the program as it is, and what each patch changes. */
  readonly versions: Readonly<Record<string, (copy: Copy) => void>>
  /** Crawls the site with a copy of the program. Returns what became of each URL. */
  crawl(copy: Copy, web: Web): Promise<ReadonlyMap<string, Result>>
  /** Decides generated checks: whether the program allows each URL. */
  decide?(copy: Copy, checks: readonly Check[]): Promise<readonly boolean[]>
}

/** A copy of a program's files, which counts the lines that a patch changes. */
export class Copy {
  readonly folder: string
  added = 0
  removed = 0

  constructor(from: string, folder: string) {
    rmSync(folder, { recursive: true, force: true })
    cpSync(from, folder, { recursive: true })
    this.folder = folder
  }

  path(file: string): string {
    return join(this.folder, file)
  }

  /** Replaces a short text, which has to be in the file exactly once. */
  edit(file: string, find: string, write: string): void {
    this.editBetween(file, find, '', write)
  }

  /** Replaces everything from one text up to another one, which stays. */
  editBetween(file: string, from: string, to: string, write: string): void {
    const text = readFileSync(this.path(file), 'utf8')
    const start = text.indexOf(from)
    if (start === -1 || text.includes(from, start + 1))
      throw new Error(`${file}: expected "${from}" once; this version of the program needs another patch`)
    const end = to === '' ? start + from.length : text.indexOf(to, start)
    const edited = text.slice(0, start) + write + text.slice(end === -1 ? text.length : end)
    const lines = { before: text.split('\n'), after: edited.split('\n') }
    this.added += extraLines(lines.after, lines.before)
    this.removed += extraLines(lines.before, lines.after)
    writeFileSync(this.path(file), edited)
  }

  /** Puts another package in the place of a dependency, as an override in package.json does. */
  override(name: string, folder: string): void {
    cpSync(folder, this.path(join('node_modules', name)), { recursive: true })
  }
}

/** Counts the lines that are only in the first text. */
function extraLines(lines: readonly string[], others: readonly string[]): number {
  const left = new Map<string, number>()
  for (const line of others) left.set(line, (left.get(line) ?? 0) + 1)
  return lines.filter((line) => {
    const count = left.get(line) ?? 0
    left.set(line, count - 1)
    return count <= 0
  }).length
}

/** Fetches the pages that a program allows, one after another, as its browser or its workers would. */
export async function fetchAllowed(
  pages: readonly Page[],
  isAllowed: (url: string) => boolean | Promise<boolean>,
): Promise<Map<string, Result>> {
  const results = new Map<string, Result>()
  for (const { url } of pages) {
    const allowed = await isAllowed(url)
    if (allowed) await (await fetch(url)).text()
    results.set(url, allowed ? 'page' : 'refused')
  }
  return results
}
