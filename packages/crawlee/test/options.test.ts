// Invalid options throw when the crawler is made polite.
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type BaseHttpClient, BasicCrawler, GotScrapingHttpClient } from '@crawlee/basic'
import { HttpCrawler } from '@crawlee/http'
import { RobotsClient } from '@politely/fetcher'
import { resolveGate } from '@politely/gate'
import { expect, onTestFinished, test } from 'vitest'
import { OptionError, withRobots } from '../src/index.ts'
import { inMemory } from './in-memory.ts'

const userAgent = 'ExampleBot/1.0 (+https://example.com/bot)'
const crawler = (httpClient?: BaseHttpClient) =>
  new HttpCrawler({ requestHandler: () => undefined, ...(httpClient && { httpClient }) }, inMemory())

test.each<[string, string, () => unknown]>([
  ['an object that is not a crawler', 'crawler', () => withRobots({} as never, { userAgent })],
  ['undefined', 'crawler', () => withRobots(undefined as never, { userAgent })],
  [
    'a crawler of an unsupported version',
    'crawler',
    () => withRobots(Object.assign(crawler(), { teardown: 1 }), { userAgent }),
  ],
  [
    'a browser crawler without the hooks of a browser pool',
    'crawler',
    () => withRobots(Object.assign(crawler(), { _navigationHandler: async () => null }), { userAgent }),
  ],
  [
    'a crawler that is polite already',
    'crawler',
    () => withRobots(withRobots(crawler(), { userAgent }), { userAgent }),
  ],
  [
    'an HTTP client that always follows redirects',
    'httpClient',
    () => withRobots(crawler(Object.assign(new GotScrapingHttpClient(), { followRedirects: true })), { userAgent }),
  ],
  ['no options', 'options', () => withRobots(crawler(), undefined as never)],
  ['no userAgent', 'userAgent', () => withRobots(crawler(), {} as never)],
  ['an unknown option', 'delay', () => withRobots(crawler(), { userAgent, delay: 1 } as never)],
  ['deferBeyondMs: -1', 'deferBeyondMs', () => withRobots(crawler(), { userAgent, deferBeyondMs: -1 })],
  ['deferBeyondMs: "1"', 'deferBeyondMs', () => withRobots(crawler(), { userAgent, deferBeyondMs: '1' as never })],
  ['giveUpAfterMs: -1', 'giveUpAfterMs', () => withRobots(crawler(), { userAgent, giveUpAfterMs: -1 })],
  ['pageRequests: true', 'pageRequests', () => withRobots(crawler(), { userAgent, pageRequests: true as never })],
  ['signal: {}', 'signal', () => withRobots(crawler(), { userAgent, signal: {} as never })],
  ['a gate in place of options', 'options', () => withRobots(crawler(), resolveGate({ userAgent }).gate as never)],
  ['robots: {}', 'robots', () => withRobots(crawler(), { robots: {} as never })],
  [
    'signal beside robots',
    'signal',
    () => withRobots(crawler(), { robots: new RobotsClient({ userAgent }), signal: AbortSignal.abort() } as never),
  ],
  ['gate: {}', 'gate', () => withRobots(crawler(), { gate: {} as never })],
])('%s throws an OptionError for %s', (_, option, make) => {
  expect(make).toThrow(OptionError)
  expect(make).toThrow(expect.objectContaining({ option }))
})

test.each(['maxConcurrency', 'maxRequestRetries', 'requestHandlerTimeoutSecs'])(
  '%s gets a message that says where to write it',
  (option) => {
    expect(() => withRobots(crawler(), { userAgent, [option]: 5 } as never)).toThrow(
      `${option}: is an option of the crawler; write it in new CheerioCrawler({ … })`,
    )
  },
)

test('a failed call leaves the crawler unchanged', () => {
  const plain = crawler()
  const before = { ...plain }
  expect(() => withRobots(plain, { userAgent, deferBeyondMs: -1 })).toThrow(OptionError)
  expect({ ...plain }).toEqual(before)
})

test('returns the crawler that was passed in, with its own type', () => {
  const plain = crawler()
  const polite: typeof plain = withRobots(plain, { userAgent })
  expect(polite).toBe(plain)
})

/** A crawler of another copy of Crawlee: it has everything but the class. */
function crawlerOf(OtherCrawler: { readonly prototype: object }): ReturnType<typeof crawler> {
  Object.defineProperties(OtherCrawler.prototype, Object.getOwnPropertyDescriptors(BasicCrawler.prototype))
  return Object.create(OtherCrawler.prototype, Object.getOwnPropertyDescriptors(crawler()))
}

const require = createRequire(import.meta.url)
const { version: ownVersion } = require('@crawlee/basic/package.json')

test.for([
  ['3.18.999', 'write "@crawlee/basic": "3.18.999" in the dependencies of your package.json and install again'],
  ['3.17.0', 'install Crawlee 3.18'],
  [ownVersion, 'run npm dedupe, so that there is one copy'],
])('a crawler of another copy of Crawlee, version %s, gets a message that says what to do', ([version, remedy]) => {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'politely-crawlee-')))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  const copy = join(folder, 'node_modules', '@crawlee', 'basic')
  mkdirSync(copy, { recursive: true })
  writeFileSync(join(copy, 'package.json'), JSON.stringify({ version }))
  writeFileSync(join(copy, 'index.js'), 'exports.BasicCrawler = class {}')
  const other = crawlerOf(require(copy).BasicCrawler)
  const both = `crawler: is of @crawlee/basic ${version} in ${copy}, but @politely/crawlee uses @crawlee/basic ${ownVersion} in `
  const polite = () => withRobots(other, { userAgent })
  expect(polite).toThrow(expect.objectContaining({ option: 'crawler', message: expect.stringContaining(both) }))
  expect(polite).toThrow(`; ${remedy}`)
})

test('a crawler of a bundled copy of Crawlee gets a message that says what to do', () => {
  const other = crawlerOf(class {})
  expect(() => withRobots(other, { userAgent })).toThrow('leave Crawlee and @politely/crawlee out of the bundle')
})

/**
 * A crawler in the form of Crawlee 4.0.0-rc.0: other names, and real private fields instead of the
 * members that TypeScript marked as private.
 */
class CrawlerOfCrawlee4 {
  readonly #requestManager = {}
  readonly #taskLoopOptions = {}
  readonly #respectRobotsTxtFile = false
  protected readonly httpClient = { sendRequest: async () => new Response() }
  get statistics() {
    return this.#requestManager
  }
  get contextPipeline(): unknown {
    throw new Error(`not built before run: ${this.#taskLoopOptions} ${this.#respectRobotsTxtFile}`)
  }
  async addRequests() {
    return {}
  }
  async getRequestManager() {
    return this.#requestManager
  }
  async run() {
    return { requestsFinished: 0, requestsFailed: 0 }
  }
  stop() {}
  async teardown() {}
}

test('a crawler of Crawlee 4 gets a message that names the version and says what to do', () => {
  const plain = new CrawlerOfCrawlee4()
  const before = Object.getOwnPropertyDescriptors(plain)
  expect(() => withRobots(plain as never, { userAgent })).toThrow(
    new OptionError(
      'crawler',
      'is of Crawlee 4, which hides what withRobots needs; install Crawlee 3.18, such as @crawlee/cheerio@3.18',
    ),
  )
  expect(Object.getOwnPropertyDescriptors(plain)).toEqual(before)
})
