// Help and version, and what they load.
import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { runCli } from './run-cli.ts'

const { version } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8'))

test('--version prints the version of the package', async () => {
  expect(await runCli(['--version'])).toEqual({ code: 0, stdout: `${version}\n`, stderr: '' })
})

test.for([['--help'], ['help', 'check'], ['check', '--help']])('%j lists the exit codes', async (args) => {
  const { code, stdout, stderr } = await runCli(args)
  expect(stdout).toMatch(/^(?:Usage: )?politely/)
  for (const exit of [0, 1, 2, 3, 70, 130, 141]) expect(stdout).toMatch(new RegExp(`^  ${exit} +\\w`, 'm'))
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
})

test('the bundle has the licences of the packages in it', () => {
  const licences = readFileSync(new URL('../bundle/LICENSES.txt', import.meta.url), 'utf8')
  for (const name of ['undici', 'tldts', 'p-retry']) expect(licences).toMatch(new RegExp(`^${name} \\d`, 'm'))
})

/** A class of the fetcher, and a function of undici. */
const NETWORK = /\bclass RobotsClient\b|\blazyllhttp\b/
const PRINT_LOADED_MODULES = `data:text/javascript,${encodeURIComponent(`
  import { registerHooks } from 'node:module'
  import { readFileSync } from 'node:fs'
  registerHooks({
    load: (url, context, next) => {
      process.stderr.write(url + '\\n')
      if (url.startsWith('file:')) process.stderr.write(readFileSync(new URL(url)))
      return next(url, context)
    },
  })
`)}`

test.for([
  ['--help'],
  ['--version'],
  ['check', '--help'],
  ['fetch', '--help'],
  ['cache', '--help'],
  ['crawl', '--help'],
  ['match', '--robots', '/dev/null', '--user-agent', 'ExampleBot'],
])('%j does not load the network code', async (args) => {
  const { code, stderr } = await runCli(args, { node: ['--import', PRINT_LOADED_MODULES] })
  expect(stderr).toContain('/program.js')
  expect(stderr).not.toMatch(NETWORK)
  expect(code).toBe(0)
})

/** A function of `@politely/core/usage`. */
const USAGE = /\bfunction robotsDirectives\b/

test.for([
  ['match', '--robots', '/dev/null', '--user-agent', 'ExampleBot'],
  ['check', '/', '--robots', '/dev/null', '--user-agent', 'ExampleBot'],
  ['explain', '/', '--robots', '/dev/null', '--user-agent', 'ExampleBot'],
])('%j does not load the code about the use of pages', async (args) => {
  const { code, stderr } = await runCli(args, { node: ['--import', PRINT_LOADED_MODULES] })
  expect(stderr).not.toMatch(USAGE)
  expect(code).toBe(0)
})

test('usage loads the code about the use of pages, and this test sees it', async () => {
  const args = ['usage', '/', '--robots', '/dev/null', '--user-agent', 'ExampleBot']
  expect((await runCli(args, { node: ['--import', PRINT_LOADED_MODULES] })).stderr).toMatch(USAGE)
})

test('check loads the network code, and this test sees it', async () => {
  const { stderr } = await runCli(['check', '-', '--user-agent', 'ExampleBot'], {
    node: ['--import', PRINT_LOADED_MODULES],
  })
  expect(stderr).toMatch(NETWORK)
  expect(stderr).not.toMatch(/file:.*\/node_modules\//)
})

test.for([
  [['--color'], {}, true],
  [['--no-color'], { FORCE_COLOR: '1' }, false],
  [[], { FORCE_COLOR: '1' }, true],
  [[], {}, false],
] as const)('explain with %j and %j prints colours: %s', async ([flags, env, isColoured]) => {
  const args = ['explain', '/', '--product-token', 'ExampleBot', '--robots', '/dev/null', ...flags]
  const { stdout } = await runCli(args, { env })
  expect(stdout.includes('\u001b[')).toBe(isColoured)
})
