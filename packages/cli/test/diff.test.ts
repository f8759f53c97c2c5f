// `politely diff`: the effect of a change, by crawler and by line.
import { expect, test } from 'vitest'
import { SHOP, withoutFolder, writeFiles } from './files.ts'
import { parseJsonLines, runInThisProcess } from './run-cli.ts'

const path = writeFiles({
  'old.txt': SHOP,
  'new.txt': SHOP.replace('Disallow: /tmp', 'Disallow: /').replace('Allow: /cart/help\n', ''),
  'open.txt': '',
  'urls.txt': 'https://shop.example/\n/tmp/1\n/cart/help\n/about\n',
})
const diff = async (...args: string[]) => {
  const result = await runInThisProcess(['diff', ...args])
  return { ...result, stdout: withoutFolder(result.stdout, path) }
}

test('says for each crawler how many URLs change, and by which line', async () => {
  const { code, stdout } = await diff(path('old.txt'), path('new.txt'), '--urls', path('urls.txt'))
  expect(stdout).toMatchInlineSnapshot(`
    "old  old.txt
    new  new.txt

    *
      3 of 4 URLs become disallowed
        3 by line 3 of the new file, Disallow: /
          such as https://shop.example/, /cart/help, /about

    ExampleBot
      1 of 4 URLs become disallowed
        1 by line 10 of the new file, Disallow: /cart/
          such as /cart/help

    OtherBot
      1 of 4 URLs become disallowed
        1 by line 10 of the new file, Disallow: /cart/
          such as /cart/help

    Nothing changes for 1 other crawler.
    "
  `)
  expect(code).toBe(1)
})

test('compares paths made from the rules if no URLs are given', async () => {
  const { stdout } = await diff(path('old.txt'), path('open.txt'), '--crawler', 'GPTBot')
  expect(stdout).toMatchInlineSnapshot(`
    "old  old.txt
    new  open.txt

    GPTBot
      13 of 13 sample paths become allowed
        13 without line 14 of the old file, Disallow: /
          such as /, /page, /tmp

    The paths were made from the rules; --urls FILE compares the URLs of your site.
    "
  `)
})

test('finds no change between equal files', async () => {
  const { code, stdout } = await diff(path('old.txt'), path('old.txt'), '--urls', path('urls.txt'))
  expect(stdout).toContain('✓ none of 4 URLs changes, for *, ExampleBot, OtherBot, GPTBot\n')
  expect(code).toBe(0)
})

test('prints JSON with a version, and reads URLs from stdin', async () => {
  const args = ['diff', path('old.txt'), path('new.txt'), '--urls', '-', '--product-token', 'ExampleBot', '--json']
  const { stdout } = await runInThisProcess(args, '/cart/help\n/cart\n')
  const line = { file: 'new', line: 10, rule: 'Disallow: /cart/', count: 1, examples: ['/cart/help'] }
  expect(parseJsonLines(stdout)).toMatchObject([
    { version: 1, isSame: false, urls: 2, changes: [{ crawler: 'ExampleBot', disallowed: [line], allowed: [] }] },
  ])
})
