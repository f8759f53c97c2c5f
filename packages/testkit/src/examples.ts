// Runs the examples of Markdown pages, which print what they say they print. `https://example.com`
// is a server on loopback for them.
import { spawn } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { dirname, join } from 'node:path'
import type { Part } from './parts.ts'
import { startPostgres } from './servers/postgres.ts'
import { startRedis } from './servers/redis.ts'

/** Some examples start a browser, and the machine may be busy. */
const TIMEOUT_MS = 60_000

const ROOT = join(import.meta.dirname, '../../..')

/** How to run an example that is a test file. */
interface TestRunner {
  /** Where the example imports `test` from. */
  readonly module: string
  /** The extension of its file. */
  readonly extension: string
  readonly command: (file: string) => readonly string[]
}

const TEST_RUNNERS: readonly TestRunner[] = [
  {
    module: 'vitest',
    extension: '.test.ts',
    command: (file) => [join(ROOT, 'node_modules/vitest/vitest.mjs'), 'run', '--root', dirname(file), file],
  },
  {
    module: '@jest/globals',
    extension: '.test.mjs', // Jest does not read TypeScript
    command: (file) => [
      '--experimental-vm-modules',
      join(ROOT, 'docs/node_modules/jest/bin/jest.js'),
      `--config=${JSON.stringify({ rootDir: dirname(file), transform: {}, testMatch: ['**/*.test.mjs'] })}`,
      '--runTestsByPath',
      file,
    ],
  },
  { module: 'node:test', extension: '.test.ts', command: (file) => ['--test', file] },
]

/** Returns the TypeScript examples of a page, in their order. */
export function examplesOf(markdown: string): readonly string[] {
  return Array.from(markdown.matchAll(/^```ts\n(.*?)^```/gms), ([, code = '']) => code)
}

/** Returns the lines that an example promises in comments, `// prints: …`, in their order. */
export function promisedBy(code: string): readonly string[] {
  return Array.from(code.matchAll(/\/\/ prints: (.*)$/gm), ([, line = '']) => line)
}

export interface ExampleSite {
  readonly origin: string
  close(): void
}

/**
 * Starts the site of the examples: its robots.txt disallows `/cart`, its sitemap lists `/about.html`,
 * its tdmrep.json reserves text and data mining, and every other URL is a page.
 */
export async function startExampleSite(): Promise<ExampleSite> {
  const server = createServer((request, response) => {
    if (request.url === '/robots.txt') response.end('User-agent: *\nDisallow: /cart\n')
    else if (request.url === '/.well-known/tdmrep.json') response.end('[{"location":"/","tdm-reservation":1}]')
    else if (request.url === '/sitemap.xml')
      response.end(
        `<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"><url><loc>http://${request.headers.host}/about.html</loc></url></urlset>`,
      )
    else response.end('a page')
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    origin: `http://localhost:${(server.address() as AddressInfo).port}`,
    close: () => {
      server.close()
      server.closeAllConnections()
    },
  }
}

export interface ExampleRun {
  readonly status: number | null
  readonly printed: readonly string[]
  /** What it had to print. */
  readonly promised: readonly string[]
}

/**
 * Writes an example into `file`, whose folder must resolve its imports, and runs it. An example that
 * uses REDIS_URL gets a Redis, and one that uses DATABASE_URL a Postgres with the role `crawler`. A
 * test file is run by its test runner, whose output counts only if a
 * test fails.
 */
export async function runExample({
  code,
  file: script,
  origin,
  browser,
}: {
  readonly code: string
  readonly file: string
  readonly origin: string
  readonly browser: Part | undefined
}): Promise<ExampleRun> {
  const runner = TEST_RUNNERS.find(({ module }) => new RegExp(`\\btest\\b[^}]*} from '${module}'`).test(code))
  const file = runner ? script.replace(/\.ts$/, runner.extension) : script
  const onLoopback = (text: string) => text.replaceAll('https://example.com', origin)
  // The server has no certificate.
  writeFileSync(file, onLoopback(code).replace("'node:https'", "'node:http'"))
  // A server of its own, because examples do not set `keyPrefix`.
  const redis = code.includes('REDIS_URL') && !process.env.REDIS_URL ? await startRedis() : undefined
  const postgres = code.includes('DATABASE_URL') && !process.env.DATABASE_URL ? await startPostgres() : undefined
  await postgres?.psql('CREATE ROLE crawler LOGIN')
  const command = runner?.command(file) ?? [file]
  const child = spawn(process.execPath, ['--disable-warning=ExperimentalWarning', ...command], {
    cwd: dirname(file),
    env: {
      ...process.env,
      ...(redis && { REDIS_URL: redis.url }),
      ...(postgres && { DATABASE_URL: postgres.url }),
      ...(browser && { CHROME_BIN: browser.command, ...browser.env }),
      CRAWLEE_LOG_LEVEL: 'OFF',
      NODE_ENV: undefined, // vitest sets it to `test`
    },
    timeout: TIMEOUT_MS,
  })
  let output = ''
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => (output += chunk))
  const status = await new Promise<number | null>((resolve) => child.on('close', resolve))
  await redis?.stop()
  await postgres?.stop('immediate')
  const isPassedTest = runner !== undefined && status === 0
  const printed = isPassedTest || output.trimEnd() === '' ? [] : output.trimEnd().split('\n')
  return { status, printed, promised: promisedBy(code).map(onLoopback) }
}
