// What the playground writes for the command gives the verdicts that the playground shows.
import { execFile, execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { gallery } from '@politely/playground/gallery'
import { matrixOf } from '@politely/playground/matrix'
import {
  type Command,
  cellCommand,
  expectationsText,
  jsonText,
  matrixCommand,
  shellText,
  vitestText,
} from '@politely/playground/outputs'
import { startState } from '@politely/playground/state'
import { isFullRun } from '@politely/testkit/scope'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { runInThisProcess } from './run-cli.ts'

const ALL = [
  { id: 'the start', state: startState },
  ...gallery,
  {
    id: 'URLs with blanks, quotes and control characters, and an invalid URL',
    state: {
      ...startState,
      urls: ["/it's a 'page'", '/a#b', '/\u0085', 'shop.example', '/END', 'https://[/'],
      open: { url: 0, crawler: 2 },
    },
  },
  {
    id: 'names that no product token can have',
    state: {
      ...startState,
      robots: 'User-agent: archive.org_bot\nDisallow: /a\n\nUser-agent: Sogou web spider\nDisallow: /b\n',
      urls: ['/a', '/b'],
      crawlers: ['archive.org_bot', 'Sogou web spider', 'Googlebot'],
      open: { url: 0, crawler: 0 },
    },
  },
  { id: 'a dialect', state: { ...startState, dialect: 'original-1994' as const } },
]

/** The command does not answer for this robots.txt. The playground says that it is a page, and answers. */
const HTML_PAGE = 'html-page'

/** The short run has every fourth one, and all states that are not in the gallery. */
const STATES = ALL.filter(({ id }, i) => (isFullRun || i % 4 === 0 || i >= ALL.length - 3) && id !== HTML_PAGE)

let folder = ''
beforeAll(() => {
  folder = mkdtempSync(join(import.meta.dirname, '../.snippets-')) // the imports of a snippet are found from here
})
afterAll(() => rmSync(folder, { recursive: true }))

/** Writes the files of a command, and runs it in this process. */
async function run({ args, stdin, files }: Omit<Command, 'stdin'> & { readonly stdin?: string | undefined }) {
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text)
  return runInThisProcess(
    args.map((arg) => (Object.hasOwn(files, arg) ? join(folder, arg) : arg)),
    stdin,
  )
}

test.each(STATES)('$id: the command of the matrix', async ({ state }) => {
  const command = matrixCommand({ ...state, before: undefined })
  const { stdout } = await run({ ...command, args: [...command.args.slice(0, -1), 'ndjson'] })
  const allowed = stdout
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line).allowed)
  expect(allowed).toEqual(matrixOf(state).flatMap((row) => row.map(({ verdict }) => verdict.allowed)))
})

test.each(STATES)('$id: the command of the open cell', async ({ state }) => {
  const command = cellCommand(state)
  const { url = 0, crawler = 0 } = state.open ?? {}
  const allowed = matrixOf(state)[url]?.[crawler]?.verdict.allowed
  expect((await run(command as Command)).code).toBe(allowed ? 0 : 1)
})

test('the commands for an HTML page end with the exit code 3', async () => {
  const { state } = gallery.find(({ id }) => id === HTML_PAGE) as (typeof gallery)[number]
  for (const command of [matrixCommand(state), cellCommand(state) as Command]) {
    const { code, stderr } = await run(command)
    expect(stderr).toContain('HTML')
    expect(code).toBe(3)
  }
})

test('the command of a comparison says what changes', async () => {
  const { state } = gallery.find(({ id }) => id === 'staging') as (typeof gallery)[number]
  const { code, stdout } = await run(matrixCommand(state))
  expect(stdout).toContain('2 of 3 URLs become disallowed')
  expect(code).toBe(1)
})

test.each(STATES)('$id: the expectations are met', async ({ state }) => {
  const files = { 'robots.txt': state.robots, 'robots.expect': expectationsText(state) }
  const dialect = state.dialect === 'rfc9309' ? [] : ['--dialect', state.dialect]
  const args = ['test', 'robots.expect', '--robots', 'robots.txt', ...dialect]
  const { code, stdout } = await run({ args, files })
  expect(stdout).toMatch(/✓ \d+ expectations met by /)
  expect(code).toBe(0)
})

test('a command can be written in a shell', () => {
  for (const { state } of STATES) {
    for (const command of [matrixCommand(state), cellCommand(state)]) {
      if (command === undefined) continue
      // `npx` prints its arguments and its stdin.
      const shell = `npx() { shift; printf '%s\\0' "$@"; ${command.stdin === undefined ? '' : 'cat; '}}\n${shellText(command)}`
      const printed = execFileSync('sh', ['-c', shell], { encoding: 'utf8' })
      expect(printed).toBe(`${command.args.map((arg) => `${arg}\0`).join('')}${command.stdin ?? ''}`)
    }
  }
})

test('the JSON has each verdict with its reason', () => {
  const { version, verdicts } = JSON.parse(jsonText({ ...startState, before: 'User-agent: *\n' }))
  expect(version).toBe(1)
  expect(verdicts).toHaveLength(20)
  expect(verdicts[0]).toMatchObject({
    allowed: true,
    url: 'https://shop.example/',
    crawler: 'Googlebot',
    reason: 'no rule of the group for * (line 2) matches',
    allowedBefore: true,
    isChanged: false,
  })
})

test('the Vitest snippets pass', { tags: 'full' }, async () => {
  for (const [i, { state }] of STATES.entries()) {
    mkdirSync(join(folder, `${i}`))
    writeFileSync(join(folder, `${i}/robots.txt`), state.robots)
    writeFileSync(join(folder, `${i}/robots.test.ts`), vitestText(state))
  }
  const vitest = join(import.meta.dirname, '../../../node_modules/vitest/vitest.mjs')
  const report = join(folder, 'report.json')
  const args = [vitest, 'run', '--root', folder, '--reporter=json', `--outputFile=${report}`]
  const { stdout } = await promisify(execFile)(process.execPath, args).catch((error) => error)
  const { numFailedTests, numPassedTests } = JSON.parse(readFileSync(report, 'utf8'))
  expect(numFailedTests, stdout).toBe(0)
  expect(numPassedTests).toBe(STATES.reduce((sum, { state }) => sum + state.urls.length * state.crawlers.length, 0))
})
