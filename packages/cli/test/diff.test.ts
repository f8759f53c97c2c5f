// `politely diff`: the effect of a change, by crawler and by line.
import { expect, test } from 'vitest'
import { SHOP, withoutFolder, writeFiles } from './files.ts'
import { parseJsonLines, runInThisProcess } from './run-cli.ts'
import { startSite } from './site.ts'

const path = writeFiles({
  'old.txt': SHOP,
  'new.txt': SHOP.replace('Disallow: /tmp', 'Disallow: /').replace('Allow: /cart/help\n', ''),
  'open.txt': '',
  'names-old.txt': 'User-agent: archive.org_bot\nDisallow: /b\n',
  'names-new.txt': 'User-agent: archive.org_bot\nDisallow: //a\n',
  'names.txt': 'one\ntwo\n',
  'urls.txt': 'https://shop.example/\n/tmp/1\n/cart/help\n/about\n',
})
const diff = async (...args: string[]) => {
  const result = await runInThisProcess(['diff', ...args])
  return { ...result, stdout: withoutFolder(result.stdout, path) }
}

test('compares the crawlers of lines with documented names, and paths that begin with two slashes', async () => {
  const { stdout } = await diff(path('names-old.txt'), path('names-new.txt'))
  expect(stdout).toContain('archive.org_bot\n')
  expect(stdout).toContain('by line 2 of the new file, Disallow: //a')
})

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

test('does not compare lines that are no URLs', async () => {
  const files = [path('old.txt'), path('new.txt'), '--urls']
  const all = await diff(...files, path('names.txt'))
  expect(all).toMatchObject({ code: 2, stdout: '' })
  expect(all.stderr).toMatch(/names\.txt: 2 of 2 lines are neither URLs nor paths; write --input with the format of/)
  const some = await runInThisProcess(['diff', ...files, '-'], 'one\n/about\n')
  expect(some.stderr).toBe('politely: stdin: 1 of 2 lines is neither a URL nor a path\n')
  expect(some.code).toBe(1)
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

test('compares what a store keeps with what the site sends', async () => {
  const store = path('robots.sqlite')
  const { origin, server } = await startSite({ status: 200, body: SHOP })
  const bot = ['--user-agent', 'ExampleBot/1.0']
  await runInThisProcess(['check', `${origin}/`, ...bot, '--store', store])
  server.respond('http://127.0.0.1:PORT/robots.txt', { status: 200, body: 'User-agent: *\nDisallow: /tmp\n' })
  const { stdout, code } = await diff(store, origin, ...bot, '--crawler', 'GPTBot')
  expect(stdout).toContain(`old  ${origin}/robots.txt in robots.sqlite\nnew  ${origin}/robots.txt\n`)
  expect(stdout).toContain('become allowed\n    11 without line 14 of the old file, Disallow: /')
  expect(code).toBe(1)
  expect((await diff(store, path('old.txt'))).stderr).toContain('is a store of many sites; write --origin https')
  const same = await diff(store, path('old.txt'), '--origin', `${origin}/page`)
  expect(same.code).toBe(0)
  const other = await diff(store, path('old.txt'), '--origin', 'https://other.example')
  expect(other.stderr).toContain('has no robots.txt of https://other.example; politely cache ls lists what is there')
})
