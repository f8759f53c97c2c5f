// docs/reference/errors.md lists every error code and every failure reason that the source of the
// packages defines.
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { describe, expect, it } from 'vitest'
import { expectTables, readPage } from '../src/doc-page.ts'
import { errorRowsIn, membersOf, type SourceFile } from '../src/error-codes.ts'

const root = join(import.meta.dirname, '../../..')
const page = readPage('docs/reference/errors.md')

/** Packages whose errors no crawler sees. */
const PRIVATE = ['testkit', 'bench']
const files: readonly SourceFile[] = readdirSync(join(root, 'packages'))
  .filter((folder) => !PRIVATE.includes(folder))
  .flatMap((folder) => {
    const src = join(root, 'packages', folder, 'src')
    const { name } = JSON.parse(readFileSync(join(root, 'packages', folder, 'package.json'), 'utf8'))
    return readdirSync(src, { recursive: true, encoding: 'utf8' })
      .filter((path) => path.endsWith('.ts'))
      .map((path) => ({ packageName: name, text: readFileSync(join(src, path), 'utf8') }))
  })
const rows = errorRowsIn(files)

describe('docs/reference/errors.md', () => {
  it('lists every error code, with an example of its message', { tags: 'page' }, async () => {
    const head = ['code', 'class', 'package', 'message', 'cause', 'remedy']
    const messages = await exampleMessages()
    const cells = rows.map(({ code, className, packageName, template, cause, remedy }) => [
      `\`${code}\``,
      `\`${className}\``,
      `\`${packageName}\``,
      asCode(messages[`${code} ${packageName}`] ?? template),
      cause,
      remedy,
    ])
    await expectTables('docs/reference/errors.md', { head, rows: cells })
  })

  it.each(rows)('$code of $packageName has a cause and a remedy in its docstring', ({ cause, remedy }) => {
    expect(cause).toMatch(/\.$/)
    expect(remedy).toMatch(/\.$/)
  })

  it('finds every code that the source mentions', () => {
    const mentioned = files.flatMap(({ text }) => text.match(/ERR_POLITELY_\w*\w(?!\w|\$)/g) ?? [])
    const listed = rows.map(({ code }) => code)
    expect(mentioned.filter((code) => !listed.includes(code))).toEqual([])
    expect(listed.length).toBeGreaterThan(15)
  })

  it.each(rows)('$className extends a class that isPolitelyError recognises', ({ base }) => {
    expect(base).toMatch(/^Politely(Type)?Error$/)
  })

  it('has one class for each code', () => {
    const codes = rows.map(({ code }) => code)
    expect(codes).toEqual([...new Set(codes)])
  })

  it('isPolitelyError recognises the errors of another copy of core', async () => {
    const { isPolitelyError } = await load('core')
    const folder = mkdtempSync(join(tmpdir(), 'politely-core-'))
    try {
      cpSync(join(root, 'packages/core/src'), folder, { recursive: true })
      writeFileSync(join(folder, 'package.json'), '{ "type": "module" }')
      const other = await import(join(folder, 'index.ts'))
      const error = new other.OptionError('minDelayMs', 'is negative')
      expect(isPolitelyError(error)).toBe(true)
      expect(error).not.toBeInstanceOf((await load('core')).OptionError)
    } finally {
      rmSync(folder, { recursive: true })
    }
  })

  it('lists every process warning', () => {
    const warnings = files.flatMap(({ text }) => text.match(/'POLITELY_\w+'/g) ?? [])
    expect(firstColumn('warning')).toEqual(warnings.map((code) => code.slice(1, -1)))
  })

  it('lists every reason of `access.reason`', () => {
    const reasons = ['UnavailableReason', 'FailureReason'].flatMap((type) => membersOf(files, type))
    expect(firstColumn('reason').toSorted()).toEqual([...new Set(reasons)].toSorted())
    expect(reasons.length).toBeGreaterThan(15)
  })
})

/** Loads a package. Not a static import: packages whose tests use the testkit must not be its dependencies. */
const load = (name: string) => import(join(root, 'packages', name, 'src/index.ts'))

/**
 * The first cells of the rows of a table, without backticks. @param head The first cell of its
 * head.
 */
function firstColumn(head: string): string[] {
  const table = page.slice(page.indexOf(`| ${head} |`)).split('\n\n')[0] ?? ''
  return Array.from(table.matchAll(/^\| `([\w-]+)`/gm), ([, cell = '']) => cell)
}

/** A message as inline code; it may contain backticks itself. */
function asCode(message: string): string {
  return message.includes('`') ? `\`\` ${message} \`\`` : `\`${message}\``
}

/**
 * Messages of errors that the built packages really throw, by code and package. The page shows a
 * template for the others.
 */
async function exampleMessages(): Promise<Readonly<Record<string, string>>> {
  const { isPolitelyError } = await load('core')
  const { BlockedAddressError, fromKeyv, MemoryStore, RobotsClient } = await load('fetcher')
  const { PoliteGate, politely } = await load('gate')
  const { SqliteStore } = await load('sqlite')
  const { PageCache } = await load('cache')
  const userAgent = 'ExampleBot/1.0 (+https://example.com/bot)'
  const respond = async () => new Response('User-agent: *\nDisallow: /cart\n')
  const robots = new RobotsClient({ userAgent, fetch: respond })
  const gate = new PoliteGate({ robots, minDelayMs: 0 })
  const folder = mkdtempSync(join(tmpdir(), 'politely-errors-'))
  const url = 'https://example.com/about'

  /** A SQLite file in which these statements were run. */
  const database = (name: string, sql: string) => {
    const path = join(folder, name)
    const db = new DatabaseSync(path)
    db.exec(sql)
    db.close()
    return path
  }

  const throwing: Readonly<Record<string, () => unknown>> = {
    'ERR_POLITELY_OPTION @politely/core': () => new PoliteGate({ robots, minDelayMs: -5 }),
    'ERR_POLITELY_DISALLOWED @politely/gate': () => gate.enter('https://example.com/cart'),
    'ERR_POLITELY_REQUEST @politely/gate': () =>
      politely(respond, { gate })(url, { headers: { host: 'other.example' } }),
    'ERR_POLITELY_RESPONSE @politely/gate': async () => (await gate.enter(url)).release(200),
    'ERR_POLITELY_PACER @politely/gate': () => {
      const pacer = { reserve: () => 'now', cancel() {}, report() {}, end() {}, estimate() {} }
      return new PoliteGate({ robots, pacer }).enter(url)
    },
    'ERR_POLITELY_WAIT @politely/gate': async () => {
      const slow = new PoliteGate({ robots, minDelayMs: 60_000, maxWaitMs: 5_000, now: Date.now })
      ;(await slow.enter(url)).release()
      return slow.enter(url)
    },
    'ERR_POLITELY_QUEUE_FULL @politely/gate': async () => {
      const slow = new PoliteGate({ robots, minDelayMs: 60_000, maxQueuedPerKey: 1, now: Date.now })
      ;(await slow.enter(url)).release()
      const waiting = slow.enter(url).catch(() => undefined)
      try {
        await slow.enter(url)
      } finally {
        slow.close()
        await waiting
      }
    },
    'ERR_POLITELY_GATE_CLOSED @politely/gate': () => {
      gate.close()
      return gate.enter(url)
    },
    'ERR_POLITELY_REENTRY @politely/fetcher': () => {
      const client = new RobotsClient({ userAgent, fetch: () => client.check(url) })
      return client.check(url)
    },
    'ERR_POLITELY_BLOCKED_ADDRESS @politely/fetcher': () => {
      throw new BlockedAddressError('intranet.example.com', ['10.0.0.7'])
    },
    'ERR_POLITELY_KEYV_SET @politely/fetcher': () =>
      fromKeyv({ get() {}, set: async () => false, delete() {} }).set('https://example.com', '{}', Date.now() + 60_000),
    'ERR_POLITELY_CLIENT_CLOSED @politely/fetcher': async () => {
      await robots.close()
      await robots.check(url)
    },
    'ERR_POLITELY_STORE_CLOSED @politely/fetcher': async () => {
      const store = new MemoryStore()
      await store.close()
      await store.get('https://example.com')
    },
    'ERR_POLITELY_CACHE_MISS @politely/cache': async () => {
      const cache = new PageCache({ offline: true })
      const client = new RobotsClient({ userAgent, fetch: respond })
      await client.check(url)
      return politely(respond, { robots: client, cache })(url)
    },
    'ERR_POLITELY_STORE_FOREIGN @politely/sqlite': () =>
      new SqliteStore({ path: database('history.sqlite', 'CREATE TABLE visits (url TEXT)') }),
    'ERR_POLITELY_STORE_NEWER @politely/sqlite': async () => {
      const path = join(folder, 'newer.sqlite')
      await new SqliteStore({ path }).close()
      database('newer.sqlite', 'PRAGMA user_version = 99')
      return new SqliteStore({ path })
    },
    'ERR_POLITELY_STORE_BUSY @politely/sqlite': () => {
      const path = database('busy.sqlite', 'CREATE TABLE t (x)')
      const other = new DatabaseSync(path)
      other.exec('BEGIN EXCLUSIVE')
      try {
        return new SqliteStore({ path, busyTimeoutMs: 0 })
      } finally {
        other.close()
      }
    },
    'ERR_POLITELY_STORE_FAILED @politely/sqlite': () => {
      mkdirSync(join(folder, 'folder.sqlite'))
      return new SqliteStore({ path: join(folder, 'folder.sqlite') })
    },
  }

  const messages: Record<string, string> = {}
  try {
    for (const [key, run] of Object.entries(throwing)) {
      const error = await (async () => run())().then(
        () => undefined,
        (reason) => reason,
      )
      expect(`${error?.code} ${key.split(' ')[1]}`).toBe(key)
      expect(isPolitelyError(error)).toBe(true)
      messages[key] = error.message.replaceAll(folder, '/crawl')
    }
  } finally {
    gate.close()
    await robots.close()
    rmSync(folder, { recursive: true })
  }
  return messages
}
