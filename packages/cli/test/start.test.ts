// @module-tag nodes
// @module-tag process
// Help and version, and what they load.
import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'
import { type CommandSpec, parseCommand } from '../src/command-line.ts'
import { commands } from '../src/commands.ts'
import { QUESTIONS } from '../src/help.ts'
import { MAIN, runCli, runInThisProcess } from './run-cli.ts'

const { version } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8'))

test('--version prints the version of the package', async () => {
  expect(await runCli(['--version'])).toEqual({ code: 0, stdout: `${version}\n`, stderr: '' })
})

test.for([['--help'], ['help', 'check'], ['check', '--help']])('%j lists the exit codes', async (args) => {
  const { code, stdout, stderr } = await runInThisProcess(args)
  expect(stdout).toMatch(/^(?:Usage: )?politely/)
  for (const exit of [0, 1, 2, 3, 70, 130, 141]) expect(stdout).toMatch(new RegExp(`^  ${exit} +\\w`, 'm'))
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
})

test('the bundle has the licences of the packages in it', { tags: 'full' }, () => {
  const licences = readFileSync(new URL('../bundle/LICENSES.txt', import.meta.url), 'utf8')
  for (const name of ['undici', 'tldts', 'p-retry']) expect(licences).toMatch(new RegExp(`^${name} \\d`, 'm'))
  expect(licences).toContain('Copyright (c) Matteo Collina and Undici contributors\n')
  const words = Array.from(licences.matchAll(/^Permission is hereby granted.*?^-----/gms), ([text]) =>
    text.replace(/\s+/g, ' '),
  )
  expect(words).toHaveLength(new Set(words).size) // several licences share them
})

test.for([['--help'], ['match', '--help']])(
  'the first screen of %j answers who in a log broke robots.txt',
  async (args) => {
    const { stdout } = await runInThisProcess(args)
    expect(stdout.split('\n').slice(0, 24).join('\n')).toMatch(/Who in my .*log broke robots\.txt/)
    expect(stdout).toContain('politely match --by-agent --robots robots.txt --urls access.log\n')
  },
)

test.for(QUESTIONS)('%s: %s has no mistake', ([, line]) => {
  const [name, ...args] = line.split(' ')
  const spec = commands.find((command) => command.name === name) as CommandSpec
  expect(() => parseCommand(spec, args, commands)).not.toThrow()
})

/** A class of the fetcher, and a function of undici. */
const NETWORK = /\bclass RobotsClient\b|\blazyllhttp\b/
/** A function of `@politely/core/usage`. */
const USAGE = /\bfunction robotsDirectives\b/

/**
 * Runs several command lines one after another, in one process, and prints what each of them loads. A
 * module is loaded once, so it counts for the first command line that needs it.
 */
const RUN_ALL = `
  import { registerHooks } from 'node:module'
  import { readFileSync } from 'node:fs'
  const [main, lines] = process.argv.slice(1)
  let loaded = ''
  registerHooks({
    load: (url, context, next) => {
      loaded += url + '\\n'
      if (url.startsWith('file:')) loaded += readFileSync(new URL(url))
      return next(url, context)
    },
  })
  const results = []
  for (const [n, line] of JSON.parse(lines).entries()) {
    loaded = ''
    process.argv = [process.execPath, main, ...line.split(' ')]
    await import(main + '?' + n)
    const found = { network: ${NETWORK}, usage: ${USAGE}, library: /file:.*\\/node_modules\\// }
    const names = Object.keys(found).filter((name) => found[name].test(loaded))
    results.push([line, process.exitCode, ...names])
  }
  process.stderr.write('\\n' + JSON.stringify(results))
`

test('a command loads the network code and the code about the use of pages only if it needs them', {
  tags: 'full',
}, async () => {
  const offline = '--robots /dev/null --user-agent ExampleBot'
  const expected = [
    ['--help', 0],
    ['--version', 0],
    ['check --help', 0],
    ['fetch --help', 0],
    ['cache --help', 0],
    ['crawl --help', 0],
    [`match ${offline}`, 0],
    ['check - --user-agent ExampleBot', 2, 'network'], // its stdin is empty
    [`check / ${offline}`, 0],
    [`explain / ${offline}`, 0],
    [`usage / ${offline}`, 0, 'usage'],
  ]
  const lines = JSON.stringify(expected.map(([line]) => line))
  const running = promisify(execFile)(process.execPath, ['--input-type=module', '--eval', RUN_ALL, MAIN, lines])
  running.child.stdin?.end()
  const results = (await running).stderr.split('\n').at(-1) ?? ''
  expect(JSON.parse(results)).toEqual(expected)
})

/** Imports the package, and prints its files, their bytes, and the modules of Node that it has loaded. */
const WEIGH = `
  import { registerHooks } from 'node:module'
  const sizes = []
  registerHooks({
    load: (url, context, next) => {
      const result = next(url, context)
      if (url.startsWith('file:')) sizes.push(result.source.length)
      return result
    },
  })
  const before = new Set(process.moduleLoadList)
  await import(process.argv[1])
  const builtIn = process.moduleLoadList.filter((name) => !before.has(name)).map((name) => name.split(' ').at(-1))
  console.log(JSON.stringify({ files: sizes.length, bytes: sizes.reduce((sum, size) => sum + size, 0), builtIn }))
`

// V8 compiles all bytes of a file, and a file takes as long as 20 kB.
test('the import of the package loads few files, and nothing that the first request needs', {
  tags: 'full',
}, async () => {
  const index = new URL('../dist/index.js', import.meta.url).href
  const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '--eval', WEIGH, index])
  const { files, bytes, builtIn } = JSON.parse(stdout)
  expect(files).toBeLessThanOrEqual(10)
  expect(bytes).toBeLessThanOrEqual(807_000)
  expect(builtIn).toContain('net')
  for (const name of ['crypto', 'dns', 'http', 'perf_hooks', 'tls', 'worker_threads', 'zlib'])
    expect(builtIn).not.toContain(name)
})

/** A program that has imported node:timers, and fakes timers as Sinon does before it imports the package. */
const FAKED = `
  import 'node:timers'
  process.on('warning', ({ code }) => {
    console.log(code)
    process.exit()
  })
  const timer = { unref: () => timer }
  globalThis.setTimeout = process.getBuiltinModule('node:timers').setTimeout = () => timer
  const { politely } = await import(process.argv[1])
  const fetch = politely(async () => new Response('User-agent: *\\nCrawl-delay: 9'), { userAgent: 'ExampleBot/1.0' })
  await fetch('http://a.test/1')
  await fetch('http://a.test/2')
`

test('fake timers from before the import do not stop the warning about them', { tags: 'full' }, async () => {
  const index = new URL('../dist/index.js', import.meta.url).href
  const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '--eval', FAKED, index])
  expect(stdout).toBe('POLITELY_FAKE_TIMERS\n')
})

test.for([
  [['--color'], {}, true],
  [['--no-color'], { FORCE_COLOR: '1' }, false],
  [[], { FORCE_COLOR: '1' }, true],
  [[], {}, false],
] as const)('explain with %j and %j prints colours: %s', async ([flags, env, isColoured]) => {
  const args = ['explain', '/', '--product-token', 'ExampleBot', '--robots', '/dev/null', ...flags]
  const { stdout } = await runInThisProcess(args, '', env)
  expect(stdout.includes('\u001b[')).toBe(isColoured)
})
