// @module-tag slow
// Runs every TypeScript example in README.md and docs/, and checks its output.
// `https://example.com` is replaced by a server on loopback.
import { existsSync, globSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type ExampleSite, examplesOf, promisedBy, runExample, startExampleSite } from '../src/examples.ts'
import { sectionsOf } from '../src/headings.ts'
import { findBrowser, isMissing } from '../src/parts.ts'
import { isFullRun } from '../src/scope.ts'
import { noPostgres } from '../src/servers/postgres.ts'
import { noRedis } from '../src/servers/redis.ts'

const root = join(import.meta.dirname, '../../..')
const pages = ['.', 'docs', 'docs/decisions', 'docs/reference'].flatMap((folder) =>
  readdirSync(join(root, folder))
    .filter((name) => name.endsWith('.md'))
    .map((name) => join(folder, name)),
)

const all = pages.flatMap((page) =>
  examplesOf(readFileSync(join(root, page), 'utf8')).map((code, i) => ({ page, i, code })),
)

const browser = findBrowser()
let site: ExampleSite
let folder = ''

beforeAll(async () => {
  site = await startExampleSite()
  folder = mkdtempSync(join(root, 'docs/.snippets-')) // its package.json has the packages that examples import
})

afterAll(() => {
  rmSync(folder, { recursive: true })
  site.close()
})

describe('the examples of the documentation', () => {
  it('exist', () => {
    expect(all.map(({ page }) => page)).toContain('README.md')
    expect(all.flatMap(({ code }) => promisedBy(code)).length).toBeGreaterThan(5)
  })

  it.for(all)('$page, example $i, prints what it says', async ({ page, i, code }, { skip }) => {
    skip(!isFullRun && page !== 'README.md') // each example starts a process
    skip(code.includes('CHROME_BIN') && isMissing('chromium', browser))
    skip(code.includes('REDIS_URL') && noRedis())
    skip(code.includes('DATABASE_URL') && noPostgres())
    const file = join(folder, `${page.replaceAll('/', '-')}-${i}.ts`)
    const { printed, promised, status } = await runExample({ code, file, origin: site.origin, browser })
    expect(printed).toEqual(promised)
    expect(status).toBe(0)
  })
})

describe('the imports of the examples', () => {
  const importsOf = (code: string) =>
    Array.from(code.matchAll(/^import (?:type )?\{([^}]*)\} from '((?:@politely\/)?[\w-]+)[^']*'/gm), (found) => ({
      names: (found[1] ?? '').split(',').map(
        (name) =>
          name
            .trim()
            .replace(/^type /, '')
            .split(' as ')[0],
      ),
      name: found[2] ?? '',
      isEntry: found[0].includes(`'${found[2]}/`),
    })).filter(({ name }) => /^@?politely/.test(name))

  it('are from politely, unless a name is only in the package itself', () => {
    const source = readFileSync(join(root, 'packages/cli/src/index.ts'), 'utf8')
    const exported = new Set(
      Array.from(source.matchAll(/export \{([^}]*)\}/g), ([, names = '']) => names.split(','))
        .flat()
        .map((name) => name.trim().replace(/^type /, '')),
    )
    const parts = ['@politely/core', '@politely/fetcher', '@politely/gate']
    const others = all.flatMap(({ page, code }) =>
      importsOf(code)
        .filter(
          ({ name, names, isEntry }) =>
            !isEntry && parts.includes(name) && names.every((one) => exported.has(`${one}`)),
        )
        .map(({ name, names }) => `${page}: ${names.join(', ')} of ${name}`),
    )
    expect(exported.size).toBeGreaterThan(30)
    expect(others).toEqual([])
  })

  it.each(pages)('%s installs what its examples import, if it says what to install', (page) => {
    const text = readFileSync(join(root, page), 'utf8')
    const installed = Array.from(text.matchAll(/npm install ([^\n`]*)/g), ([, names = '']) => names.split(' ')).flat()
    if (!installed.some((name) => /^@?politely/.test(name))) return
    const imported = examplesOf(text).flatMap((code) => importsOf(code).map(({ name }) => name))
    expect(imported.filter((name) => !installed.includes(name))).toEqual([])
  })
})

const sourceFiles = globSync('{packages,examples}/*/**', { cwd: root, exclude: ['**/node_modules'] }).map(
  (file) => `/${file}`,
)

describe('the links of the documentation', () => {
  it.each(pages)('%s links to existing files and headings', (page) => {
    const prose = readFileSync(join(root, page), 'utf8').replace(/^```.*?^```/gms, '')
    const links = Array.from(prose.matchAll(/\]\((?!\w+:)([^)\s#]*)(?:#([^)\s]*))?\)/g))
    const broken = links.filter(([, path = '', heading]) => {
      const file = path === '' ? join(root, page) : join(root, dirname(page), path)
      if (!existsSync(file)) return true
      if (file.endsWith('.astro')) return false // a page of the site, whose links hold more than headings
      return heading !== undefined && !sectionsOf(readFileSync(file, 'utf8')).some(({ anchor }) => anchor === heading)
    })
    expect(broken.map(([link]) => link)).toEqual([])
  })

  it('each promise in the table of SECURITY.md names existing tests', () => {
    const read = (path: string) => readFileSync(join(root, path), 'utf8')
    const [, section = ''] = read('SECURITY.md').split('## How the promises are tested')
    const [, ...promises] = section.match(/^\| .*$/gm) ?? []
    expect(promises.length).toBeGreaterThan(30)
    const testsOf = (row: string) => Array.from(row.matchAll(/\]\(([^)]+)\) "([^"]+)"/g))
    expect(promises.filter((row) => testsOf(row).length === 0)).toEqual([])
    const missing = promises.flatMap(testsOf).filter(([, path = '', title = '']) => !read(path).includes(title))
    expect(missing.map(([link]) => link)).toEqual([])
  })

  it.each(['ARCHITECTURE.md', 'CONTRIBUTING.md', 'docs/decisions'])('%s names existing source files', (path) => {
    const text = pages
      .flatMap((page) => (page.startsWith(path) ? readFileSync(join(root, page), 'utf8') : []))
      .join('\n')
    const names = text.match(/(?<=[`\s])[\w./-]+\.(?:ts|mjs)\b/g) ?? []
    const exists = (name: string) =>
      existsSync(join(root, name)) || sourceFiles.some((file) => file.endsWith(`/${name}`))
    expect(names.filter((name) => !exists(name))).toEqual([])
    expect(names.length).toBeGreaterThan(5)
  })
})
