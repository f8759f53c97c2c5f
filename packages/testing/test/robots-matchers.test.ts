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
