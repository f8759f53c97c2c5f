// @module-tag nodes
// @module-tag process
// The server itself is tested in packages/server.
import { readFileSync, writeFileSync } from 'node:fs'
import { mkdtemp } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startsProcesses } from '@politely/testkit/scope'
import { expect, onTestFinished, test } from 'vitest'
import { exitCodeOf, runInThisProcess, startCli } from './run-cli.ts'

/** Starts a server, and returns its address when it listens. */
async function startServer(args: readonly string[]) {
  const child = startCli(['serve', '--user-agent', 'ExampleBot/1.0', '--port', '0', ...args])
  onTestFinished(() => {
    child.kill('SIGKILL')
  })
  let stderr = ''
  child.stderr.on('data', (chunk: Buffer) => {
    stderr += chunk
  })
  const said = async (text: RegExp) => {
    const until = Date.now() + 30_000
    for (;;) {
      const found = text.exec(stderr)
      if (found !== null) return found[1] ?? ''
      if (Date.now() > until) throw new Error(`${text} was not printed, but ${stderr}`)
      await new Promise((resolve) => setTimeout(resolve, 20))
    }
  }
  return { child, said, address: await said(/listens at (\S+) for ExampleBot/) }
}

test.runIf(startsProcesses)('serves permits until SIGTERM', async () => {
  const { child, address, said } = await startServer([])
  const headers = { 'content-type': 'application/json' }
  const body = '{"requests":[{"url":"http://127.0.0.1/"}]}'
  const response = await fetch(`${address}/v1/permits`, { method: 'POST', headers, body })
  expect(await response.json()).toMatchObject({ results: [{ state: 'refused', because: 'unreachable' }] })
  child.kill('SIGTERM')
  expect(await exitCodeOf(child)).toBe(0)
  await said(/stops: no permit is granted any more/)
})

test('reads its tokens again on SIGHUP, and keeps the old ones if the file is wrong', { tags: 'full' }, async () => {
  const folder = await mkdtemp(join(tmpdir(), 'politely-serve-'))
  const tokens = join(folder, 'tokens.txt')
  const tokenFor = async (name: string) => {
    const { stdout, stderr } = await runInThisProcess(['serve', 'token', name])
    return { token: stderr.trim().split('\n')[1], line: stdout }
  }
  const { token, line } = await tokenFor('search')
  writeFileSync(tokens, line)
  const { child, address, said } = await startServer(['--tokens', tokens, '--key', join(folder, 'permits.key')])
  const status = async (text: string | undefined) =>
    (await fetch(`${address}/metrics`, { headers: { authorization: `Bearer ${text}` } })).status
  expect([await status(token), await status('x')]).toEqual([200, 401])
  expect(Buffer.from(readFileSync(join(folder, 'permits.key'), 'utf8'), 'base64url').length).toBe(32)
  writeFileSync(tokens, 'nonsense')
  child.kill('SIGHUP')
  await said(/keeps the old tokens: (line 1 of the token file)/)
  expect(await status(token)).toBe(200)
  const other = await tokenFor('other')
  writeFileSync(tokens, other.line)
  child.kill('SIGHUP')
  await said(/has read (\S+) again/)
  expect([await status(token), await status(other.token)]).toEqual([401, 200])
})

test('reads several keys, and creates the first of them only', { tags: 'full' }, async () => {
  const folder = await mkdtemp(join(tmpdir(), 'politely-serve-'))
  const [first, second] = [join(folder, 'first.key'), join(folder, 'second.key')]
  const args = ['--user-agent', 'ExampleBot', '--port', '0', '--key', first, '--key', second]
  const { code, stderr } = await runInThisProcess(['serve', ...args])
  expect({ code, stderr }).toEqual({
    code: 2,
    stderr: expect.stringMatching(/--key: ".*second.key": there is no such file/),
  })
  writeFileSync(second, Buffer.alloc(32, 1).toString('base64'), { mode: 0o600 })
  const { said } = await startServer(['--key', first, '--key', second])
  await said(/listens at/)
})

test.for([
  [[], /--user-agent is missing/],
  [['--user-agent', 'ExampleBot', '--host', '0.0.0.0'], /--tokens is missing/],
  [['--user-agent', 'ExampleBot', '--port', 'x'], /--port: "x" is not a whole number/],
  [['--user-agent', 'ExampleBot', '--tls-cert', 'cert.pem'], /--tls-cert and --tls-key belong together/],
  [
    ['--user-agent', 'ExampleBot', '--tokens', '/nowhere'],
    /--tokens: "\/nowhere": there is no such file; create it, or write the name of another file/,
  ],
  [['--user-agent', 'ExampleBot', '--pacer', 'other'], /--pacer/],
  [['--user-agent', 'ExampleBot', '--pacer', 'postgres'], /--postgres is missing/],
  [
    ['--user-agent', 'ExampleBot', '--postgres', 'postgres://127.0.0.1/x'],
    /--postgres needs --pacer postgres or --store/,
  ],
  [['--user-agent', 'ExampleBot', '--store', 'postgres'], /--postgres is missing/],
  [['--user-agent', 'ExampleBot', '--store', './redis', '--redis', 'redis://127.0.0.1'], /--redis needs --pacer redis/],
  [
    ['--user-agent', 'ExampleBot', '--store', 'redis://me:secret@127.0.0.1'],
    /--store: "redis:\/\/127.0.0.1" is not a file; write redis with --redis/,
  ],
  ...[
    ...['redis://me:s3#secret@localhost', 'redis://me:3/secret@localhost', 'redis://me:secret%@localhost'],
    ...['redis://me:secret@localhost:x', 'me:3?secret@localhost'],
  ].map(
    (address) =>
      [
        ['--user-agent', 'ExampleBot', '--pacer', 'redis', '--redis', address],
        /^politely serve: --redis: the address is invalid; write one such as (?!.*secret)/,
      ] as const,
  ),
  [['--user-agent', 'ExampleBot', '--min-delay', '-1'], /--min-delay: "-1" is out of range/],
  [['--user-agent', 'ExampleBot', '--max-lease', 'x'], /--max-lease: "x" is out of range/],
  [['token'], /token needs the name of a caller/],
  [['token', 'a b'], /"a b" is not a name/],
] as const)('serve %j is a mistake', async ([args, message]) => {
  const { code, stdout, stderr } = await runInThisProcess(['serve', ...args])
  expect({ code, stdout }).toEqual({ code: 2, stdout: '' })
  expect(stderr).toMatch(message)
})
