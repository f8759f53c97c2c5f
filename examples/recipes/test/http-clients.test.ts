// Runs the rows of the table in docs/http-clients.md against a site on loopback, and writes the
// table.
import { type AdapterCase, adapterCases, runAdapterCase, type Visit } from '@politely/testkit/cases/adapter-cases'
import { expectTables, readPage } from '@politely/testkit/doc-page'
import { examplesOf } from '@politely/testkit/examples'
import { isFullRun } from '@politely/testkit/scope'
import type { Reply } from '@politely/testkit/servers/sites'
import { describe, expect, test } from 'vitest'
import { type ClientRow, clientRows, type Names, namesOf } from './http-clients.ts'
import { importSource } from './import-source.ts'
import { HOME, openGate, openTestWeb } from './test-web.ts'

const PAGE = 'docs/http-clients.md'

/** A row as a module. */
interface ClientModule {
  statusOf(url: string, names: Names): Promise<number>
  verdictOf(error: unknown): Extract<Visit, { kind: 'refused' }>['verdict']
}

const modules = new Map<ClientRow, Promise<ClientModule>>()

function moduleOf(row: ClientRow): Promise<ClientModule> {
  const module = modules.get(row) ?? importSource(sourceOf(row), row.large)
  modules.set(row, module)
  return module
}

function sourceOf({ imports, code, status, verdict }: ClientRow): string {
  return `${imports}
export const statusOf = async (url, { politely, gate, userAgent, fetch, httpAgent, httpsAgent, agentFor, dispatcher }) => {
  const client = ${code}
  return ${status}
}
export const verdictOf = (error, response = error) => ${verdict}
`
}

const rows = clientRows.filter(({ large }) => isFullRun || large === undefined)

test.each(rows)('$name: $code is checked, shows the verdict, and sends the name of the crawler', async (row) => {
  const { statusOf, verdictOf } = await moduleOf(row)
  const { sites, gate } = await openTestWeb()
  sites.respond(`${HOME}/hop`, { status: 302, headers: { location: '/private/2' } })
  if (row.readsFeeds) sites.respond(`${HOME}/open`, FEED)
  const names = namesOf(gate)
  const visit = (path: string) => statusOf(sites.withPort(HOME + path), names)
  const refusalOf = (path: string) => visit(path).then((status) => `status ${status}`, verdictOf)
  const refused = (path: string) => ({ because: 'rule', rule: { line: 2 }, url: sites.withPort(HOME + path) })

  expect(await visit('/open')).toBe(200)
  expect(await refusalOf('/private/1')).toMatchObject(refused('/private/1'))
  if (row.followsRedirects) expect(await refusalOf('/hop')).toMatchObject(refused('/private/2'))
  else expect(await refusalOf('/hop')).toBe('status 302')

  const [robots, ...pages] = sites.requests.map(({ url, headers }) => [url, headers['user-agent']])
  expect(robots).toEqual([`${HOME}/robots.txt`, gate.robots.userAgent])
  expect(pages).toEqual(['/open', '/hop'].map((path) => [HOME + path, gate.robots.userAgent]))
  expect(gate.counters).toMatchObject({ started: 2, refusals: { rule: row.followsRedirects ? 2 : 1 } })
  expect(gate.gauges.underWay).toBe(0)
  await names.dispatcher.close()
})

describe.each(rows)('$name: $code', { tags: 'full' }, (row) => {
  test.each(casesFor(row))('$capability: $name', async (adapterCase) => {
    const { statusOf, verdictOf } = await moduleOf(row)
    const outcome = await runAdapterCase(adapterCase, ({ userAgent, retries, minDelayMs }) => {
      const { gate, close } = openGate({ userAgent, retries }, { minDelayMs })
      const names = namesOf(gate)
      return {
        visit: async (url): Promise<Visit> => {
          try {
            return { kind: 'answered', status: await statusOf(url, names) }
          } catch (error) {
            return { kind: 'refused', verdict: verdictOf(error) }
          }
        },
        async close() {
          await close()
          await names.dispatcher.close()
        },
      }
    })
    expect(outcome).toEqual(adapterCase.expected)
  })
})

const FEED: Reply = {
  status: 200,
  headers: { 'content-type': 'application/rss+xml' },
  body: '<rss version="2.0"><channel><title>a page</title></channel></rss>',
}

/** Returns the cases of all adapters that apply to a client, with feeds for one that reads feeds. */
function casesFor({ followsRedirects, readsFeeds }: ClientRow): readonly AdapterCase[] {
  const isRedirect = ({ headers }: Reply) => headers?.location !== undefined
  return adapterCases
    .filter(({ capability }) => capability !== 'sub-resources' && capability !== 'abort works')
    .filter(({ web }) => followsRedirects || !Object.values(web).some(isRedirect))
    .map((adapterCase) => {
      const web = Object.entries(adapterCase.web)
      const isPage = ({ headers }: Reply) => headers?.['content-type'] === 'text/html'
      return {
        ...adapterCase,
        web: Object.fromEntries(web.map(([url, reply]) => [url, readsFeeds && isPage(reply) ? FEED : reply])),
      }
    })
}

test(`${PAGE} has these rows, and its first example declares the names that they use`, { tags: 'page' }, async () => {
  const [setup = ''] = examplesOf(readPage(PAGE))
  const { gate, close } = openGate({ userAgent: 'RecipeBot/1.0' }, {})
  for (const name of Object.keys(namesOf(gate))) expect(setup).toMatch(new RegExp(`\\b${name}\\b`))
  await close()
  await expectTables(PAGE, {
    head: ['client', 'pass', 'the verdict', 'what to know'],
    rows: clientRows.map(({ name, code, verdict, trap }) => [name, `\`${code}\``, `\`${verdict}\``, trap]),
  })
})
