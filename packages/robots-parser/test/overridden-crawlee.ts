// Installs Crawlee into a temporary folder, as a package manager does when `overrides` replaces
// robots-parser.
import { cpSync, mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, symlinkSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { basename, dirname, join } from 'node:path'

const own: string = join(import.meta.dirname, '..')

export interface OverriddenCrawlee {
  /** Loads a module as a CommonJS program in that folder would. */
  readonly require: NodeJS.Require
  readonly close: () => void
}

/** The folders of robots-parser and of our package. */
export const parserFolders: Readonly<Record<'theirs' | 'ours', string>> = {
  theirs: join(own, 'node_modules', 'robots-parser'),
  ours: own,
}

/**
 * Copies `@crawlee/cheerio` and its dependencies that belong to Crawlee. Links all other
 * dependencies to their installed folders.
 */
export function crawleeWith(robotsParser: string): OverriddenCrawlee {
  const folder = mkdtempSync(join(tmpdir(), 'politely-crawlee-'))
  const copied = new Set<string>()
  copyPackage('@crawlee/cheerio', join(own, 'node_modules', '@crawlee', 'cheerio'))
  return {
    require: createRequire(join(folder, 'program.cjs')),
    close: () => rmSync(folder, { recursive: true }),
  }

  function copyPackage(name: string, installed: string): void {
    if (copied.has(name)) return
    copied.add(name)
    const from = realpathSync(installed)
    const to = join(folder, 'node_modules', name)
    cpSync(from, to, { recursive: true, filter: (path) => basename(path) !== 'node_modules' })
    const { dependencies = {} } = JSON.parse(readFileSync(join(from, 'package.json'), 'utf8'))
    for (const needed of Object.keys(dependencies)) {
      const beside = join(from.slice(0, -name.length), needed) // where pnpm puts the dependencies of a package
      if (needed.startsWith('@crawlee/')) copyPackage(needed, beside)
      else link(realpathSync(needed === 'robots-parser' ? robotsParser : beside), join(to, 'node_modules', needed))
    }
  }
}

function link(target: string, path: string): void {
  mkdirSync(dirname(path), { recursive: true })
  symlinkSync(target, path, 'junction')
}
