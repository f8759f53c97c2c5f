// @module-tag full
// Every command that takes URLs reads them from the same lists: stdin, a file, and a site's sitemaps.
import { expect, test } from 'vitest'
import { writeFiles } from './files.ts'
import { parseJsonLines, runInThisProcess } from './run-cli.ts'
import { startPageSite } from './site.ts'

const BOT = ['--user-agent', 'ExampleBot']
const COMMANDS = [
  ['check', '--json'],
  ['usage', '--json', '--min-delay', '0', '--purpose', 'index'],
  ['fetch', '--json', '--min-delay', '0'],
  ['crawl', '--json', '--min-delay', '0', '--depth', '0'],
] as const
const PAGE = { status: 200, headers: { 'content-type': 'text/html', 'x-robots-tag': 'noindex' }, body: '' }

/** Starts a site with two pages. Returns its origin, and what a run says about which URLs. */
async function start() {
  const sitemap =
    '<urlset><url><loc>http://127.0.0.1:PORT/a</loc></url><url><loc>http://127.0.0.1:PORT/b</loc></url></urlset>'
  const { origin } = await startPageSite({ '/a': PAGE, '/b': PAGE, '/map.xml': { status: 200, body: sitemap } })
  const run = async ([command, ...flags]: readonly string[], list: readonly string[], stdin = '') => {
    const { code, stdout, stderr } = await runInThisProcess([`${command}`, ...list, ...flags, ...BOT], stdin)
    const lines = parseJsonLines((command === 'fetch' ? stderr : stdout).replace(/^[^{]+$/gm, ''))
    return { code, stderr, urls: lines.map(({ url }) => String(url).replace(origin, '')).sort() }
  }
  return { origin, run }
}

test.for(COMMANDS)('%s reads stdin, a file and a sitemap', async (args) => {
  const { origin, run } = await start()
  const path = writeFiles({ 'urls.csv': `title,url\nA,${origin}/a\nB,${origin}/b\n` })
  expect((await run(args, ['-'], `# a comment\n- ${origin}/a\n\n${origin}/b\n`)).urls).toEqual(['/a', '/b'])
  expect((await run(args, ['--urls', path('urls.csv')])).urls).toEqual(['/a', '/b'])
  const { code, urls } = await run(args, [`${origin}/b`, '--sitemap', `${origin}/map.xml`])
  expect(urls).toEqual(args[0] === 'crawl' ? ['/a', '/b'] : ['/a', '/b', '/b'])
  expect(code).toBe(args[0] === 'usage' ? 1 : 0)
})

test.for(COMMANDS)('%s says what is wrong with a list', async (args) => {
  const { origin, run } = await start()
  expect(await run(args, ['--sitemap', origin])).toMatchObject({
    code: 2,
    stderr: expect.stringContaining(`--sitemap: ${origin} lists no URLs; write politely sitemap ${origin}`),
  })
  // No server listens there: this is no mistake of the command line.
  for (const closed of ['http://127.0.0.1:9', 'http://127.0.0.1:9/map.xml'])
    expect(await run(args, ['--sitemap', closed])).toMatchObject({
      code: 3,
      stderr: expect.stringMatching(
        /^politely: .*robots\.txt.*\npolitely: --sitemap: no URLs of (\S+) were read; write politely check \1\n$/,
      ),
    })
  const missing = await run(args, ['--sitemap', `${origin}/missing.xml`])
  expect(missing).toMatchObject({ code: 2, stderr: expect.stringMatching(/status 404\n.* were read; write .*xml\n$/) })
  const path = writeFiles({ list: `${origin}/a\n` })
  expect((await run(args, [path('list')])).stderr).toContain(`write politely ${args[0]} - < "${path('list')}"`)
})
