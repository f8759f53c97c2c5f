// @module-tag full
// Checks that the benchmark calls each library correctly. On these simple files all libraries must
// return the same verdicts.
import { describe, expect, it } from 'vitest'
import { libraries } from '../src/libraries/libraries.ts'

const ORIGIN = 'https://www.example.com'

const cases: readonly {
  readonly robots: string
  readonly allowed: readonly string[]
  readonly disallowed: readonly string[]
}[] = [
  {
    robots: 'User-agent: *\nDisallow: /private/\n',
    allowed: ['/', '/page', '/privat', '/public/'],
    disallowed: ['/private/', '/private/page.html?a=1'],
  },
  { robots: 'User-agent: *\nDisallow: /\n', allowed: [], disallowed: ['/', '/page?q=1'] },
  { robots: 'User-agent: *\nDisallow:\n', allowed: ['/', '/page'], disallowed: [] },
  {
    robots:
      'User-agent: OtherBot\nDisallow: /\n\nUser-agent: ExampleBot\nDisallow: /own/\n\nUser-agent: *\nDisallow: /everyone/\n',
    allowed: ['/', '/everyone/'],
    disallowed: ['/own/', '/own/page'],
  },
  {
    robots:
      '# a comment\r\nUser-agent: *\r\nDisallow: /shop/cart # and why\r\nSitemap: https://www.example.com/sitemap.xml\r\n',
    allowed: ['/shop', '/'],
    disallowed: ['/shop/cart', '/shop/cart/pay'],
  },
]

describe.each(libraries)('$name', (library) => {
  it.each(cases)('$robots', async ({ robots, allowed, disallowed }) => {
    const rules = await library.prepare(robots, `${ORIGIN}/robots.txt`)
    for (const path of allowed) expect(library.isAllowed(rules, ORIGIN + path), path).toBe(true)
    for (const path of disallowed) expect(library.isAllowed(rules, ORIGIN + path), path).toBe(false)
  })
})

it('all libraries support wildcards', async () => {
  const robots = 'User-agent: *\nDisallow: /*.pdf$\nDisallow: /a/*/b\n'
  for (const library of libraries) {
    const rules = await library.prepare(robots, `${ORIGIN}/robots.txt`)
    const isAllowed = (path: string) => library.isAllowed(rules, ORIGIN + path)
    expect.soft(isAllowed('/a/x/b/c'), library.name).toBe(false)
    expect.soft(isAllowed('/page.html'), library.name).toBe(true)
    expect.soft(isAllowed('/file.pdf'), library.name).toBe(false)
  }
})
