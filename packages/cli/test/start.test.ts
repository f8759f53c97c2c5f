// What is there without a question, and what it costs.
import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { politely } from './politely.ts'

const { version } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8'))

test('--version', async () => {
  expect(await politely(['--version'])).toEqual({ code: 0, stdout: `${version}\n`, stderr: '' })
})

test.for([['--help'], ['help', 'check'], ['check', '--help']])('%j lists the exit codes', async (args) => {
  const { code, stdout, stderr } = await politely(args)
  expect(stdout).toMatch(/^Usage: politely/)
  for (const exit of [0, 1, 2, 3, 70, 130]) expect(stdout).toMatch(new RegExp(`^  ${exit} +\\w`, 'm'))
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
})

const NETWORK = /\/undici\/|\/packages\/fetcher\//
const LOADED = `data:text/javascript,${encodeURIComponent(`
  import { registerHooks } from 'node:module'
  registerHooks({ load: (url, context, next) => { process.stderr.write(url + '\\n'); return next(url, context) } })
`)}`

test.for([['--help'], ['--version'], ['check', '--help'], ['match', '--robots', '/dev/null', '--agent', 'ExampleBot']])(
  '%j does not load the network',
  async (args) => {
    const { code, stderr } = await politely(args, { node: ['--import', LOADED] })
    expect(stderr).toContain('/commander/')
    expect(stderr).not.toMatch(NETWORK)
    expect(code).toBe(0)
  },
)

test('and it would be seen if it were loaded', async () => {
  const { stderr } = await politely(['check', '-', '--user-agent', 'ExampleBot'], { node: ['--import', LOADED] })
  expect(stderr).toMatch(NETWORK)
})
