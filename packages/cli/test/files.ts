// Files for the tests of one test file, in a folder that is removed after the last test.
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterAll } from 'vitest'

/** Writes the files and returns a function that returns the path of a file by its name. */
export function writeFiles(files: Readonly<Record<string, string>>): (name: string) => string {
  const folder = mkdtempSync(join(tmpdir(), 'politely-'))
  afterAll(() => rmSync(folder, { recursive: true }))
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, name)), { recursive: true })
    writeFileSync(join(folder, name), text)
  }
  return (name) => join(folder, name)
}

/** Replaces the folder of the files in an output. */
export function withoutFolder(output: string, path: (name: string) => string): string {
  return output.replaceAll(`${path('').replace(/\/$/, '')}/`, '')
}

export const SHOP = `# Shop
User-agent: *
Disallow: /tmp
Crawl-delay: 5

User-agent: ExampleBot
User-agent: OtherBot
Allow: /cart/help
Disallow: /cart
Disallow: /*?sort=
Disallow: /cart/

User-agent: GPTBot
Disallow: /
Sitemap: https://shop.example/map.xml
`
