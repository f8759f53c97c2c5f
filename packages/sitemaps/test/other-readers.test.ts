// @module-tag full
// The table of docs/reference/sitemap-readers.md: which reader reads which kind of sitemap. Some
// readers hang or end their process, so the whole comparison takes minutes, and runs on demand:
//
//   POLITELY_COMPARE_READERS=1 npm run test:all -- packages/sitemaps/test/other-readers.test.ts -u
//
// Without it, the tests check that the page has all cases and the versions of the readers.
import { type ChildProcess, fork } from 'node:child_process'
import { createRequire } from 'node:module'
import { sitemapCases } from '@politely/testkit/cases/sitemap-cases'
import { expectPage, readPage } from '@politely/testkit/doc-page'
import { startSitemapSite } from '@politely/testkit/servers/sitemap-site'
import { expect, test } from 'vitest'
import { type Found, readers } from './other-readers.ts'
import type { Task } from './other-readers-child.ts'

/** After this time a reader counts as hanging. */
const MAX_MS = 8_000

type Reply = Found | 'not-offered' | 'throws' | 'hangs' | 'ends the process'

/** Reads cases in a child process, and starts another one after a crash or a hang. */
class ReaderProcess implements Disposable {
  #child: ChildProcess | undefined

  async read(task: Task): Promise<Reply> {
    this.#child ??= fork(new URL('./other-readers-child.ts', import.meta.url), { stdio: 'ignore', execArgv: [] })
    const child = this.#child
    const reply = await new Promise<Reply>((resolve) => {
      const timer = setTimeout(() => resolve('hangs'), MAX_MS)
      child.once('message', (message: Reply) => resolve(message))
      child.once('exit', () => resolve('ends the process'))
      child.send(task)
      child.once('message', () => clearTimeout(timer))
    })
    child.removeAllListeners()
    if (reply === 'hangs' || reply === 'ends the process') this[Symbol.dispose]()
    return reply
  }

  [Symbol.dispose](): void {
    this.#child?.kill()
    this.#child = undefined
  }
}

type Outcome = 'right' | 'silent' | 'other pages' | Exclude<Reply, Found>

const wanted = sitemapCases.map((row) => ({
  ...row,
  isMissing: Object.values(row.expected.files).some((outcome) => /^(?:partial|failed)/.test(outcome)),
}))

const PAGE = 'docs/reference/sitemap-readers.md'
const kinds = [...new Set(sitemapCases.map(({ kind }) => kind))].sort((a, b) => a - b)
const namesOf = (kind: number) =>
  sitemapCases
    .filter((row) => row.kind === kind)
    .map(({ name }) => name)
    .join('; ')

test('the page has all cases, all of them right, and the versions of the readers', () => {
  const page = readPage(PAGE)
  for (const kind of kinds) expect(page).toContain(`\n| ${kind} | ${namesOf(kind)} | right |`)
  for (const name of ['@crawlee/utils', 'sitemapper', 'sitemap'])
    expect(page).toContain(`\`${name}\` ${versionOf(name)}`)
})

test.runIf(process.env.POLITELY_COMPARE_READERS)(
  'compares the readers',
  { tags: 'page', timeout: 900_000 },
  async () => {
    await using site = await startSitemapSite()
    const { origin, otherOrigin } = site
    const cells = new Map<string, Outcome[]>()
    for (const { name: reader } of readers) {
      using child = new ReaderProcess()
      for (const { kind, site: replies, start = ['/sitemap.xml'], limits, expected, isMissing } of wanted) {
        site.respond(replies(origin, otherOrigin))
        const urls = start === 'robots' ? undefined : start.map((path) => `${origin}${path}`)
        const reply = await child.read({ reader, origin, urls, limits })
        const key = `${reader} ${kind}`
        cells.set(key, [...(cells.get(key) ?? []), outcomeOf(reply, expected.pages, isMissing, origin)])
      }
    }
    const rows = kinds.map((kind) => {
      return `| ${kind} | ${namesOf(kind)} | ${readers.map(({ name }) => cellOf(cells.get(`${name} ${kind}`) ?? [])).join(' | ')} |`
    })
    const right = readers.map(({ name }) => {
      const all = kinds.flatMap((kind) => cells.get(`${name} ${kind}`) ?? [])
      return `${all.filter((outcome) => outcome === 'right').length} of ${all.length}`
    })
    await expectPage(
      PAGE,
      `# Reference: readers of sitemaps

A test gives the cases of sitemaps to four readers, on one server: [\`@politely/sitemaps\`](../sitemaps.md), Crawlee's \`Sitemap.load\`
(\`@crawlee/utils\` ${versionOf('@crawlee/utils')}), \`sitemapper\` ${versionOf('sitemapper')}, and the parser \`sitemap\` ${versionOf('sitemap')}, which reads one file. Only the
first has limits, which some cases of kind 24 set.

A reader is right if it returns the pages that can be read, and no others; and, if a file is missing or cut, if it says so to its caller: by an
error, a result or an exception. *Silent*: the pages are right, and the caller does not learn that some are missing. *Other pages*: some are
missing that can be read, or there are too many. *Not offered*: the reader reads no robots.txt, or no lists of files.

| kind | cases | ${readers.map(({ name }) => name).join(' | ')} |
|---|---|${readers.map(() => '---|').join('')}
${rows.join('\n')}
| | **all** | ${right.map((count) => `**${count}**`).join(' | ')} |
`,
    )
    expect(right[0]).toBe(`${wanted.length} of ${wanted.length}`)
  },
)

function outcomeOf(reply: Reply, pages: readonly string[], isMissing: boolean, origin: string): Outcome {
  if (reply === 'throws') return isMissing && pages.length === 0 ? 'right' : 'throws'
  if (typeof reply === 'string') return reply
  const found = new Set(reply.pages.map((page) => page.replace(origin, '')))
  const isSame = found.size === new Set(pages).size && pages.every((page) => found.has(page))
  if (!isSame) return 'other pages'
  return isMissing && !reply.tells ? 'silent' : 'right'
}

/** All outcomes of a kind in a few words: `right`, or `2 of 3; silent`. */
function cellOf(outcomes: readonly Outcome[]): string {
  const right = outcomes.filter((outcome) => outcome === 'right').length
  if (right === outcomes.length) return 'right'
  const others = [...new Set(outcomes.filter((outcome) => outcome !== 'right'))].join(', ')
  return outcomes.length === 1 ? others : `${right} of ${outcomes.length}; ${others}`
}

function versionOf(name: string): string {
  const { version } = createRequire(import.meta.url)(`${name}/package.json`) as { version: string }
  return version
}
