// The output contains no credentials of a URL (`user:password@`).
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { invalidSecretUrls, SECRET, secretUrls } from '@politely/testkit/cases/secret-urls'
import { afterAll, expect, test } from 'vitest'
import { parseJsonLines, runInThisProcess } from './run-cli.ts'
import { originWithRules } from './site.ts'

const folder = mkdtempSync(join(tmpdir(), 'politely-'))
const robots = join(folder, 'robots.txt')
writeFileSync(robots, 'User-agent: *\nDisallow: /private\n')
const expectations = join(folder, 'robots.expect')
writeFileSync(expectations, 'allow * /private\n')
afterAll(() => rmSync(folder, { recursive: true }))

const BOT = ['--user-agent', 'ExampleBot']
const PASSWORD = new RegExp(SECRET, 'i')

async function urls(): Promise<readonly string[]> {
  const { host } = new URL(await originWithRules('User-agent: *\nDisallow: /private\n'))
  return [...secretUrls(host), ...invalidSecretUrls(host)]
}

test.each([[[]], [['--json']]])('of check, with the options %j', async (options) => {
  const given = await urls()
  const { stdout, stderr } = await runInThisProcess(['check', ...given, ...BOT, ...options])
  expect(stdout.length + stderr.length).toBeGreaterThan(1_000)
  expect(stdout + stderr).not.toMatch(PASSWORD)
  if (options.length > 0) expect(parseJsonLines(stdout)).toHaveLength(given.length)
})

test.each(['rfc9309', 'google'])('of match, in dialect %s', async (dialect) => {
  const given = (await urls()).filter((url) => !url.includes('\n'))
  const args = ['match', '--robots', robots, '--dialect', dialect, ...BOT]
  const { stdout, stderr } = await runInThisProcess(args, given.join('\n'))
  expect(parseJsonLines(stdout)).toHaveLength(given.length)
  expect(stdout + stderr).not.toMatch(PASSWORD)
})

test('about a misplaced URL', async () => {
  for (const url of await urls()) {
    const commands = [
      [url],
      ['match', '--robots', url, ...BOT],
      ['match', '--robots', robots, '--origin', url, ...BOT],
      ['match', '--robots', robots, '--dialect', url, ...BOT],
      ['match', '--robots', robots, '--product-token', url],
      ['match', '--robots', robots, url],
      ['check', `--${url}`, ...BOT],
      ['check', '--timeout', url],
      ['check', 'http://127.0.0.1:9/', '--product-token', url],
      ['explain', url, '--robots', robots, ...BOT],
      ['explain', url, '--robots', robots, ...BOT, '--json'],
      ['explain', url, ...BOT, '--json'],
      ['explain', '/', '--robots', url, ...BOT],
      ['lint', url, ...BOT],
      ['lint', url, '--fix', ...BOT],
      ['usage', url, ...BOT],
      ['usage', url, ...BOT, '--json'],
      ['usage', url, '--robots', robots, ...BOT],
      ['usage', '/', '--html', url, ...BOT],
      ['fetch', url, ...BOT],
      ['fetch', url, ...BOT, '--json'],
      ['crawl', url, ...BOT],
      ['crawl', url, ...BOT, '--json'],
      ['doctor', url, ...BOT],
      ['cache', url],
      ['cache', 'show', url, '--store', robots],
      ['cache', 'show', 'a.test', '--store', url],
      ['cache', 'export', '--output', url, '--store', robots],
      ['cache', 'ls', '--host', url, '--store', robots],
      ['cache', 'import', url, '--store', robots],
      ['test', url, '--robots', robots],
      ['test', expectations, '--robots', url, ...BOT],
      ['diff', url, robots, ...BOT],
      ['diff', robots, robots, '--urls', url],
    ]
    for (const args of commands) {
      const { stdout, stderr } = await runInThisProcess(args)
      expect(stdout + stderr, JSON.stringify(args).slice(0, 200)).not.toMatch(PASSWORD)
    }
  }
})
