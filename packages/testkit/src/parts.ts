// Finds programs that tests use and that npm does not provide, and skips or fails the tests if a
// program is missing.
import { accessSync, appendFileSync, constants, existsSync, readdirSync, readFileSync, realpathSync } from 'node:fs'
import { delimiter, dirname, join } from 'node:path'

/** A program, and the environment variables that it needs in addition to ours. */
export interface Part {
  readonly command: string
  readonly env: Readonly<Record<string, string>>
}

/**
 * Returns the Chromium of CHROME_BIN, else the Chromium on PATH, else the Chromium
 * that `npm run parts chromium` has unpacked.
 */
export function findChromium(): Part | undefined {
  const { CHROME_BIN } = process.env
  if (CHROME_BIN) return { command: CHROME_BIN, env: {} } // used even if it does not exist: no other browser replaces it
  return findOnPath('chromium', 'chromium-browser', 'google-chrome') ?? findUnpacked('chromium')
}

/**
 * Returns the headless shell if there is one, else Chromium. The headless shell is Chromium without
 * a user interface. It needs a third of the CPU time, and drivers start it by default.
 */
export function findBrowser(): Part | undefined {
  return process.env.CHROME_BIN ? findChromium() : (findHeadlessShell() ?? findChromium())
}

/**
 * Returns the headless shell on PATH, else the headless shell that `npm run parts headless-shell`
 * has unpacked.
 */
export function findHeadlessShell(): Part | undefined {
  return findOnPath('chromium-headless-shell', 'chrome-headless-shell') ?? findUnpacked('headless-shell')
}

/** Returns the curl on PATH, else the curl that `npm run parts curl` has unpacked. */
export function findCurl(): Part | undefined {
  return findOnPath('curl') ?? findUnpacked('curl')
}

/** Returns the Go on PATH, else the Go that `npm run parts go` has unpacked. */
export function findGo(): Part | undefined {
  return findOnPath('go') ?? findUnpacked('go')
}

/**
 * Like `findGo`, with the driver of Postgres that `npm run parts go` has unpacked, or of Debian.
 */
export function findGoWithPq(): Part | undefined {
  const go = findGo()
  const unpacked = join(import.meta.dirname, '../../../.tools/parts/go/files/usr/share/gocode')
  const GOPATH = ['/usr/share/gocode', unpacked].find((path) => existsSync(join(path, 'src/github.com/lib/pq')))
  return go && GOPATH ? { command: go.command, env: { ...go.env, GO111MODULE: 'off', GOPATH } } : undefined
}

type PythonModule = 'scrapy' | 'psycopg2' | 'pip' | 'setuptools' | 'wheel'

/**
 * Returns Debian's Python if it has these modules, else the Python that `npm run parts python` has
 * unpacked. Scrapy brings requests.
 */
export function findPython(...modules: readonly PythonModule[]): Part | undefined {
  const ofSystem = '/usr/lib/python3/dist-packages'
  const areIn = (...folders: readonly string[]) =>
    modules.every((module) => folders.some((folder) => existsSync(join(folder, module))))
  if (areIn(ofSystem)) return { command: '/usr/bin/python3', env: {} }
  const unpacked = findUnpacked('python')
  if (unpacked === undefined) return undefined
  // Modules that the system had already were not unpacked.
  const folders = [join(dirname(unpacked.command), '../lib/python3/dist-packages'), ofSystem]
  if (!areIn(...folders)) return undefined
  return { command: unpacked.command, env: { ...unpacked.env, PYTHONPATH: folders.join(delimiter) } }
}

/**
 * Returns the Redis server on PATH, else the server that `npm run parts redis` has unpacked. Valkey
 * is used as well.
 */
export function findRedis(): Part | undefined {
  return findOnPath('redis-server', 'valkey-server') ?? findUnpacked('redis')
}

/** Debian and Ubuntu keep the programs of each version there, and only some of them on PATH. */
const POSTGRES_VERSIONS = '/usr/lib/postgresql'

/**
 * Returns the newest PostgreSQL server of Debian's packages, else the server on PATH, else the
 * server that `npm run parts postgres` has unpacked. `initdb`, `psql` and `pg_dump` are in the same
 * folder.
 */
export function findPostgres(): Part | undefined {
  const versions = existsSync(POSTGRES_VERSIONS) ? readdirSync(POSTGRES_VERSIONS) : []
  const newestFirst = versions.toSorted((a, b) => Number(b) - Number(a))
  const onPath = findOnPath('postgres')
  const commands = [
    ...newestFirst.map((version) => join(POSTGRES_VERSIONS, version, 'bin/postgres')),
    ...(onPath === undefined ? [] : [realpathSync(onPath.command)]),
  ]
  const command = commands.find((one) => isExecutable(one) && isExecutable(join(dirname(one), 'initdb')))
  return command === undefined ? findUnpacked('postgres') : { command, env: {} }
}

/**
 * Returns the PgBouncer on PATH, else the PgBouncer that `npm run parts pgbouncer` has unpacked.
 */
export function findPgBouncer(): Part | undefined {
  return findOnPath('pgbouncer') ?? findUnpacked('pgbouncer')
}

/**
 * Returns the Prometheus server on PATH, else the server that `npm run parts prometheus` has
 * unpacked. Its `promtool` is in the same folder.
 */
export function findPrometheus(): Part | undefined {
  return findOnPath('prometheus') ?? findUnpacked('prometheus')
}

/**
 * Arguments for browsers in tests: loopback connections only, and no sandbox, because root and many
 * containers cannot use one.
 */
export const chromiumArguments: readonly string[] = [
  '--no-sandbox',
  '--disable-gpu',
  '--no-proxy-server',
  '--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1, EXCLUDE 127.0.0.2, EXCLUDE localhost',
  // The names of the crawlers in the tests, which would otherwise cause many process warnings.
  '--user-agent=Mozilla/5.0 (X11; Linux x86_64) Chrome/156.0 (TestBot; AdapterBot; ExampleBot; one; two)',
]

/** Returns the launch options for Playwright and Puppeteer. */
export function chromiumLaunch(
  chromium: Part | undefined,
  switches: readonly string[] = [],
): {
  executablePath: string
  env: Record<string, string>
  args: string[]
} {
  if (chromium === undefined) throw new Error('no Chromium was found; get one with: npm run parts chromium')
  const env = Object.entries({ ...process.env, ...chromium.env }).map(([name, value]) => [name, value ?? ''])
  return { executablePath: chromium.command, env: Object.fromEntries(env), args: [...chromiumArguments, ...switches] }
}

/**
 * Returns whether a part is missing, to skip its tests:
 * `describe.skipIf(isMissing('chromium', findChromium()))`. The run then ends with a line about the
 * skipped tests. With REQUIRE_PARTS=1 this throws instead.
 */
export function isMissing(name: string, part: Part | undefined): boolean {
  if (part !== undefined) return false
  const command = `npm run parts ${name}`
  if (process.env.REQUIRE_PARTS === '1')
    throw new Error(`REQUIRE_PARTS=1, but there is no ${name}. To get it: ${command}`)
  printAfterRun(`Tests were skipped because there is no ${name}. To get it: ${command}`)
  return true
}

/**
 * Prints a line after all tests: it is added to a file, which scripts/run.mjs prints without
 * repeated lines.
 */
export function printAfterRun(line: string): void {
  if (process.env.POLITELY_NOTES) appendFileSync(process.env.POLITELY_NOTES, `${line}\n`)
  else console.warn(line)
}

function findOnPath(...names: readonly string[]): Part | undefined {
  const folders = (process.env.PATH ?? '').split(delimiter)
  const commands = names.flatMap((name) => folders.map((folder) => join(folder, name)))
  const command = commands.find(isExecutable)
  return command === undefined ? undefined : { command, env: {} }
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK)
    return true
  } catch {
    return false
  }
}

/** Returns a part that scripts/parts.mjs has unpacked. The script writes the file `ok` last. */
function findUnpacked(name: string): Part | undefined {
  const home = join(import.meta.dirname, '../../../.tools/parts', name)
  const done = join(home, 'ok')
  if (!existsSync(done)) return undefined
  const { command, libraries }: { command: string; libraries: string[] } = JSON.parse(readFileSync(done, 'utf8'))
  const env = { LD_LIBRARY_PATH: libraries.map((folder) => join(home, folder)).join(delimiter) }
  return { command: join(home, command), env }
}
