// Writes docs/cli.md from the commands' own descriptions, and from runs on the files that it shows.

import { dialects } from '@politely/core'
import { defaultOf, flagText } from '@politely/core/review'
import { expectPage } from '@politely/testkit/doc-page'
import { expect, test, vi } from 'vitest'
import { COMMON_FLAGS, type Flag } from '../src/command-line.ts'
import { commands } from '../src/commands.ts'
import { EXITS } from '../src/exit-code.ts'
import { flagsIn } from '../src/flags.ts'
import { SHOP, withoutFolder, writeFiles } from './files.ts'
import { runInThisProcess } from './run-cli.ts'
import { originWithStatus, startCache, startSite } from './site.ts'

/** The files that the runs of the page use. They are shown in it. */
const FILES: Readonly<Record<string, string>> = {
  'robots.txt': SHOP,
  'draft.txt': SHOP.replace('Disallow: /tmp', 'Disallow: /').replace('Allow: /cart/help', 'Allow: cart/help'),
  'robots.expect': 'allow ExampleBot /cart/help\ndeny GPTBot /          # the whole site\ndeny-only * /tmp\n',
  'ai.txt':
    'User-agent: *\nDisallow: /cart\n\nUser-agent: GPTbot\nUser-agent: Claude-Web\nUser-agent: Google-Extended\nUser-agent: PerplexityUser\nUser-agent: ChatGPT-User\nDisallow: /\n\nUser-agent: Googlebot\nUser-agent: Googlebot-Mobile\nDisallow: /cart\nDisallow: /print/\n',
  'urls.txt': '/\n/about\n/tmp/1\n/cart/help\n',
}
const GOOGLEBOT = 'Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)'

/** Files of the situations. Each situation shows its own. */
const SITUATION_FILES: Readonly<Record<string, string>> = {
  'dist/robots.txt': 'User-agent: *\nDisallow: /\n',
  'live.expect': 'allow * /\nallow Googlebot /news/\n',
  'staging/robots.txt': 'User-agent: *\nDisallow: /admin\n',
  'staging.expect': 'deny * /\n',
  'groups/robots.txt': 'User-agent: *\nDisallow: /account/\n\nUser-agent: GPTBot\nDisallow: /blog/\n',
  'private.expect': 'deny * /account/\ndeny GPTBot /account/ /blog/\n',
  'public/robots.txt': 'User-agent: *\nDisallow: /public\n',
  'site/robots.txt': 'User-agent: *\nDisallow: /*/edit\nDisallow: /search\nAllow: /search/help\nDisallow: /*?\n',
  'live.txt': 'User-agent: *\nDisallow: /shop/cart\n',
  'new.txt': 'User-agent: *\nDisallow: /shop/c\n',
  'rules.txt':
    'User-agent: *\nDisallow: /cart\nDisallow: /search\n\nUser-agent: GPTBot\nDisallow: /\n\nUser-agent: Googlebot\nAllow: /\nDisallow: /cart\n',
  'access.log': [
    ['66.249.66.1', '/', GOOGLEBOT],
    ['66.249.66.1', '/robots.txt', GOOGLEBOT],
    ['203.0.113.9', '/cart?add=7', GOOGLEBOT],
    ['20.171.207.5', '/robots.txt', 'Mozilla/5.0 (compatible; GPTBot/1.2; +https://openai.com/gptbot)'],
    ['198.51.100.23', '/search?q=rake', 'python-requests/2.32.3'],
    ['198.51.100.23', '/search?q=hose', 'python-requests/2.32.3'],
    ['192.0.2.7', '/cart', 'Mozilla/5.0 (X11; Linux x86_64; rv:143.0) Gecko/20100101 Firefox/143.0'],
  ]
    .map(([ip, url, agent]) => `${ip} - - [27/Nov/2026:10:00:00 +0000] "GET ${url} HTTP/1.1" 200 512 "-" "${agent}"\n`)
    .join(''),
  'googlebot.json': '{"prefixes": [{"ipv4Prefix": "66.249.66.0/27"}]}\n',
  'pages.txt': '/shop/cart\n/shop/catalogue\n/shop/contact\n/shop/\n',
}

/** What happens, the files that are shown, and the run that tells. */
const SITUATIONS: readonly (readonly [title: string, text: string, files: readonly string[], run: string])[] = [
  [
    'The file of another environment goes live',
    'The staging host closes everything, and a deployment copies its file to production. An expectation in the repository fails first.',
    ['live.expect', 'dist/robots.txt'],
    'test live.expect --robots dist/robots.txt',
  ],
  [
    'A staging host is open',
    'The other way round: the staging host must be closed to every crawler.',
    ['staging.expect', 'staging/robots.txt'],
    'test staging.expect --robots staging/robots.txt',
  ],
  [
    'A group for one crawler replaces the group for all',
    "A crawler with its own group doesn't read the group for `*`. So GPTBot may read `/account/` here.",
    ['private.expect', 'groups/robots.txt'],
    'test private.expect --robots groups/robots.txt',
  ],
  [
    'A test that compares text',
    'A test that looks for the text `Disallow: /` also passes for `Disallow: /public`. An expectation is about verdicts.',
    ['staging.expect', 'public/robots.txt'],
    'test staging.expect --robots public/robots.txt',
  ],
  [
    'Which line is in the way?',
    'Three rules match, and the longest one decides.',
    [],
    'explain /search/help?page=2 --user-agent ExampleBot --robots site/robots.txt',
  ],
  [
    'What does a change close?',
    'The new rule is shorter, and closes more than the cart.',
    ['live.txt', 'new.txt'],
    'diff live.txt new.txt --urls pages.txt --crawler Googlebot',
  ],
  [
    'Who in my access log broke robots.txt?',
    `Count your access log by crawler. The rules are those of the file that you give, so requests from before a change may look wrong. A name is
only a claim: give the ranges that the operator publishes, and requests from other addresses get their own row. Browsers are left out, and so is
a crawler that claims to be one. The log may be as long as you like: memory doesn't grow with it.

Logs of Apache, nginx, IIS, Caddy and Traefik work, and JSON with one object on each line. They need the User-Agent: in Apache and nginx, the
Combined Log Format has it. Behind a proxy, let the server log the client's address, or \`--ranges\` sees the proxy's. If a log has several hosts in
front of its lines, \`--origin\` leaves the others out. Only the first 500 characters of a User-Agent are read.`,
    ['rules.txt', 'access.log', 'googlebot.json'],
    'match --by-agent --robots rules.txt --urls access.log --ranges Googlebot=googlebot.json --format text',
  ],
]

/** What the same exit code means there, by the names of `EXITS`. */
const ROBOTS_MAIN: Readonly<Record<string, string>> = {
  success: 'the URL is allowed',
  disallowed: 'the URL is disallowed',
  usage: 'the file cannot be read, or there are not three arguments; also for `--help`',
}

const path = writeFiles({ ...FILES, ...SITUATION_FILES })
const names = new Set([...Object.keys(FILES), ...Object.keys(SITUATION_FILES)])

/** Runs of each command, without `politely`. */
const RUNS: Readonly<Record<string, readonly string[]>> = {
  check: [
    'check https://shop.example/cart --user-agent ExampleBot',
    'check https://down.example/ https://login.example/ --user-agent ExampleBot',
    'check https://cdn.example/news --user-agent ExampleBot --edge',
  ],
  explain: [
    'explain /cart/items?sort=price --user-agent ExampleBot --robots robots.txt',
    'explain https://shop.example/old --user-agent ExampleBot --follow',
    'explain https://news.example/post --user-agent OtherBot',
  ],
  usage: [
    'usage https://news.example/post --user-agent ExampleBot',
    'usage https://news.example/post --user-agent OtherBot --purpose train-ai --no-page',
  ],
  test: ['test robots.expect --robots robots.txt', 'test robots.expect --robots draft.txt'],
  lint: ['lint draft.txt'],
  audit: ['audit ai.txt'],
  diff: ['diff robots.txt draft.txt --urls urls.txt --crawler ExampleBot'],
}

/** The robots.txt of the runs of `usage`. */
const NEWS = `User-agent: *
Content-Signal: search=yes, ai-train=no
Content-Usage: train-ai=n
License: https://news.example/license.xml
Disallow: /private

User-agent: OtherBot
Disallow: /drafts
`

/** The sites of the runs are on loopback. The page shows them under these names. */
async function startAll(): Promise<ReadonlyMap<string, string>> {
  const shop = await startSite({ status: 200, headers: { 'cache-control': 'max-age=7200' }, body: SHOP })
  shop.server.respond('http://127.0.0.1:PORT/old', { status: 301, headers: { location: '/cart' } })
  const login = await startSite({ status: 302, headers: { location: '/login' } })
  shop.server.respond('http://127.0.0.1:PORT/cart/help', {
    status: 200,
    headers: { 'content-type': 'text/plain' },
    body: 'How to use the cart\n',
  })
  const part = (name: string) => `<sitemap><loc>${shop.origin}/${name}</loc></sitemap>`
  const pages = (...paths: string[]) =>
    `<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">${paths.map((path) => `<url><loc>${shop.origin}${path}</loc></url>`).join('')}</urlset>`
  const maps = {
    'sitemap.xml': `<sitemapindex xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">${part('pages.xml')}${part('news.xml')}${part('old.xml')}</sitemapindex>`,
    'pages.xml': pages('/', '/about', '/cart/help'),
    'news.xml': pages('/news/1', '/news/2').slice(0, -20),
  }
  for (const [name, body] of Object.entries(maps))
    shop.server.respond(`http://127.0.0.1:PORT/${name}`, { status: 200, body })
  const page = '<!doctype html><title>Sign in</title>'
  login.server.respond('http://127.0.0.1:PORT/login', {
    status: 200,
    headers: { 'content-type': 'text/html' },
    body: page,
  })
  const cdn = await startCache(
    { status: 200, headers: { age: '7200', 'cf-cache-status': 'HIT' }, body: 'User-agent: *\nDisallow: /\n' },
    { status: 200, headers: { 'cf-cache-status': 'MISS' }, body: 'User-agent: *\nDisallow: /admin\n' },
  )
  const news = await startSite({ status: 200, body: NEWS })
  news.server.respond('http://127.0.0.1:PORT/post', {
    status: 200,
    headers: { 'content-type': 'text/html', 'x-robots-tag': 'noarchive, max-snippet:50' },
    body: '<!doctype html><meta name="robots" content="nofollow"><title>News</title>',
  })
  // Only one gate of this process visits it, or there would be a warning.
  const blog = await startSite({ status: 404 })
  blog.server.respond('http://127.0.0.1:PORT/about', {
    status: 200,
    headers: { 'content-type': 'text/plain', 'cache-control': 'max-age=7200', etag: '"1"' },
    body: 'About this blog\n',
  })
  return new Map([
    ['https://blog.example', blog.origin],
    ['https://news.example', news.origin],
    ['https://shop.example', shop.origin],
    ['https://login.example', login.origin],
    ['https://down.example', await originWithStatus(503, { 'retry-after': '7200' })],
    ['https://cdn.example', cdn],
  ])
}

/** The runs of commands whose output has times, and that print reports on stderr. */
const TIMED_RUNS: Readonly<Record<string, readonly string[]>> = {
  fetch: [
    'fetch https://shop.example/cart/help https://shop.example/cart/pay --user-agent ExampleBot --store robots.sqlite',
    'fetch https://blog.example/about --user-agent ExampleBot --cache pages.sqlite',
    'fetch https://blog.example/about --user-agent ExampleBot --cache pages.sqlite',
  ],
  sitemap: ['sitemap https://shop.example/sitemap.xml --user-agent ExampleBot --min-delay 0'],
  cache: [
    'cache ls --store robots.sqlite',
    'cache ls --cache pages.sqlite',
    'cache show https://blog.example/about --cache pages.sqlite',
    'cache prune --older-than 30d --cache pages.sqlite',
  ],
  doctor: ['doctor https://shop.example --user-agent ExampleBot/1.0 --store robots.sqlite'],
}

async function timedTranscript(line: string, sites: ReadonlyMap<string, string>): Promise<string> {
  for (const name of ['HTTP_PROXY', 'HTTPS_PROXY', 'http_proxy', 'https_proxy', 'NODE_USE_ENV_PROXY', 'POLITELY_STORE'])
    vi.stubEnv(name, undefined)
  return withoutTimes(await transcript(line, sites))
}

/** Replaces what differs between two runs: the address, the version of Node, times, and free space. */
function withoutTimes(text: string): string {
  return text
    .replace(/DNS( +)127.*/, 'DNS$1shop.example → 192.0.2.7')
    .replace(/Node( +)[\d.]+/, 'Node$124.21.0')
    .replace(/(?<=entries, |sitemaps, )\d+ bytes/g, '2.4 kB')
    .replace(/(?<=in |after )[\d.]+ m?s/g, '35 ms')
    .replace(/[\d.]+ m?s ago +/, '3 s ago      ')
    .replace(/[\d.]+ m?s(?= old)/g, '3 s')
    .replace(/^200 {5}[\d.]+ m?s +/m, '200     3 s       ')
    .replace(/\d{4}-\S+Z/g, '2026-11-25T12:00:00Z')
    .replace(/date: .*/, 'date: Wed, 25 Nov 2026 12:00:00 GMT')
    .replace(/[\d.]+ [GM]B free/, '64 GB free')
    .replace(/(?<=clock {7}).*/, 'agrees with the Date of the response')
}

async function transcript(line: string, sites: ReadonlyMap<string, string>): Promise<string> {
  const words = [...sites].reduce((text, [name, origin]) => text.replaceAll(name, origin), line).split(' ')
  const { stdout, stderr, code } = await runInThisProcess(
    words.map((word) => {
      const file = word.replace(/^Googlebot=/, '')
      return names.has(file) || /\.sqlite$/.test(file) ? word.replace(file, path(file)) : word
    }),
  )
  const shown = [...sites].reduce(
    (text, [name, origin]) => text.replaceAll(origin, name),
    withoutFolder(stdout + stderr, path),
  )
  const lasting = shown.replace(/(?<=, until )\d{4}-\S+Z/g, '2026-11-25T14:00:00Z')
  return `\`\`\`text\n$ politely ${line}\n${lasting.trimEnd()}\n\`\`\`\n\nExit code ${code}.\n`
}

const cell = (text: string) => text.replaceAll('|', '\\|').replaceAll('<', '&lt;')

const rowOf = (flag: Flag) => {
  const { text, choices, isRepeatable } = flag
  const byDefault = defaultOf(flag)
  const notes = [
    ...(choices === undefined ? [] : [`One of ${choices.map((choice) => `\`${choice}\``).join(', ')}.`]),
    ...(byDefault === undefined ? [] : [`Default: ${byDefault}.`]),
    ...(isRepeatable ? ['May be repeated.'] : []),
  ]
  return `| \`${flagText(flag)}\` | ${cell([`${text[0]?.toUpperCase()}${text.slice(1)}.`, ...notes].join(' '))} |`
}
const tableOf = (rows: readonly string[]) => `| option | meaning |\n|---|---|\n${rows.join('\n')}`

/** The flags that mean the same in several commands. The page has them once. */
const shared = flagsIn(
  '--user-agent --product-token --robots --dialect --store --min-delay --max-wait --retry --crawler --urls --sitemap --input --column --timeout --proxy --allow-address',
)
const isShared = (flag: Flag) => shared.includes(flag)

test('docs/cli.md', { tags: 'page' }, async () => {
  const sites = await startAll()
  const sections: string[] = []
  for (const { name, usage, description, flags, examples, exits } of commands) {
    const own = flags.filter((flag) => !isShared(flag)).map(rowOf)
    const others = flags.filter(isShared).map(({ name }) => `\`--${name}\``)
    const also = `${own.length === 0 ? '' : 'Also '}[options of several commands](#options-of-several-commands): ${others.join(', ')}.`
    const runs: string[] = []
    for (const line of RUNS[name] ?? []) runs.push(await transcript(line, sites)) // one after the other: they share stdout
    for (const line of TIMED_RUNS[name] ?? []) runs.push(await timedTranscript(line, sites))
    sections.push(
      [
        `## ${name}`,
        `\`politely ${name} ${usage}\``,
        description,
        ...runs.map((run) => run.trimEnd()),
        ...(own.length === 0 ? [] : [tableOf(own)]),
        ...(others.length === 0 ? [] : [also]),
        `\`\`\`sh\n${examples.map(([line, text]) => `# ${text}\npolitely ${line}`).join('\n\n')}\n\`\`\``,
        `Exit code 0: ${exits.success}.${exits.fails === undefined ? '' : ` Exit code 1: ${exits.fails}.`}`,
      ].join('\n\n'),
    )
  }
  const situations: string[] = []
  for (const [title, text, files, run] of SITUATIONS) {
    const shown = files.map((name) => `\`${name}\`:\n\n\`\`\`text\n${SITUATION_FILES[name]?.trimEnd()}\n\`\`\``)
    situations.push([`### ${title}`, text, ...shown, (await transcript(run, sites)).trimEnd()].join('\n\n'))
  }
  const exits = Object.entries(EXITS).map(
    ([name, { code, meaning }]) => `| ${code} | ${cell(meaning)} | ${ROBOTS_MAIN[name] ?? 'does not exist'} |`,
  )
  const files = Object.entries(FILES).filter(([name]) => ['robots.txt', 'robots.expect', 'ai.txt'].includes(name))
  await expectPage(
    'docs/cli.md',
    `# The command

\`politely\` answers questions about robots.txt in a terminal and in CI: may this crawler fetch this URL, which line decides, what does a
change do, does the file still say what it should? Install it with \`npm install --global politely\`, or write \`npx politely\`.

${commands.map(({ name, summary }) => `- [\`politely ${name}\`](#${name}): ${summary}`).join('\n')}

The runs below use these files. \`draft.txt\` is \`robots.txt\` with \`Disallow: /\` instead of \`Disallow: /tmp\`, and \`Allow: cart/help\`
without its slash.

${files.map(([name, text]) => `\`${name}\`:\n\n\`\`\`text\n${text.trimEnd()}\n\`\`\``).join('\n\n')}

${sections.join('\n\n')}

## Seven situations

${situations.join('\n\n')}

## Options of several commands

${tableOf([...shared, ...COMMON_FLAGS].map(rowOf))}

## Exit codes of all commands

| code | meaning | \`robots_main\` of google/robotstxt |
|---|---|---|
${exits.join('\n')}

If your script calls \`robots_main FILE AGENT URL\`, it can call
\`politely explain URL --robots FILE --product-token AGENT --dialect google\` instead. We compared 18,101 cases: both gave the same exit
code. They differ if AGENT isn't a product token, or URL is neither a URL nor a path. Then \`politely\` exits with 2, and \`robots_main\`
with 0 or 1.

The text for people may change in any version. Parse [\`--format json\`](reference/output-formats.md) instead.
`,
  )
})

test('the dialects of --dialect are those of core', () => {
  const choices = commands.flatMap(({ flags }) => flags.filter(({ name }) => name === 'dialect'))
  for (const { choices: names } of choices) expect(names).toEqual(Object.keys(dialects))
})
