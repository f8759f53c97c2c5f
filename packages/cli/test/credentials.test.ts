// The output contains no credentials of a URL (`user:password@`).
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { invalidSecretUrls, SECRET, secretUrls } from '@politely/testkit/cases/secret-urls'
import { isFullRun } from '@politely/testkit/scope'
import { startSites } from '@politely/testkit/servers/sites'
import { afterAll, expect, onTestFinished, test } from 'vitest'
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

test('about a misplaced URL', { tags: 'full' }, async () => {
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

// What a site writes: each of its files names URLs with a password.
const secret = `http://u:${SECRET}@`
const ofSite = (host: string) =>
  [
    'User-agent: *',
    `# see ${secret}${host}/help or mail bot@example.com`,
    'Disallow: /private@home',
    `Disallow: ${secret}${host}/a`,
    `Disallow: /*?u=${secret}${host}/`,
    `Allow: /*url=${secret}`,
    `Crawl-delay: ${secret}${host}`,
    `Content-Signal: ${secret}${host}`,
    `Content-Usage: train-ai=n, x=${secret}${host}`,
    `License: ${secret}${host}/license.xml`,
    `Sitemap: ${secret}${host}/sitemap.xml`,
    `Sitemap: ${secret}${host}/missing.xml`,
    `Sitemap: http:u:${SECRET}@${host}/one.xml # ${secret}${host}`,
    `Sitemap: //u:${SECRET}@${host}/two.xml`,
    `Sitemap: http://u v:${SECRET} @${host}/three.xml`,
    `Sitemp: ${secret}${host}/four.xml`,
    `${secret}${host}/five`,
    '',
    `User-agent: ${secret}${host}`,
    'Disallow: /',
  ].join('\n')

async function startSecretSite() {
  const server = await startSites()
  onTestFinished(() => server.close())
  const host = server.withPort('127.0.0.1:PORT')
  const at = (path: string) => `http://127.0.0.1:PORT${path}`
  const xml = { 'content-type': 'application/xml' }
  server.answerAll({
    [at('/robots.txt')]: { status: 200, body: ofSite(host) },
    [at('/sitemap.xml')]: {
      status: 200,
      headers: xml,
      body: `<urlset><url><loc>${secret}${host}/page</loc></url><url><loc>${secret}other.test/</loc></url><url><loc>u:${SECRET}@x</loc></url></urlset>`,
    },
    [at('/one.xml')]: { status: 302, headers: { location: `${secret}${host}/sitemap.xml` } },
    [at('/.well-known/tdmrep.json')]: {
      status: 200,
      body: JSON.stringify([{ location: '/', 'tdm-reservation': 1, 'tdm-policy': `${secret}${host}/policy` }]),
    },
    [at('/page')]: {
      status: 200,
      headers: { 'content-type': 'text/html', 'x-robots-tag': `noindex, ${secret}${host}` },
      body: `<a href="${secret}${host}/linked">a</a><link rel="license" href="${secret}${host}/l"><meta name="robots" content="nofollow ${secret}">`,
    },
    [at('/moved')]: { status: 302, headers: { location: `${secret}${host}/page` } },
    [at('/found')]: { status: 201, headers: { location: `${secret}${host}/page` }, body: 'found' },
    [at('/lost')]: { status: 302, headers: { location: `${secret}/page` } },
  })
  const file = join(folder, 'site.txt')
  writeFileSync(file, ofSite(host))
  return { origin: `http://${host}`, file }
}

test('of a site: in robots.txt, sitemaps, tdmrep.json, pages and redirects', async () => {
  const { origin, file } = await startSecretSite()
  const store = join(folder, 'store.sqlite')
  const rule = `${origin}/x?u=${secret}${new URL(origin).host}/`
  const fast = ['--min-delay', '0', '--timeout', '5']
  const commands = [
    ['check', `${origin}/page`, rule, ...BOT, '--store', store],
    ['explain', `${origin}/page`, ...BOT],
    ['explain', rule, ...BOT],
    ['explain', `${origin}/moved`, ...BOT, '--follow'],
    ['explain', `${origin}/lost`, ...BOT, '--follow'],
    ['explain', '/private@home', '--robots', file, ...BOT],
    ['usage', `${origin}/page`, ...BOT, ...fast.slice(2)],
    ['usage', `${origin}/moved`, `${origin}/lost`, ...BOT, ...fast],
    ['usage', '/page', '--robots', file, ...BOT],
    ['lint', origin, ...BOT],
    ['lint', file],
    ['diff', file, robots],
    ['audit', file],
    ['test', expectations, '--robots', file],
    ['fetch', `${origin}/found`, `${origin}/lost`, ...BOT, ...fast, '--include'],
    ['sitemap', `${secret}${new URL(origin).host}`, ...BOT, ...fast],
    ['sitemap', `${secret}${new URL(origin).host}/sitemap.xml`, ...BOT, ...fast],
    ['crawl', `${origin}/page`, `${origin}/moved`, rule, ...BOT, ...fast],
    ['match', '--sitemap', `${secret}${new URL(origin).host}`, '--robots', file, ...BOT, ...fast],
    ['diff', file, robots, '--sitemap', `${secret}${new URL(origin).host}`, ...BOT, ...fast],
    ['doctor', rule, ...BOT],
    ['cache', 'ls', '--store', store],
    ['cache', 'show', origin, '--store', store],
  ]
  for (const args of commands) {
    const help = (await runInThisProcess([args[0] as string, '--help'])).stdout.replace(/\s+/g, ' ')
    const [, formats] = /--format NAME [^(]*\(one of ([^;)]+)/.exec(help) ?? []
    const others = formats?.split(', ').filter((format) => isFullRun || format === 'json') ?? []
    for (const format of [undefined, ...others]) {
      const { stdout, stderr } = await runInThisProcess([
        ...args,
        ...(format === undefined ? [] : ['--format', format]),
      ])
      expect.soft(stdout + stderr, JSON.stringify([...args, format])).not.toMatch(PASSWORD)
    }
  }
  const { stdout } = await runInThisProcess(['explain', '/page', '--robots', file, ...BOT])
  expect(stdout).toContain('or mail bot@example.com')
  expect(stdout).toContain('Disallow: /private@home')
})
