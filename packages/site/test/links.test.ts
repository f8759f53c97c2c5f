// The links of the built pages, and what each page says about itself.

import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { addressIn, withAddress } from '../src/build/address.ts'
import rows from '../src/docs/moved-pages.json' with { type: 'json' }
import { pages } from '../src/docs/pages.ts'
import { REPOSITORY } from '../src/docs/repository.ts'
import { fileFor, files, html, read } from './built-site.ts'

const ids = new Map(
  Array.from(html, ([file, text]) => [
    file,
    new Set(Array.from(text.matchAll(/\sid="([^"]*)"/g), ([, id = '']) => id)),
  ]),
)

/** What follows # in its links is a state, not a heading; packages/playground/test/guide.test.ts opens them. */
const PLAYGROUND = 'playground/index.html'

test('each file of the documentation is a page', () => {
  expect(pages().length).toBeGreaterThan(50)
  expect(pages().filter((page) => !html.has(`${page}/index.html`))).toEqual([])
})

test('each page is there as Markdown, and llms.txt lists the pages of the sidebar', () => {
  expect(pages().filter((page) => !files.has(`${page}.md`))).toEqual([])
  const listed = Array.from(
    read('llms.txt')
      .toString()
      .matchAll(/\]\(\/(.+?)\)/g),
    ([, path = '']) => path,
  )
  expect(listed.length).toBeGreaterThan(40)
  expect(listed.filter((path) => !files.has(path))).toEqual([])
})

test('each link to a page leads to an existing page and an existing heading', () => {
  let count = 0
  const broken: string[] = []
  for (const [file, text] of html) {
    const base = new URL(file.replace(/index\.html$/, ''), 'http://site/')
    for (const [, value = ''] of text.matchAll(/<(?:a|link|script|img)\b[^>]*?\s(?:href|src)="([^"]*)"/g)) {
      const target = new URL(value.replaceAll('&amp;', '&'), base)
      if (target.origin !== base.origin) continue
      count++
      const targetFile = fileFor(target.pathname)
      const heading = decodeURIComponent(target.hash.slice(1))
      if (!files.has(targetFile)) broken.push(`${file}: ${value}`)
      else if (targetFile !== PLAYGROUND && heading !== '' && !ids.get(targetFile)?.has(heading))
        broken.push(`${file}: ${value} (no such heading)`)
    }
  }
  expect(broken).toEqual([])
  expect(count).toBeGreaterThan(5_000)
})

test('what has moved leads to an existing page and heading, and has a page at its old address', () => {
  const wrong: string[] = []
  for (const [old, place] of Object.entries<string>(rows)) {
    const [oldPage = '', oldHeading] = old.split('#')
    const [page = '', heading] = place.split('#')
    const headings = ids.get(`${page}/index.html`)
    if (!pages().includes(page) || headings === undefined) wrong.push(`${old}: no page ${page}`)
    else if (heading !== undefined && !headings.has(heading)) wrong.push(`${old}: no heading ${place}`)
    const oldFile = `${oldPage}/index.html`
    const expected = heading === undefined ? `/${page}/` : `/${page}/#${heading}`
    if (!html.get(oldFile)?.includes(`&quot;${oldHeading ?? ''}&quot;:&quot;${expected}&quot;`))
      wrong.push(`${old}: its page does not lead to ${expected}`)
    const isGone = oldHeading === undefined
    if (isGone && (pages().includes(oldPage) || !files.has(`${oldPage}.md`))) wrong.push(`${old}: is a page`)
    if (!isGone && ids.get(oldFile)?.has(oldHeading)) wrong.push(`${old}: is a heading still`)
  }
  expect(wrong).toEqual([])
  expect(Object.keys(rows).length).toBeGreaterThan(5)
})

test('a link to a file that is not a page leads to the repository', () => {
  const security = html.get('security/index.html') ?? ''
  expect(security).toContain(`href="${REPOSITORY}/blob/main/packages/gate/test/concurrency.test.ts"`)
  expect(security).toContain('href="../reference/misbehaving-servers/"')
})

test('a page loads nothing from another host', () => {
  for (const [file, text] of html) {
    const loaded = Array.from(
      text.matchAll(/<(?:script|img|link|iframe|source)\b[^>]*?\s(?:src|href)="([^"]*)"/g),
      ([, url = '']) => url,
    )
    expect(
      loaded.filter((url) => /^(?:\w+:)?\/\//.test(url)),
      file,
    ).toEqual([])
  }
})

test('each page has a title, a description of its own, and one heading of level 1', () => {
  const descriptions = new Map<string, string>()
  for (const [file, text] of html) {
    expect(text, file).toMatch(/<title>[^<]{4,}<\/title>/)
    expect(text.match(/<h1\b/g), file).toHaveLength(1)
    const [, description = ''] = /<meta name="description" content="([^"]*)"/.exec(text) ?? []
    descriptions.set(description, file)
  }
  expect(html.size - descriptions.size).toBeLessThan(20) // pages of the API that begin with a heading have the site's
})

test('each page says the version', () => {
  const { version } = JSON.parse(readFileSync('../core/package.json', 'utf8'))
  expect([...html].filter(([, text]) => !text.includes(`Politely ${version}.`)).map(([file]) => file)).toEqual([])
})

test('a page names its own address and picture only if the build has an address', () => {
  const text = html.get('waiting/index.html') ?? ''
  expect([...html.values()].filter((page) => /rel="canonical"|og:url|og:image/.test(page))).toEqual([])
  expect(addressIn(undefined)).toBeUndefined()
  const at = addressIn('https://docs.example/politely')
  const page = withAddress(text, 'waiting/', at ?? new URL('http://missing/'))
  expect(page).toContain('<link rel="canonical" href="https://docs.example/politely/waiting/">')
  expect(page).toContain('<meta property="og:url" content="https://docs.example/politely/waiting/">')
  expect(page).toContain('<meta property="og:image" content="https://docs.example/politely/card-start.png">')
  expect(withAddress(text, 'playground/', new URL('https://docs.example/'))).toContain('/card-playground.png">')
  expect(() => addressIn('docs.example')).toThrow('--address: docs.example is not the address of a site')
})

test('each page has a Content-Security-Policy without inline scripts', () => {
  for (const [file, text] of html) {
    const [, policy = ''] = /<meta http-equiv="Content-Security-Policy" content="([^"]*)"/.exec(text) ?? []
    expect(policy, file).toContain("default-src 'none'; script-src 'self'")
    expect(policy.match(/script-src [^;]*/)?.[0], file).not.toContain('unsafe-inline')
    expect(policy.includes("connect-src 'none'"), file).toBe(file === 'playground/index.html')
  }
})
