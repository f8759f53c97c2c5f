// The formats for programs: writes docs/reference/output-formats.md and docs/reference/schemas, and checks
// what each command prints against these schemas, the schema of SARIF and a schema for JUnit.
import sarifSchema from '@microsoft/jest-sarif/lib/schemas/sarif-2.1.0-rtm.5.json' with { type: 'json' }
import { expectPage } from '@politely/testkit/doc-page'
import { Ajv2020 } from 'ajv/dist/2020.js'
import { default as Ajv4 } from 'ajv-draft-04'
import { default as addFormats } from 'ajv-formats'
import { afterAll, beforeEach, expect, test } from 'vitest'
import { validateXML } from 'xmllint-wasm'
import { commands } from '../src/commands.ts'
import { version } from '../src/version.ts'
import { evidenceText } from './evidence-text.ts'
import { withoutFolder, writeFiles } from './files.ts'
import { closed, compactJson, JSON_FORMATS, schemaFile, schemaOf } from './output-contract.ts'
import { parseJsonLines, runInThisProcess } from './run-cli.ts'
import { originWithRules, originWithStatus, startSite } from './site.ts'

/** Each format: for whom it is, and what a reader has to know. */
const ABOUT: Readonly<Record<string, readonly [use: string, notes: string]>> = {
  json: [
    'a script that reads one result, as with `jq`',
    'One document for each run. Its schema is in the table above.',
  ],
  ndjson: [
    'many URLs, a pipeline, a log',
    'One document on each line. `fetch` prints the lines on stderr, because the pages are on stdout.',
  ],
  csv: [
    'a spreadsheet or a database',
    'CSV (RFC 4180) with a header line. `line` and `rule` belong to the rule that decides. A cell that a spreadsheet would read as a formula begins with an apostrophe, and control characters are escaped as `\\u{1b}`. With `sitemap`, the files are reported on stderr.',
  ],
  sarif: [
    'GitHub code scanning, and editors',
    'SARIF 2.1.0. Files are relative to the root of the repository (`uriBaseId` is `%SRCROOT%`), with percent-encoding. Columns are UTF-16 code units. `partialFingerprints` stay the same while the line keeps its text. `fixes` replace or remove the line. They may change verdicts, as `lint --fix=all` may.',
  ],
  junit: [
    'the test report of Jenkins or GitLab',
    'JUnit XML. `lint`: one suite for each file, and one test for each finding. The test fails if the severity is over `--max-severity`. Otherwise it passes, with the finding as its output. `test`: one test for each expectation.',
  ],
  github: [
    'annotations in a pull request',
    'Workflow commands of GitHub Actions. Files are relative to the root of the repository. GitHub shows at most 10 errors, 10 warnings and 10 notices of a step; the log has all of them.',
  ],
  gitlab: [
    'the code quality report of a merge request',
    'An error is `major`, a warning `minor`, and a note `info`. Fingerprints stay the same while the line keeps its text, and differ within a report.',
  ],
}

/** Formats whose stability needs a sentence. */
const STABILITY: Readonly<Record<string, string>> = {
  json: 'Yes, within a `version`.',
  ndjson: 'Yes, within a `version`.',
  csv: 'Yes, these columns.',
  github: 'Follows what GitHub reads.',
  gitlab: 'Follows what GitLab reads.',
}

const ROBOTS = 'User-agent: *\nDisallow: /cart\nAllow: /cart/help\nDisalow: /tmp\n'
const records = await evidenceText()
const path = writeFiles({
  'retired.txt': 'User-agent: ia_archiver\nDisallow: /\n',
  'robots.txt': ROBOTS,
  'usage.txt':
    'User-agent: *\nContent-Usage: train-ai=n\nContent-Signal: use=reference\nLicense: https://example.com/license.xml\n',
  'new.txt': 'User-agent: *\nDisallow: /c\nAllow: /cart/help\n',
  'robots.expect': 'allow * /cart/help\ndeny * /checkout\n',
  'broken #1.txt':
    'Disallow: admin\nDisallow: admin\nUser-agent: *\nDisallow: /é\u202e\nDisallow /a\nAllow: /b\nAllow: /b\nHost: a\n',
  'moved/broken #1.txt': '# moved\n\nDisallow: admin\nDisallow: admin\n',
  'urls.txt': '/cart\n/about\n',
  'access.txt': ['/cart', '/cart?add=1', '/about']
    .map((url) => `192.0.2.1 - - [27/Nov/2026:10:00:00 +0000] "GET ${url} HTTP/1.1" 200 5 "-" "GPTBot/1.2"\n`)
    .join(''),
  'more.txt': 'https://a.example/cart\nhttp://[\n/cart\nhttps://b.example/x\n',
  'files/a.example.txt': 'User-agent: *\nDisallow: /\n',
  'bot.json': JSON.stringify({
    name: 'Example Bot',
    productToken: 'ExampleBot',
    page: 'https://127.0.0.1:9/bot.html', // private, so nothing is sent
    contact: 'bot@bot.example',
    purposes: ['search'],
    ranges: ['192.0.2.0/30'],
  }),
  'empty.txt': '',
  'crawl-evidence/2026-11-28T16.ndjson': records,
  'damaged-evidence/2026-11-28T16.ndjson': records.replace('"line":2', '"line":3'),
  'page.txt': '<html>',
  'more.expect': 'crawl-delay * = 2\nsitemap https://a.example/\ndeny * use:train-ai\nsize < 1KiB\nknown-crawlers\n',
  'control.expect': 'deny * /\u0001\u202e%EF%BF%BF<&">\n',
})
// The tests run in this process, whose current folder is another one.
const { GITHUB_WORKSPACE } = process.env
beforeEach(() => {
  process.env.GITHUB_WORKSPACE = path('.')
})
afterAll(() => {
  if (GITHUB_WORKSPACE === undefined) delete process.env.GITHUB_WORKSPACE
  else process.env.GITHUB_WORKSPACE = GITHUB_WORKSPACE
})

const names = [
  'robots.txt',
  'usage.txt',
  'new.txt',
  'retired.txt',
  'robots.expect',
  'urls.txt',
  'access.txt',
  'robots.sqlite',
  'bot.json',
  'crawl-evidence',
]

/** The runs that the page or a schema shows, by command and format. `SITE` has a robots.txt. */
const EXAMPLES: Readonly<Record<string, string>> = {
  'check json': 'check SITE/cart --user-agent ExampleBot --format json',
  'check ndjson': 'check SITE/cart SITE/about --user-agent ExampleBot --format ndjson',
  'explain json': 'explain /cart/help --user-agent ExampleBot --robots robots.txt --format json',
  'usage json': 'usage /page --user-agent ExampleBot --robots usage.txt --header X-Robots-Tag:nofollow --format json',
  'usage ndjson': 'usage SITE/cart --user-agent ExampleBot --format ndjson',
  'test json': 'test robots.expect --robots robots.txt --format json',
  'lint json': 'lint robots.txt --format json',
  'lint ndjson': 'lint robots.txt --format ndjson',
  'lint sarif': 'lint robots.txt --format sarif',
  'lint junit': 'lint robots.txt --format junit',
  'lint github': 'lint robots.txt --format github',
  'lint gitlab': 'lint robots.txt --format gitlab',
  'match ndjson': 'match --urls urls.txt --robots robots.txt --user-agent ExampleBot --format ndjson',
  'match --by-agent ndjson': 'match --by-agent --urls access.txt --robots robots.txt --format ndjson',
  'match csv': 'match --urls urls.txt --robots robots.txt --user-agent ExampleBot --format csv',
  'audit json': 'audit retired.txt /page --purpose archive --format json',
  'diff json': 'diff robots.txt new.txt --product-token ExampleBot --format json',
  'fetch ndjson': 'fetch SITE/cart SITE/about --user-agent ExampleBot --store robots.sqlite --format ndjson',
  'sitemap json': 'sitemap SITE/sitemap.xml --user-agent ExampleBot --min-delay 0 --format json',
  'sitemap ndjson': 'sitemap SITE/sitemap.xml --user-agent ExampleBot --min-delay 0 --format ndjson',
  'sitemap csv': 'sitemap SITE/sitemap.xml --user-agent ExampleBot --min-delay 0 --format csv',
  'crawl ndjson': 'crawl SITE/cart SITE/about --user-agent ExampleBot --format ndjson',
  'cache json': 'cache show SITE --store robots.sqlite --format json',
  'cache ndjson': 'cache ls --store robots.sqlite --format ndjson',
  'keys json': 'keys check https://127.0.0.1:9 --format json',
  'evidence verify json': 'evidence verify crawl-evidence --format json',
  'evidence verify ndjson': 'evidence verify crawl-evidence --format ndjson',
  'evidence explain json': 'evidence explain crawl-evidence https://example.com/cart --format json',
  'evidence explain ndjson': 'evidence explain crawl-evidence https://example.com/cart --format ndjson',
  'evidence replay json': 'evidence replay crawl-evidence --product-token OtherBot --format json',
  'evidence replay ndjson': 'evidence replay crawl-evidence --product-token OtherBot --format ndjson',
  'evidence report json': 'evidence report crawl-evidence --format json',
  'identity json': 'identity check bot.json --dns-server 127.0.0.1:9 --timeout 0.1 --format json',
  'doctor json': 'doctor --user-agent ExampleBot/1.0 --format json',
}

const urlset = (site: string) =>
  `<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"><url><loc>${site}/about</loc><lastmod>2026-01-02</lastmod></url><url><loc>${site}/?a=1&amp;b=2</loc></url></urlset>`

const RULES = 'User-agent: *\nDisallow: /cart\n'
const STABLE: Readonly<Record<string, number>> = {
  checkedAt: 1_767_225_600_000,
  nextAttemptAt: 1_767_312_000_000,
  ageMs: 0,
  attemptedAt: 1_767_225_600_000,
  at: 1_767_225_600_000,
  confirmedAt: 1_767_225_600_000,
  keepUntil: 1_769_904_000_000,
  waitedMs: 0,
  tookMs: 35,
}

/** Replaces what differs from run to run. @param indent The indentation of JSON documents. */
function shown(stdout: string, site: string, indent: number): string {
  const text = withoutFolder(stdout, path)
    .replaceAll(site, 'https://example.com')
    .replace(`"version": "${version()}"`, '"version": "1.0.0"')
    .replaceAll(/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ/g, '2026-01-02T00:00:00Z')
    .replace(process.versions.node, '24.21.0')
    .trimEnd()
  if (!text.startsWith('{')) return text
  return text
    .split(/\n(?=\{)/)
    .map((line) => JSON.stringify(JSON.parse(line), (key, value) => STABLE[key] ?? value, indent))
    .join('\n')
}

const ajv = new Ajv2020({ strict: false, addUsedSchema: false })

/** The examples of the page, which are all about the same robots.txt. */
const SHOWN = [
  'lint json',
  'match ndjson',
  'match csv',
  'sitemap csv',
  'lint junit',
  'lint github',
  'lint gitlab',
  'lint sarif',
]

test('docs/reference/output-formats.md and its schemas', { tags: 'page' }, async () => {
  const { origin: site, server } = await startSite({ status: 200, body: RULES })
  server.respond('http://127.0.0.1:PORT/sitemap.xml', { status: 200, body: urlset(site) })
  const printed: Record<string, string> = {}
  for (const [key, line] of Object.entries(EXAMPLES)) {
    const args = line.split(' ').map((word) => (names.includes(word) ? path(word) : word.replace('SITE', site)))
    const { stdout, stderr } = await runInThisProcess(args)
    // The page itself is on stdout, and the summary of a crawl or a log on stderr.
    if (!/^(fetch|crawl|match --by|sitemap (?:ndjson|csv))/.test(key)) expect(stderr).toBe('')
    printed[key] = shown(key.startsWith('fetch') ? stderr : stdout, site, key.endsWith('ndjson') ? 0 : 2)
  }
  for (const contract of JSON_FORMATS) {
    const text = printed[`${contract.command} ${contract.format}`] ?? ''
    const examples = contract.format === 'json' ? [JSON.parse(text)] : parseJsonLines(text)
    for (const each of examples) expect(ajv.validate(closed(schemaOf(contract)), each), contract.command).toBe(true)
    await expectPage(schemaFile(contract), `${compactJson({ ...schemaOf(contract), examples })}\n`)
  }
  const formatsOf = ({ flags }: (typeof commands)[number]) =>
    flags.find((flag) => flag.name === 'format')?.choices?.filter((each) => each !== 'text') ?? []
  const link = (command: string, format: string) => {
    if (!/json$/.test(format)) return `\`${format}\``
    const contracts = JSON_FORMATS.filter((each) => each.command.split(' ')[0] === command && each.format === format)
    if (contracts.length === 0) throw new Error(`${command} ${format}: describe the format in output-contract.ts`)
    return contracts
      .map((each) => {
        const flag = each.command.slice(command.length)
        return `[\`${format}\`](${schemaFile(each).replace('docs/reference/', '')})${flag && ` (with \`${flag.trim()}\`)`}`
      })
      .join(', ')
  }
  const rows = commands.flatMap((command) => {
    const formats = formatsOf(command)
    const abouts = JSON_FORMATS.filter((each) => each.command.split(' ')[0] === command.name).map(
      ({ format, about }) => `\`${format}\`: ${about.replace('docs/stores.md', '[Stores](../stores.md)')}`,
    )
    return formats.length === 0
      ? []
      : [
          `| \`${command.name}\` | ${formats.map((format) => link(command.name, format)).join(', ')} | ${abouts.join(' ')} |`,
        ]
  })
  expect(Object.keys(ABOUT).toSorted()).toEqual([...new Set(commands.flatMap(formatsOf))].toSorted())
  const example = (key: string) => {
    const language = /json$|sarif|gitlab/.test(key) ? 'json' : key.endsWith('junit') ? 'xml' : 'text'
    return `\`\`\`sh\npolitely ${EXAMPLES[key]?.replaceAll('SITE', 'https://example.com')}\n\`\`\`\n\n\`\`\`${language}\n${printed[key]}\n\`\`\``
  }
  const sections = Object.entries(ABOUT).map(([format, [, notes]]) =>
    [`## ${format}`, notes, ...SHOWN.filter((key) => key.endsWith(` ${format}`)).map(example)].join('\n\n'),
  )
  await expectPage(
    'docs/reference/output-formats.md',
    `# Reference: output formats

What \`--format\` prints for programs. Which one do you need?

| format | for | stable? |
|---|---|---|
${Object.entries(ABOUT)
  .map(([format, [use]]) => `| [\`${format}\`](#${format}) | ${use} | ${STABILITY[format] ?? 'Yes.'} |`)
  .join('\n')}
| \`text\` | people | No. It may change in any version. |

Each JSON format has a [JSON Schema](https://json-schema.org/), with the meaning of every field and a real example. Give it to a validator,
to a generator of types, or to your editor. The tests of the command check its output against these files.

| command | formats, with their schemas | what a document is |
|---|---|---|
${rows.join('\n')}

The \`examples\` of a schema are real output: use them as test data. The schemas are in the repository, not in the package.

## What may change

These changes are breaking. They come with another \`version\` and a major version of the package:

- A field is removed or renamed, or gets another type or meaning.
- A field that is always there (\`required\`) becomes one that may be absent.
- An exit code gets another meaning.

These changes aren't breaking, so your program must accept them:

- A new field. The schemas allow fields that they don't list.
- A new value of \`because\`, \`reason\`, \`code\` and other strings without an \`enum\` in the schema.
- Another wording of a message, another order of fields, other whitespace.

\`version\` is the first field of a document, and of each line of \`ndjson\`. Text from sites never has raw control characters: JSON
escapes them, and XML has spaces instead.

The examples below use this \`robots.txt\`:

\`\`\`text
${ROBOTS.trimEnd()}
\`\`\`

${sections.join('\n\n')}
`,
  )
})

/** More runs for each format: other outcomes, and other files. */
const RUNS: Readonly<Record<string, readonly string[]>> = {
  check: ['check SITE/cart SITE/x DOWN/ mailto:a --user-agent ExampleBot'],
  explain: [
    'explain /cart/help --user-agent ExampleBot --robots robots.txt',
    'explain SITE/about --user-agent ExampleBot',
    'explain DOWN/about --user-agent ExampleBot',
    'explain /robots.txt --user-agent ExampleBot --robots empty.txt',
  ],
  usage: [
    'usage SITE/about SITE/cart PLAIN/about DOWN/ mailto:a --user-agent ExampleBot --min-delay 0 --max-wait 0',
    'usage /page http://[ --user-agent ExampleBot --robots usage.txt --header X-Robots-Tag:none,x --header Content-Usage:train-ai=y,',
  ],
  test: [
    'test more.expect --robots robots.txt',
    'test robots.expect --robots robots.txt',
    'test robots.expect --robots new.txt',
  ],
  lint: ['lint broken robots.txt page.txt empty.txt'],
  match: [
    'match --urls more.txt --robots robots.txt --crawler Googlebot --crawler Bingbot --origin https://a.example',
    'match --urls more.txt --robots-dir FILES --user-agent ExampleBot',
  ],
  'match --by-agent': [
    'match --by-agent --urls access.txt --robots robots.txt',
    'match --by-agent --urls access.txt --robots new.txt',
  ],
  audit: ['audit robots.txt', 'audit retired.txt /page --all', 'audit SITE --user-agent ExampleBot'],
  diff: ['diff robots.txt new.txt', 'diff robots.txt robots.txt'],
  fetch: [
    'fetch PLAIN/cart PLAIN/about PLAIN/busy SITE/about DOWN/ mailto:a --user-agent ExampleBot --min-delay 0 --max-wait 0',
    'fetch PLAIN/about PLAIN/about --user-agent ExampleBot --min-delay 0 --cache PAGES',
  ],
  sitemap: ['sitemap PLAIN PLAIN/sitemap.xml PLAIN/cart PLAIN/x DOWN --guess --user-agent ExampleBot --min-delay 0'],
  crawl: ['crawl PLAIN/cart PLAIN/about DOWN/ --user-agent ExampleBot --min-delay 0'],
  cache: [
    'fetch PLAIN/about DOWN/ --user-agent ExampleBot --store STORE',
    'cache ls --store STORE',
    'cache show PLAIN DOWN --store STORE',
    'cache refresh --all --store STORE --user-agent ExampleBot',
    'fetch PLAIN/about --user-agent ExampleBot --min-delay 0 --cache PAGES',
    'cache ls --cache PAGES',
    'cache show PLAIN/about --cache PAGES',
  ],
  keys: [
    'keys new KEY',
    'keys rotate KEY NEXT',
    'keys directory KEY --agent https://bot.example',
    'keys directory KEY --agent https://bot.example --output PUBLIC',
    'keys check https://127.0.0.1:9 --key KEY',
  ],
  identity: ['identity init BOT --output PUBLIC', 'identity check BOT --dns-server 127.0.0.1:9 --timeout 0.1'],
  'evidence verify': ['evidence verify EVIDENCE', 'evidence verify DAMAGED'],
  'evidence explain': [
    'evidence explain EVIDENCE https://example.com/about',
    'evidence explain EVIDENCE https://example.com/cart/1',
    'evidence explain EVIDENCE https://other.example/',
  ],
  'evidence replay': ['evidence replay EVIDENCE', 'evidence replay EVIDENCE --user-agent OtherBot'],
  'evidence report': ['evidence report EVIDENCE'],
  doctor: ['doctor', 'doctor DOWN --user-agent ExampleBot'],
}
const FILES: Readonly<Record<string, string>> = {
  broken: 'broken #1.txt',
  FILES: 'files',
  STORE: 'other.sqlite',
  PAGES: 'pages.sqlite',
  KEY: 'bot.jwk',
  NEXT: 'bot-2.jwk',
  PUBLIC: 'public',
  BOT: 'bot.json',
  EVIDENCE: 'crawl-evidence',
  DAMAGED: 'damaged-evidence',
}

test.for(JSON_FORMATS)('$command --format $format prints what its schema says', async (contract) => {
  const { command, format } = contract
  const site = await originWithRules(
    'User-agent: *\nDisallow: /cart\nCrawl-delay: 2\nRequest-rate: 1/10s\nVisit-time: 0600-0845\n',
  )
  const { origin: plain, server } = await startSite({ status: 200, body: RULES }) // a page of SITE has to wait for its Visit-time
  server.respond('http://127.0.0.1:PORT/sitemap.xml', { status: 200, body: urlset(plain) })
  server.respond('http://127.0.0.1:PORT/busy', { status: 429, headers: { 'retry-after': '60' } })
  const down = await originWithStatus(503, { 'retry-after': '60' })
  const validate = ajv.compile(closed(schemaOf(contract)))
  let documents = 0
  for (const line of RUNS[command] ?? []) {
    const args = line
      .replace(/(?<= )[^/ ]\S*\.(?:txt|expect)\b/g, path)
      .replaceAll('SITE', site)
      .replaceAll('PLAIN', plain)
      .replaceAll('DOWN', down)
      .split(' ')
      .map((word) => (word in FILES ? path(FILES[word] as string) : word))
    const name = args[0]
    const isCommand = name === command.split(' ')[0]
    const { stdout, stderr } = await runInThisProcess(isCommand ? [...args, '--format', format] : args)
    if (!isCommand) continue // it only prepares the next run
    for (const document of parseJsonLines(name === 'fetch' ? stderr : stdout)) {
      expect(Object.keys(document)[0]).toBe('version')
      expect(validate(document), JSON.stringify([validate.errors, document])).toBe(true)
      documents++
    }
  }
  expect(documents).toBeGreaterThan(0)
})

const lint = async (format: string, ...files: readonly string[]) => {
  const { stdout } = await runInThisProcess(['lint', ...files.map(path), '--format', format])
  return withoutFolder(stdout, path)
}

test('SARIF agrees with its schema', async () => {
  const ajv4 = new Ajv4.default({ strict: false, unicodeRegExp: false })
  addFormats.default(ajv4)
  const validate = ajv4.compile(sarifSchema)
  const sarif = JSON.parse(await lint('sarif', 'broken #1.txt', 'page.txt', 'empty.txt'))
  expect(validate(sarif), JSON.stringify(validate.errors)).toBe(true)
  const [{ results, tool }] = sarif.runs
  expect(results.length).toBeGreaterThan(5)
  const places = results.map(
    ({ locations }: { locations: { physicalLocation: object }[] }) => locations[0]?.physicalLocation,
  )
  expect(places[0]).toMatchObject({ artifactLocation: { uri: 'broken%20%231.txt', uriBaseId: '%SRCROOT%' } })
  const wholeFile = results.findIndex(({ ruleId }: { ruleId: string }) => ruleId === 'empty-file')
  expect(places[wholeFile]).not.toHaveProperty('region')
  for (const { id, helpUri, help } of tool.driver.rules) {
    expect(helpUri).toContain('lint-findings.md')
    expect(help.text, id).not.toContain('{}')
  }
  const text = JSON.stringify(results.flatMap(({ fixes = [] }: { fixes?: object[] }) => fixes))
  expect(text).toContain('"insertedContent":{"text":"Disallow: /a"}')
  expect(text).toContain('{"deletedRegion":{"startLine":7,"startColumn":1,"endLine":8,"endColumn":1}}')
})

test('fingerprints stay the same when lines move, and differ within a report', async () => {
  const of = async (file: string) =>
    JSON.parse(await lint('gitlab', file))
      .filter(({ check_name }: { check_name: string }) => check_name === 'rule-before-group')
      .map(({ fingerprint }: { fingerprint: string }) => fingerprint)
  const before = await of('broken #1.txt')
  process.env.GITHUB_WORKSPACE = path('moved')
  expect(await of('moved/broken #1.txt')).toEqual(before)
  expect(new Set(before).size).toBe(2)
})

test('GitHub and GitLab get paths from the root of the repository', async () => {
  const { stdout } = await runInThisProcess(['lint', path('moved/broken #1.txt'), '--format', 'github'])
  expect(stdout).toContain('::error file=moved/broken #1.txt,line=3,col=1,title=')
  const gitlab = await lint('gitlab', 'robots.txt')
  expect(JSON.parse(gitlab)).toMatchObject([{ location: { path: 'robots.txt', lines: { begin: 4 } } }])
})

test('GitHub gets no file for the robots.txt of a site', async () => {
  const site = await originWithRules('Disallow: /a\n')
  const { stdout } = await runInThisProcess(['lint', site, '--user-agent', 'ExampleBot', '--format', 'github'])
  expect(stdout).toContain(`::error title=rule-before-group::${site}/robots.txt line 1: `)
})

/** What the JUnit XML of the command consists of. Jenkins' schema allows more. */
const JUNIT = `<xs:schema xmlns:xs="http://www.w3.org/2001/XMLSchema">
  <xs:attributeGroup name="counts">
    <xs:attribute name="tests" type="xs:nonNegativeInteger" use="required"/>
    <xs:attribute name="failures" type="xs:nonNegativeInteger" use="required"/>
    <xs:attribute name="errors" type="xs:nonNegativeInteger" use="required"/>
  </xs:attributeGroup>
  <xs:element name="testsuites"><xs:complexType>
    <xs:sequence><xs:element name="testsuite" maxOccurs="unbounded"><xs:complexType>
      <xs:sequence><xs:element name="testcase" maxOccurs="unbounded"><xs:complexType>
        <xs:choice minOccurs="0">
          <xs:element name="failure"><xs:complexType mixed="true">
            <xs:attribute name="type" type="xs:string" use="required"/>
            <xs:attribute name="message" type="xs:string" use="required"/>
          </xs:complexType></xs:element>
          <xs:element name="system-out" type="xs:string"/>
        </xs:choice>
        <xs:attribute name="name" type="xs:string" use="required"/>
        <xs:attribute name="classname" type="xs:string" use="required"/>
      </xs:complexType></xs:element></xs:sequence>
      <xs:attribute name="name" type="xs:string" use="required"/>
      <xs:attributeGroup ref="counts"/>
    </xs:complexType></xs:element></xs:sequence>
    <xs:attributeGroup ref="counts"/>
  </xs:complexType></xs:element>
</xs:schema>`

test.for([
  ['lint', 'broken #1.txt', 'page.txt', 'robots.txt'],
  ['lint', 'new.txt'],
  ['test', 'robots.expect', 'control.expect'],
] as const)('JUnit of %j agrees with its schema', async ([command, ...files]) => {
  const robots = command === 'test' ? ['--robots', path('robots.txt')] : []
  const { stdout, code } = await runInThisProcess([command, ...files.map(path), ...robots, '--format', 'junit'])
  const { valid, errors } = await validateXML({ xml: stdout, schema: JUNIT })
  expect(valid, JSON.stringify(errors)).toBe(true)
  expect(stdout.replaceAll('\n', '')).not.toMatch(/\p{C}/u)
  expect(stdout.includes('<failure ')).toBe(code === 1)
})
