// Writes docs/cli.md from the commands' own descriptions, and from runs on the files that it shows.
import { dialects } from '@politely/core'
import { defaultOf, flagText } from '@politely/core/flags'
import { expectPage } from '@politely/testkit/doc-page'
import { expect, test, vi } from 'vitest'
import { COMMON_FLAGS, type Flag } from '../src/command-line.ts'
import { commands } from '../src/commands.ts'
import { EXITS } from '../src/exit-code.ts'
import { flagsIn } from '../src/flags.ts'
import { SHOP, withoutFolder, writeFiles } from './files.ts'
import { runInThisProcess } from './run-cli.ts'
import { startCache, startSite } from './site.ts'

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

/** Files of the run that reads an access log, and of the run of `explain`. */
const MORE_FILES: Readonly<Record<string, string>> = {
  'site/robots.txt': 'User-agent: *\nDisallow: /*/edit\nDisallow: /search\nAllow: /search/help\nDisallow: /*?\n',
  'rules.txt':
    'User-agent: *\nDisallow: /cart\nDisallow: /search\n\nUser-agent: GPTBot\nDisallow: /\n\nUser-agent: Googlebot\nAllow: /\nDisallow: /cart\n',
  'access.log': [
    ['66.249.66.1', '/', GOOGLEBOT],
    ['203.0.113.9', '/cart?add=7', GOOGLEBOT],
    ['20.171.207.5', '/robots.txt', 'Mozilla/5.0 (compatible; GPTBot/1.2; +https://openai.com/gptbot)'],
    ['198.51.100.23', '/search?q=rake', 'python-requests/2.32.3'],
    ['192.0.2.7', '/cart', 'Mozilla/5.0 (X11; Linux x86_64; rv:143.0) Gecko/20100101 Firefox/143.0'],
  ]
    .map(([ip, url, agent]) => `${ip} - - [27/Nov/2026:10:00:00 +0000] "GET ${url} HTTP/1.1" 200 512 "-" "${agent}"\n`)
    .join(''),
  'googlebot.json': '{"prefixes": [{"ipv4Prefix": "66.249.66.0/27"}]}\n',
}

/** What the section about access logs says before its run. */
const LOG_TEXT = `Count your access log by crawler. Browsers are left out, and so is a crawler that claims to be one. The rules are those of the file that
you give, so requests from before a change may look wrong. A name is only a claim: give the ranges that the operator publishes, and requests
from other addresses get their own row.

Logs of Apache, nginx, IIS, Caddy and Traefik work, and JSON with one object on each line. They need the User-Agent: in Apache and nginx, the
Combined Log Format has it. Behind a proxy, let the server log the client's address, or \`--ranges\` sees the proxy's. If a log names several
hosts, \`--origin\` chooses one.`
const LOG_RUN = 'match --by-agent --robots rules.txt --urls access.log --ranges Googlebot=googlebot.json --format text'

const path = writeFiles({ ...FILES, ...MORE_FILES })
const names = new Set([...Object.keys(FILES), ...Object.keys(MORE_FILES)])

/** Runs of each command, without `politely`. */
const RUNS: Readonly<Record<string, readonly string[]>> = {
  check: [
    'check https://shop.example/cart --user-agent ExampleBot',
    'check https://cdn.example/news --user-agent ExampleBot --edge',
  ],
  explain: ['explain /search/help?page=2 --user-agent ExampleBot --robots site/robots.txt'],
  usage: ['usage https://news.example/post --user-agent ExampleBot'],
  test: ['test robots.expect --robots draft.txt'],
  lint: ['lint draft.txt'],
  audit: ['audit ai.txt --purpose ai-training'],
  diff: ['diff robots.txt draft.txt --urls urls.txt --crawler ExampleBot'],
}

/** How many lines of a long output the page shows. */
const SHOWN_LINES: Readonly<Record<string, number>> = { usage: 12, audit: 14, doctor: 4 }

/** The index of the page. */
const TASKS: Readonly<Record<string, readonly string[]>> = {
  'may a crawler fetch a URL, and use it': ['check', 'explain', 'usage'],
  'your robots.txt': ['test', 'lint', 'diff', 'audit', 'match'],
  'fetch politely': ['fetch', 'sitemap', 'crawl', 'cache', 'doctor'],
  'what your crawler decided': ['evidence'],
  servers: ['serve', 'mcp'],
  'who your crawler is': ['identity', 'keys'],
  'your shell': ['completion'],
}

/** How many paragraphs of a command's description the page has. `--help` prints all of them. */
const PARAGRAPHS: Readonly<Record<string, number>> = { test: 5, match: 2, fetch: 3, cache: 5 }

/** The guides that explain a command. */
const GUIDES: Readonly<Record<string, string>> = {
  usage: 'usage.md',
  lint: 'lint.md',
  mcp: 'mcp.md',
  serve: 'serve.md',
  evidence: 'evidence.md',
  identity: 'identity.md',
  keys: 'identity.md#keys',
}

/** The commands whose guide lists all of their options. */
const TOLD_IN_GUIDE: readonly string[] = ['mcp']

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
  return new Map([
    ['https://news.example', news.origin],
    ['https://shop.example', shop.origin],
    ['https://cdn.example', cdn],
  ])
}

/** The runs of commands whose output has times, and that print reports on stderr. */
const TIMED_RUNS: Readonly<Record<string, readonly string[]>> = {
  fetch: [
    'fetch https://shop.example/cart/help https://shop.example/cart/pay --user-agent ExampleBot --store robots.sqlite',
  ],
  sitemap: ['sitemap https://shop.example/sitemap.xml --user-agent ExampleBot --min-delay 0'],
  cache: ['cache ls --store robots.sqlite'],
  doctor: ['doctor https://shop.example --user-agent ExampleBot/1.0 --store robots.sqlite'],
}

async function timedTranscript(line: string, sites: ReadonlyMap<string, string>): Promise<string> {
  for (const name of ['HTTP_PROXY', 'HTTPS_PROXY', 'http_proxy', 'https_proxy', 'NODE_USE_ENV_PROXY', 'POLITELY_STORE'])
    vi.stubEnv(name, undefined)
  return withoutTimes(await transcript(line, sites))
}

/** Replaces what differs between two runs: the version of Node, times, and free space. */
function withoutTimes(text: string): string {
  return text
    .replace(/Node( +)[\d.]+/, 'Node$124.21.0')
    .replace(/(?<=entries, |sitemaps, )\d+ bytes/g, '2.4 kB')
    .replace(/(?<=in |after )[\d.]+ m?s/g, '35 ms')
    .replace(/[\d.]+ m?s ago +/, '3 s ago      ')
    .replace(/[\d.]+ [GM]B free/, '64 GB free')
}

async function transcript(line: string, sites: ReadonlyMap<string, string>): Promise<string> {
  const words = [...sites].reduce((text, [name, origin]) => text.replaceAll(name, origin), line).split(' ')
  const { stdout, stderr } = await runInThisProcess(
    words.map((word) => {
      const file = word.replace(/^Googlebot=/, '')
      return names.has(file) || /\.sqlite$/.test(file) ? word.replace(file, path(file)) : word
    }),
  )
  const shown = [...sites].reduce(
    (text, [name, origin]) => text.replaceAll(origin, name),
    withoutFolder(stdout + stderr, path),
  )
  const lines = shown.trimEnd().split('\n')
  const most = SHOWN_LINES[words[0] as string] ?? Number.POSITIVE_INFINITY
  const part = lines.length > most ? [...lines.slice(0, most), '…'] : lines
  return `\`\`\`text\n$ politely ${line}\n${part.join('\n')}\n\`\`\``
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
const URLS = flagsIn('--urls --sitemap --input --column')
const NETWORK = flagsIn('--timeout --proxy --allow-address')
const shared: readonly Flag[] = [
  ...flagsIn(
    '--user-agent --product-token --robots --dialect --store --min-delay --max-wait --retry --crawler --policy-token',
  ),
  ...URLS,
  ...NETWORK,
]
const isShared = (flag: Flag) =>
  shared.includes(flag) || (flag.name === 'user-agent' && flag.text.startsWith('the User-Agent for the request'))
/** Shared options that most commands have together. The page lists such a group by its name. */
const GROUPS: Readonly<Record<string, readonly string[]>> = {
  '*URLs*': URLS.map(({ name }) => name),
  '*crawler*': ['user-agent', 'product-token'],
  '*requests*': NETWORK.map(({ name }) => name),
}
function sharedNames(flags: readonly Flag[]): string {
  const names = flags.filter(isShared).map(({ name }) => name)
  const groups = Object.entries(GROUPS).filter(([, members]) => members.every((name) => names.includes(name)))
  const grouped = groups.flatMap(([, members]) => members)
  const others = names.filter((name) => !grouped.includes(name)).map((name) => `\`--${name}\``)
  return [...groups.map(([group]) => group), ...others].join(', ')
}

/** The page has the formats of all commands once. */
const isFormat = ({ name }: Flag) => name === 'format' || name === 'json'
const ndjsonCommands = commands
  .filter(({ flags }) => flags.some(({ shortFor }) => shortFor?.[1] === 'ndjson'))
  .map(({ name }) => name)
const FORMAT_ROWS = [
  '| `--format NAME` | How to print the result. [Output formats](reference/output-formats.md) lists the formats of each command. Default: text; match writes ndjson into a file or pipe. |',
  `| \`--json\` | The same as --format json, or --format ndjson for ${ndjsonCommands.join(', ')}. |`,
]

function descriptionOf(name: string, description: string): string {
  const guide = GUIDES[name]
  const text = description
    .split('\n\n')
    .slice(0, PARAGRAPHS[name] ?? 1)
    .join('\n\n')
  return guide === undefined ? text : `${text.replace(/ docs\/\S+\.md [^.]*\./, '')} [Guide](${guide}).`
}

/** Two examples of a command, for a section without a run. */
const examplesOf = (examples: (typeof commands)[number]['examples']) =>
  `\`\`\`sh\n${examples
    .slice(0, 2)
    .map(([line, text]) => `# ${text}\npolitely ${line}`)
    .join('\n\n')}\n\`\`\``

async function logSection(sites: ReadonlyMap<string, string>): Promise<string> {
  const shown = ['rules.txt', 'access.log', 'googlebot.json'].map(
    (name) => `\`${name}\`:\n\n\`\`\`text\n${MORE_FILES[name]?.trimEnd()}\n\`\`\``,
  )
  return ['### Who in my access log broke robots.txt?', LOG_TEXT, ...shown, await transcript(LOG_RUN, sites)].join(
    '\n\n',
  )
}

test('docs/cli.md', { tags: 'page' }, async () => {
  expect(Object.values(TASKS).flat().toSorted()).toEqual(commands.map(({ name }) => name).toSorted())
  const sites = await startAll()
  const sections: string[] = []
  for (const { name, usage, description, flags, examples, exits } of commands) {
    const told = TOLD_IN_GUIDE.includes(name) ? [] : flags
    const own = told.filter((flag) => !isShared(flag) && !isFormat(flag)).map(rowOf)
    const names = sharedNames(told)
    const also = `[Shared options](#options-of-several-commands): ${names}.`
    const runs: string[] = []
    for (const line of RUNS[name] ?? []) runs.push(await transcript(line, sites)) // one after the other: they share stdout
    for (const line of TIMED_RUNS[name] ?? []) runs.push(await timedTranscript(line, sites))
    sections.push(
      [
        `## ${name}`,
        `\`politely ${name} ${usage}\``,
        descriptionOf(name, description),
        ...runs,
        ...(own.length === 0 ? [] : [tableOf(own)]),
        ...(names === '' ? [] : [also]),
        ...(runs.length > 0 || name in GUIDES ? [] : [examplesOf(examples)]),
        ...(exits.fails === undefined ? [] : [`Exit code 1: ${exits.fails}.`]),
        ...(name === 'match' ? [await logSection(sites)] : []),
      ].join('\n\n'),
    )
  }
  const exits = Object.values(EXITS).map(({ code, meaning }) => `| ${code} | ${cell(meaning)} |`)
  const files = Object.entries(FILES).filter(([name]) => ['robots.txt', 'robots.expect', 'ai.txt'].includes(name))
  await expectPage(
    'docs/cli.md',
    `# The command

\`politely\` answers questions about robots.txt in a terminal and in CI. Install it with \`npm install --global politely\`, or write
\`npx politely\`.

${Object.entries(TASKS)
  .map(([task, names]) => `- ${task}: ${names.map((name) => `[\`${name}\`](#${name})`).join(', ')}`)
  .join('\n')}

\`politely COMMAND --help\` says more, with examples. The runs below use these files. In \`draft.txt\`, the first rule of \`robots.txt\` is \`Disallow: /\`, and \`Allow: cart/help\` lacks its slash.

${files.map(([name, text]) => `\`${name}\`:\n\n\`\`\`text\n${text.trimEnd()}\n\`\`\``).join('\n\n')}

${sections.join('\n\n')}

## Options of several commands

${Object.entries(GROUPS)
  .map(([group, members]) => `${group}: ${members.map((name) => `\`--${name}\``).join(', ')}`)
  .join('. ')}.

${tableOf([...[...shared, ...COMMON_FLAGS].map(rowOf), ...FORMAT_ROWS])}

## Exit codes of all commands

| code | meaning |
|---|---|
${exits.join('\n')}

\`robots_main\` of google/robotstxt has the same codes 0, 1 and 2, which is also its code for \`--help\`. Instead of
\`robots_main FILE AGENT URL\`, a script can call \`politely explain URL --robots FILE --product-token AGENT --dialect google\`. If AGENT isn't
a product token, or URL is neither a URL nor a path, \`politely\` exits with 2, and \`robots_main\` with 0 or 1.

The text for people may change in any version. Parse [\`--format json\`](reference/output-formats.md) instead.
`,
  )
})

test('the dialects of --dialect are those of core', () => {
  const choices = commands.flatMap(({ flags }) => flags.filter(({ name }) => name === 'dialect'))
  for (const { choices: names } of choices) expect(names).toEqual(Object.keys(dialects))
})
