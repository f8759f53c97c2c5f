// Runs every TypeScript example in README.md and docs/, and checks its output. `https://example.com` is replaced by a server on loopback.
import { spawn } from 'node:child_process'
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { dirname, join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { findBrowser, isMissing } from '../src/parts.ts'
import { isFullRun } from '../src/scope.ts'

const root = join(import.meta.dirname, '../../..')
const pages = ['.', 'docs', 'docs/reference'].flatMap((folder) =>
  readdirSync(join(root, folder))
    .filter((name) => name.endsWith('.md'))
    .map((name) => join(folder, name)),
)

const all = pages.flatMap((page) =>
  Array.from(readFileSync(join(root, page), 'utf8').matchAll(/^```ts\n(.*?)^```/gms), ([, code = ''], i) => ({
    page,
    i,
    code,
  })),
)

/** The short run tests the first example of each page only. */
const snippets = all.filter(({ i }) => isFullRun || i === 0)

/** Returns the lines that an example should print, from its `// prints: …` comments. */
function expectedOutput(code: string): string[] {
  return Array.from(code.matchAll(/\/\/ prints: (.*)$/gm), ([, line = '']) => line)
}

/** Some examples start a browser, and the machine may be busy. */
const TIMEOUT_MS = 60_000

const chromium = findBrowser()
const browserEnv = chromium && { CHROME_BIN: chromium.command, ...chromium.env }

const server = createServer((request, response) => {
  if (request.url === '/robots.txt') response.end('User-agent: *\nDisallow: /cart\n')
  else response.end('a page')
})
let origin = ''
let folder = ''

beforeAll(async () => {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  origin = `http://localhost:${(server.address() as AddressInfo).port}`
  folder = mkdtempSync(join(root, 'docs/.snippets-')) // its package.json has the packages that examples import
})

afterAll(() => {
  rmSync(folder, { recursive: true })
  server.close()
  server.closeAllConnections()
})

describe('the examples of the documentation', () => {
  it('exist', () => {
    expect(new Set(snippets.map(({ page }) => page))).toContain('README.md')
    expect(snippets.flatMap(({ code }) => expectedOutput(code)).length).toBeGreaterThan(5)
  })

  it.for(snippets)('$page, example $i, prints what it says', async ({ page, i, code }, { skip }) => {
    skip(code.includes('CHROME_BIN') && isMissing('chromium', chromium))
    const withOrigin = (text: string) => text.replaceAll('https://example.com', origin)
    const file = join(folder, `${page.replaceAll('/', '-')}-${i}.ts`)
    writeFileSync(file, withOrigin(code))
    const child = spawn(process.execPath, ['--disable-warning=ExperimentalWarning', file], {
      cwd: folder,
      env: { ...process.env, ...browserEnv, CRAWLEE_LOG_LEVEL: 'OFF', NODE_ENV: undefined }, // vitest sets it to test
      timeout: TIMEOUT_MS,
    })
    let printed = ''
    for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => (printed += chunk))
    const status = await new Promise((resolve) => child.on('close', resolve))
    expect(printed.trimEnd().split('\n')).toEqual(expectedOutput(code).map(withOrigin))
    expect(status).toBe(0)
  })
})

const sourceFiles = ['packages', 'examples'].flatMap((parent) =>
  readdirSync(join(root, parent)).flatMap((folder) =>
    readdirSync(join(root, parent, folder), { recursive: true, encoding: 'utf8' })
      .filter((name) => !name.startsWith('node_modules'))
      .map((name) => `/${parent}/${folder}/${name}`),
  ),
)

describe('the links of the documentation', () => {
  it.each(pages)('%s links to existing files and headings', (page) => {
    const prose = readFileSync(join(root, page), 'utf8').replace(/^```.*?^```/gms, '')
    const links = Array.from(prose.matchAll(/\]\((?!\w+:)([^)\s#]*)(?:#([^)\s]*))?\)/g))
    const broken = links.filter(([, path = '', heading]) => {
      const file = path === '' ? join(root, page) : join(root, dirname(page), path)
      return !existsSync(file) || (heading !== undefined && !anchorsOf(file).includes(heading))
    })
    expect(broken.map(([link]) => link)).toEqual([])
  })

  it.each(['ARCHITECTURE.md', 'CONTRIBUTING.md'])('%s names existing source files', (page) => {
    const names = readFileSync(join(root, page), 'utf8').match(/(?<=[`\s])[\w./-]+\.(?:ts|mjs)\b/g) ?? []
    const exists = (name: string) =>
      existsSync(join(root, name)) || sourceFiles.some((file) => file.endsWith(`/${name}`))
    expect(names.filter((name) => !exists(name))).toEqual([])
    expect(names.length).toBeGreaterThan(5)
  })
})

/** The anchors that GitHub makes of a page's headings. */
function anchorsOf(file: string): string[] {
  const headings = readFileSync(file, 'utf8').matchAll(/^#+ (.*)$/gm)
  return Array.from(headings, ([, text = '']) =>
    text
      .toLowerCase()
      .replace(/[^\p{L}\p{N}_ -]/gu, '')
      .replaceAll(' ', '-'),
  )
}
