import { join } from 'node:path'
import { SqliteStore } from '@politely/sqlite'
import { holdRefusingPort } from '@politely/testkit/servers/refusing-port'
import { selfSigned } from '@politely/testkit/servers/self-signed'
import { startSites } from '@politely/testkit/servers/sites'
import { expect, onTestFinished, test, vi } from 'vitest'
import { checkClock } from '../src/commands/doctor/site.ts'
import { writeFiles } from './files.ts'
import { type Result, runInThisProcess } from './run-cli.ts'
import { originWithRules, originWithStatus } from './site.ts'

const path = writeFiles({ 'other.sqlite': 'this is not a database' })
const NAMED = ['--user-agent', 'ExampleBot/1.0 (+https://example.com/bot)']

/** Runs the doctor without the proxy variables of this machine. */
async function doctor(
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
  nodeOptions = ['--use-env-proxy'],
): Promise<Result> {
  using _ = vi.spyOn(process, 'allowedNodeEnvironmentFlags', 'get').mockReturnValue(new Set(nodeOptions))
  for (const name of ['http_proxy', 'https_proxy', 'all_proxy', 'no_proxy', 'node_use_env_proxy', 'politely_store']) {
    vi.stubEnv(name, env[name])
    vi.stubEnv(name.toUpperCase(), env[name.toUpperCase()])
  }
  return await runInThisProcess(['doctor', ...args])
}

test('without a URL it checks only this machine', async () => {
  const { code, stdout } = await doctor([...NAMED, '--store', path('new.sqlite')])
  expect(stdout.replaceAll(path('new.sqlite'), 'FILE')).toBe(
    [
      `ok    Node        ${process.versions.node}`,
      'ok    proxy       no proxy variable is set; requests go directly to the sites',
      'ok    crawler     robots.txt is read for ExampleBot',
      'ok    store       FILE does not exist yet; the first run creates it',
      'everything works; write politely doctor URL to check the way to a site',
      '',
    ].join('\n'),
  )
  expect(code).toBe(0)
})

test('opens a store and writes to it', async () => {
  await using store = new SqliteStore({ path: path('robots.sqlite') })
  await store.set('https://a.test', 'text', Date.now() + 60_000)
  const { stdout } = await doctor(['--store', path('robots.sqlite')])
  expect(stdout).toMatch(
    /^(ok {2}|warn) {2}store .*robots\.sqlite can be read and written: 1 origin, \d.* free on its disk/m,
  )
})

test('with a URL it checks the way to the site', async () => {
  const origin = await originWithRules('User-agent: *\nDisallow: /private\n', { date: new Date().toUTCString() })
  const { code, stdout } = await doctor([`${origin}/private`, ...NAMED])
  expect(
    stdout
      .replaceAll(origin, 'A')
      .replace(/after [\d.]+ m?s/, 'after TIME')
      .split('\n')
      .slice(4),
  ).toEqual([
    'ok    DNS         127.0.0.1 → 127.0.0.1: private; redirects from public sites to it are refused, unless you write --allow-address 127.0.0.1',
    'ok    connection  A/robots.txt responds with 200 after TIME',
    'ok    clock       agrees with the Date of the response',
    'warn  robots.txt  A/private is disallowed for ExampleBot: line 2 of robots.txt says "Disallow: /private" to *',
    '0 failed, 1 to look at',
    '',
  ])
  expect(code).toBe(0)
})

test.for([
  [['http://nosuchhost.invalid'], /^fail {2}DNS {9}nosuchhost\.invalid has no address \((?:ENOTFOUND|EAI_AGAIN)\); /m],
  [['--store', path('other.sqlite')], /^fail {2}store .* this file exists and is not an SQLite file/m],
  [['--store', join(path('none'), 'x.sqlite')], /^fail {2}store {7}the folder .* does not exist; create it first$/m],
  [
    ['--user-agent', '123', ...['--product-token', 'a b']],
    /^fail {2}crawler {5}"a b" is not a product token; write letters/m,
  ],
] as const)('doctor %j fails', async ([args, finding]) => {
  const { code, stdout } = await doctor(args)
  expect(stdout).toMatch(finding)
  expect(code).toBe(1)
})

test('says that no server listens', async () => {
  const { port, close } = await holdRefusingPort()
  onTestFinished(close)
  const { code, stdout } = await doctor([`http://127.0.0.1:${port}`])
  expect(stdout).toContain(`fail  connection  connect ECONNREFUSED 127.0.0.1:${port}; no server listens there; `)
  expect(code).toBe(1)
})

test('a page in place of robots.txt is a warning that says what to change', async () => {
  const { code, stdout } = await doctor([await originWithRules('<!doctype html><title>App</title>'), ...NAMED])
  expect(stdout).toMatch(/^warn {2}robots\.txt .* is allowed .* it is an HTML page; .* a single-page app should not /m)
  expect(code).toBe(0)
})

test('names the error of a certificate, and an unreachable robots.txt', async () => {
  const server = await startSites({ certificate: selfSigned('localhost') })
  onTestFinished(() => server.close())
  const tls = await doctor([server.withPort('https://localhost:PORT')])
  expect(tls.stdout).toMatch(
    /^fail {2}TLS {9}self-signed certificate.* \(DEPTH_ZERO_SELF_SIGNED_CERT\); to trust the certificate, set NODE_EXTRA_CA_CERTS=FILE$/m,
  )
  const lost = await doctor([await originWithStatus(503, { 'retry-after': '120' })])
  expect(lost.stdout).toMatch(
    /^fail {2}robots\.txt .* is disallowed for politely-doctor: robots\.txt is unreachable \(status 503\); the server asked to wait 120 s, until \S+Z; the site should send the file with status 200, or status 404 if it has none$/m,
  )
  expect([tls.code, lost.code]).toEqual([1, 1])
})

test.for([
  [
    { HTTPS_PROXY: 'http://u:p@proxy.test:1' },
    [],
    'warn  proxy       HTTPS_PROXY is http://proxy.test:1, but Node does not use it; set NODE_USE_ENV_PROXY=1, or write --proxy http://proxy.test:1',
  ],
  [
    { https_proxy: 'http://proxy.test:1', NODE_USE_ENV_PROXY: '1', NO_PROXY: 'a.test' },
    [],
    'ok    proxy       https_proxy: requests go through http://proxy.test:1, except to a.test (NO_PROXY); the proxy connects, so the network guard sees only names',
  ],
  [
    { HTTPS_PROXY: 'u:p@proxy.test:1' },
    [],
    'warn  proxy       HTTPS_PROXY is proxy.test:1, without http://, but Node does not use it; set HTTPS_PROXY=http://proxy.test:1 NODE_USE_ENV_PROXY=1, or write --proxy http://proxy.test:1',
  ],
  [
    { https_proxy: 'socks5://u:p@proxy.test:1' },
    [],
    'warn  proxy       https_proxy is socks5://proxy.test:1, but Node does not use it; write --proxy with the URL of an HTTP proxy, if there is one',
  ],
  [
    { ALL_PROXY: 'http://u:p@proxy.test:1', NODE_USE_ENV_PROXY: '1' },
    [],
    'warn  proxy       ALL_PROXY is http://proxy.test:1, but Node does not read it; set HTTPS_PROXY=http://proxy.test:1 HTTP_PROXY=http://proxy.test:1 NODE_USE_ENV_PROXY=1, or write --proxy http://proxy.test:1',
  ],
  [
    { all_proxy: 'socks5h://proxy.test:1' },
    [],
    'warn  proxy       all_proxy is socks5h://proxy.test:1, but Node does not read it; write --proxy with the URL of an HTTP proxy, if there is one',
  ],
  [
    { HTTPS_PROXY: 'http://proxy.test:1', NO_PROXY: 'a.test,127.0.0.1' },
    ['https://127.0.0.1:1/page'],
    'ok    proxy       HTTPS_PROXY is set, but NO_PROXY (a.test,127.0.0.1) excludes this site; requests go directly to it',
  ],
  [
    { HTTPS_PROXY: 'http://proxy.test:1' },
    ['http://127.0.0.1:1/page'],
    'ok    proxy       no proxy variable is set for this site; requests go directly to it',
  ],
  [
    { HTTP_PROXY: 'http://proxy.test:1' },
    ['https://127.0.0.1:1/page'],
    'warn  proxy       HTTP_PROXY is http://proxy.test:1, but Node does not use it; set NODE_USE_ENV_PROXY=1, or write --proxy http://proxy.test:1',
  ],
  [
    {},
    ['--proxy', 'http://u:p@proxy.test:1'],
    'ok    proxy       --proxy: all requests go through http://proxy.test:1',
  ],
] as const)(
  'with the variables %j and the flags %j, it says which way requests take',
  async ([env, flags, finding]) => {
    const { stdout } = await doctor([...NAMED, ...flags], env)
    expect(stdout.split('\n')[1]).toBe(finding)
  },
)

test('does not advise a variable that an older Node does not read', async () => {
  const { stdout } = await doctor(NAMED, { HTTPS_PROXY: 'http://proxy.test:1', NODE_USE_ENV_PROXY: '1' }, [])
  expect(stdout).toContain(
    'HTTPS_PROXY is http://proxy.test:1, but Node does not use it; write --proxy http://proxy.test:1',
  )
})

test.for([
  [
    ['--user-agent', 'Mozilla/5.0 (x)', '--product-token', 'ExampleBot'],
    'warn  crawler     the User-Agent "Mozilla/5.0 (x)" does not contain ExampleBot, so a site cannot tell which rules the crawler obeys; begin it with ExampleBot/1.0 (RFC 9309 §2.2.1)',
  ],
  [
    ['--user-agent', 'ExampleBot'],
    'ok    crawler     robots.txt is read for ExampleBot; a URL in the header, such as (+https://example.com/bot), tells a site whom to ask',
  ],
  [[], 'warn  crawler     --user-agent is missing; write the header that your crawler sends, to check it'],
] as const)('doctor %j checks the names of the crawler', async ([args, finding]) => {
  expect((await doctor(args)).stdout.split('\n')[2]).toBe(finding)
})

test('compares the clock with the Date of the response', () => {
  const now = Date.parse('2026-01-01T12:00:00Z')
  const at = (ms: number) => new Date(now + ms).toUTCString()
  expect(checkClock(at(30_000), now, now)).toMatchObject({ result: 'ok' })
  expect(checkClock(at(120_000), now, now).text).toMatch(/^this machine is 2 min behind the server/)
  expect(checkClock(at(-121_000), now, now).text).toMatch(/^this machine is 2 min ahead of the server/)
  expect(checkClock(null, now, now).text).toBe('the response has no Date, so the clock was not compared')
})

test('--json prints the findings', async () => {
  const { stdout } = await doctor([...NAMED, '--json'])
  expect(JSON.parse(stdout)).toMatchObject({ version: 1, findings: [{ check: 'Node', result: 'ok' }, {}, {}, {}] })
})
