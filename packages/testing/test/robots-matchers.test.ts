// @module-tag nodes
// The matchers, as `expect.extend` calls them.
import { parseRobots } from '@politely/core'
import { expect, test } from 'vitest'
import { type RobotsMatchers, robotsMatchers } from '../src/index.ts'

declare module 'vitest' {
  interface Matchers<R extends void | Promise<void> = void | Promise<void>, T = unknown> extends RobotsMatchers<R> {}
}

expect.extend(robotsMatchers)

const SHOP = 'User-agent: *\nDisallow: /cart\n\nUser-agent: GPTBot\nDisallow: /public\n'

test('take a text and a parsed file', () => {
  for (const robots of [SHOP, parseRobots(SHOP)]) {
    expect(robots).toAllow('*', '/about')
    expect(robots).toDisallow('Googlebot', 'https://shop.example/cart')
    expect(robots).not.toDisallow('GPTBot', '/cart') // a group of its own replaces the group for *
  }
})

test('say in a failed test which line decided', () => {
  expect(() => expect(SHOP).toDisallow('GPTBot', '/')).toThrow(
    'expected otherwise: GPTBot may fetch /: no rule of the group for GPTBot (line 4) matches',
  )
  expect(() => expect(SHOP).not.toDisallow('*', '/cart/1')).toThrow(
    'expected otherwise: * may not fetch /cart/1: line 2 of robots.txt says "Disallow: /cart" to *',
  )
})

test.each([
  ['a crawler with blanks', () => expect(SHOP).toAllow('Google Bot', '/'), 'is not a product token; write one such as'],
  ['a relative path', () => expect(SHOP).toAllow('*', 'cart'), 'a path begins with /'],
  ['a name of a file', () => expect('./robots.txt').toAllow('*', '/'), 'robots.txt'],
  ['another value', () => expect(42).toAllow('*', '/'), '42'],
])('throw an OptionError for %s', (_, run, message) => {
  expect(run).toThrow(
    expect.objectContaining({ code: 'ERR_POLITELY_OPTION', message: expect.stringContaining(message) }),
  )
})

test.each(['archive.org_bot', 'Sogou web spider'])('take the documented name %s', (name) => {
  expect(`User-agent: ${name}\nDisallow: /a\n`).toDisallow(name, '/a')
})

test('lets known crawlers read the groups that their operators document', () => {
  const file = 'User-agent: Googlebot\nDisallow: /drafts\n\nUser-agent: *\nDisallow: /\n'
  expect(file).toAllow('Googlebot-News', '/news')
  expect(file).toDisallow('Googlebot-News', '/drafts')
  expect(file).toAllow('AdsBot-Google', '/news')
})

const NEWS = `User-agent: *
Content-Usage: train-ai=n
Content-Usage: /news search=y

User-agent: Bingbot
User-agent: Yandex
Crawl-delay: 5

Sitemap: https://shop.example/map.xml
`

test('more than paths', () => {
  expect(NEWS).toDisallowUse('GPTBot', 'train-ai')
  expect(NEWS).toAllowUse('*', 'search', '/news/1')
  expect(NEWS).not.toAllowUse('*', 'search')
  expect(parseRobots(NEWS, { origin: 'https://shop.example' })).toDisallowUse('GPTBot', 'train-ai', '/about')
  expect(NEWS).toHaveCrawlDelay('Bingbot', 5)
  expect(NEWS).toHaveCrawlDelay('*', undefined)
  expect(NEWS).toHaveSitemap('https://SHOP.example/map.xml')
  expect(NEWS).toNameKnownCrawlers()
  expect('User-agent: MyBot\nDisallow:').toNameKnownCrawlers('mybot')
  expect(NEWS).toBeSmallerThan(1024)
})

test.each([
  [() => expect(NEWS).toAllowUse('*', 'train-ai'), 'train-ai is disallowed for * at /: line 2 says "train-ai=n"'],
  [() => expect(NEWS).toDisallowUse('*', 'search'), 'search is unstated for * at /: nothing says it'],
  [() => expect(NEWS).toHaveCrawlDelay('Bingbot', 6), 'the Crawl-delay for Bingbot is 5 s'],
  [() => expect(SHOP).toHaveSitemap('https://a.example/'), 'the file names no sitemap with its whole URL'],
  [
    () => expect('User-agent: GPTbott\nUser-agent: Claude-Web').toNameKnownCrawlers(),
    'GPTbott, Claude-Web: not of a known crawler that is in use and obeys robots.txt',
  ],
  [() => expect('é').toBeSmallerThan(2), 'the file has 2 bytes'],
  [() => expect(SHOP).toAllowUse('*', 'train' as 'train-ai'), '"train" is not known; expected one of index'],
  [() => expect(SHOP).toHaveCrawlDelay('*', Number.NaN), 'write seconds, or undefined for none'],
  [() => expect(SHOP).toHaveSitemap('/map.xml'), '"/map.xml" is not a URL'],
  [() => expect(SHOP).toBeSmallerThan('1' as unknown as number), 'is not a number of bytes'],
])('say what is otherwise: %#', (run, message) => {
  expect(run).toThrow(message)
})
