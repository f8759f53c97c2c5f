// Programs that tests use and npm does not have: where they are on this machine, and what becomes of a test without them.
import { accessSync, appendFileSync, constants, existsSync, readFileSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { isFullRun } from './scope.ts'

/** A program, and what its environment has to have beside ours. */
export interface Part {
  readonly command: string
  readonly env: Readonly<Record<string, string>>
}

/** The Chromium that CHROME_BIN names, else the one on PATH, else the one that `npm run parts chromium` got. */
export function findChromium(): Part | undefined {
  const { CHROME_BIN } = process.env
  if (CHROME_BIN) return { command: CHROME_BIN, env: {} } // there or not: who names one is not given another
  return findOnPath('chromium', 'chromium-browser', 'google-chrome') ?? findUnpacked('chromium')
}

/**
 * The headless shell where there is one, else Chromium. The headless shell is Chromium without a user interface, and needs a third
 * of the processor time; drivers start it by default.
 */
export function findBrowser(): Part | undefined {
  return process.env.CHROME_BIN ? findChromium() : (findHeadlessShell() ?? findChromium())
}

/** For suites that the full run plays with the whole Chromium, and the short run with `findBrowser`. */
export function findFullBrowser(): Part | undefined {
  return isFullRun ? findChromium() : findBrowser()
}

/** The headless shell on PATH, else the one that `npm run parts headless-shell` got. */
export function findHeadlessShell(): Part | undefined {
  return findOnPath('chromium-headless-shell', 'chrome-headless-shell') ?? findUnpacked('headless-shell')
}

/** Loopback only, for browsers in tests; root can have no sandbox, nor can others in many a container. */
export const chromiumArguments: readonly string[] = [
  '--no-sandbox',
  '--disable-gpu',
  '--no-proxy-server',
  '--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1, EXCLUDE localhost',
]

/** What Playwright and Puppeteer launch it with. */
export function chromiumLaunch(chromium: Part | undefined): {
  executablePath: string
  env: Record<string, string>
  args: string[]
} {
  if (chromium === undefined) throw new Error('there is no Chromium')
  const env = Object.entries({ ...process.env, ...chromium.env }).map(([name, value]) => [name, value ?? ''])
  return { executablePath: chromium.command, env: Object.fromEntries(env), args: [...chromiumArguments] }
}

/**
 * Whether tests have to be skipped for want of a part: `describe.skipIf(isMissing('chromium', findChromium()))`. The run
 * ends with a line that says so. With REQUIRE_PARTS=1 it fails instead.
 */
export function isMissing(name: string, part: Part | undefined): boolean {
  if (part !== undefined) return false
  const cure = `npm run parts ${name}`
  if (process.env.REQUIRE_PARTS === '1') throw new Error(`REQUIRE_PARTS=1, but there is no ${name}. To get it: ${cure}`)
  printAfterRun(`Tests were skipped because there is no ${name}. To get it: ${cure}`)
  return true
}

/** Says a line when all tests are done: scripts/run.mjs prints the file, each line once. */
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

/** What scripts/parts.mjs has unpacked; it writes `ok` last. */
function findUnpacked(name: string): Part | undefined {
  const home = join(import.meta.dirname, '../../../.tools/parts', name)
  const done = join(home, 'ok')
  if (!existsSync(done)) return undefined
  const { command, libraries }: { command: string; libraries: string[] } = JSON.parse(readFileSync(done, 'utf8'))
  const env = { LD_LIBRARY_PATH: libraries.map((folder) => join(home, folder)).join(delimiter) }
  return { command: join(home, command), env }
}
