// The directory itself is tested in packages/web-bot-auth.
import {
  chmodSync,
  chownSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { beforeEach, expect, onTestFinished, test } from 'vitest'
import { MAIN, runCli, runInThisProcess } from './run-cli.ts'

let folder: string
const path = (name: string) => join(folder, name)
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'politely-keys-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
})

async function keys(...args: readonly string[]) {
  const { code, stdout, stderr } = await runInThisProcess(['keys', ...args])
  return { code, stdout: stdout.replaceAll(folder, 'FOLDER'), stderr: stderr.replaceAll(folder, 'FOLDER') }
}
const json = (name: string) => JSON.parse(readFileSync(path(name), 'utf8'))

test('creates a key that only its owner may read, and never prints its private part', async () => {
  const { code, stdout, stderr } = await keys('new', path('bot.jwk'))
  const { d, kid } = json('bot.jwk')
  expect(stdout).toBe(
    `FOLDER/bot.jwk  a new key, which only you may read\n  keyid  ${kid}\n  next   publish it: politely keys directory FOLDER/bot.jwk --agent https://bot.example --output public\n`,
  )
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
  if (process.platform !== 'win32') expect(statSync(path('bot.jwk')).mode & 0o777).toBe(0o600)
  const shown = [
    await keys('new', path('b.jwk'), '--json'),
    await keys('directory', path('bot.jwk'), '--agent', 'https://bot.example'),
    await keys('directory', path('bot.jwk'), '--agent', 'https://bot.example', '--json'),
    await keys('directory', path('bot.jwk'), '--agent', 'https://bot.example', '--output', path('public')),
    await keys('rotate', path('bot.jwk'), path('bot-2.jwk'), '--json'),
  ]
  for (const file of ['b.jwk', 'bot.jwk', 'bot-2.jwk']) expect(JSON.stringify(shown)).not.toContain(json(file).d)
  expect(readFileSync(path('public/.well-known/http-message-signatures-directory'), 'utf8')).not.toContain(d)
})

test('never overwrites a key', async () => {
  await keys('new', path('bot.jwk'))
  const before = json('bot.jwk')
  const message = 'politely: "FOLDER/bot.jwk" exists, and a key is never overwritten; write the name of a new file\n'
  expect(await keys('new', path('bot.jwk'))).toEqual({ code: 2, stdout: '', stderr: message })
  expect(await keys('rotate', path('bot.jwk'), path('bot.jwk'))).toEqual({ code: 2, stdout: '', stderr: message })
  expect(json('bot.jwk')).toEqual(before)
})

test('rotates: says when to sign with which key, and publishes both until then', async () => {
  await keys('new', path('bot.jwk'))
  const { stdout } = await keys('rotate', path('bot.jwk'), path('bot-2.jwk'), '--lead', '2', '--overlap', '10')
  const [old, next] = [json('bot.jwk'), json('bot-2.jwk')]
  expect(old.exp - next.nbf).toBe(10 * 86_400)
  const iso = (seconds: number) => new Date(seconds * 1000).toISOString().replace('.000', '')
  expect(stdout).toContain(`  from ${iso(next.nbf)}  sign with FOLDER/bot-2.jwk\n`)
  expect(stdout).toContain(`  from ${iso(old.exp)}  publish without FOLDER/bot.jwk, and delete it\n`)
  if (process.platform !== 'win32')
    for (const name of ['bot.jwk', 'bot-2.jwk']) expect(statSync(path(name)).mode & 0o777).toBe(0o600)
  const both = [path('bot.jwk'), path('bot-2.jwk')]
  const { kids } = JSON.parse((await keys('directory', ...both, '--agent', 'https://bot.example', '--json')).stdout)
  expect(kids).toEqual([old.kid, next.kid])
})

test.skipIf(process.platform === 'win32')('a rotation that cannot write the old key changes nothing', async () => {
  mkdirSync(path('locked'))
  await keys('new', path('locked/bot.jwk'))
  const before = json('locked/bot.jwk')
  chmodSync(path('locked/bot.jwk'), 0o400)
  chmodSync(path('locked'), 0o555)
  const isRoot = process.getuid?.() === 0
  if (isRoot) for (const name of ['.', 'locked/bot.jwk']) chownSync(path(name), 65_534, 65_534)
  if (isRoot) process.seteuid?.(65_534) // root may write every file
  try {
    expect(await keys('rotate', path('locked/bot.jwk'), path('bot-2.jwk'))).toEqual({
      code: 2,
      stdout: '',
      stderr:
        'politely: "FOLDER/locked/bot.jwk" cannot be written (EACCES); permission was denied; change the permissions, or write another name\n',
    })
    expect(json('locked/bot.jwk')).toEqual(before)
    expect(existsSync(path('bot-2.jwk'))).toBe(false)
  } finally {
    if (isRoot) process.seteuid?.(0)
    chmodSync(path('locked'), 0o755)
  }
  chmodSync(path('locked/bot.jwk'), 0o600)
  expect(await keys('rotate', path('locked/bot.jwk'), path('bot-2.jwk'))).toMatchObject({ code: 0 })
})

test('writes the directory for a static host', async () => {
  await keys('new', path('bot.jwk'))
  const where = ['--agent', 'https://bot.example', '--output', path('public')]
  const { stdout } = await keys('directory', path('bot.jwk'), ...where)
  expect(stdout).toMatch(
    /^FOLDER\/public\/\.well-known\/http-message-signatures-directory {2}for https:\/\/bot\.example\/\.well-known\/http-message-signatures-directory\nFOLDER\/public\/_headers\n {2}keys {3}\S+\n {2}valid {2}until \S+Z; sign again before\n/,
  )
  expect(readFileSync(path('public/_headers'), 'utf8')).toMatch(
    /^# Written by politely: .*\n\/\.well-known\/http-message-signatures-directory\n {2}content-type: application\/http-message-signatures-directory\+json\n {2}cache-control: public, max-age=3600, no-transform\n {2}content-digest: sha-256=:.*\n {2}signature-input: key1=\("@authority";req "content-digest"\);created=\d+;expires=\d+;keyid="[\w-]+";alg="ed25519";tag="http-message-signatures-directory"\n {2}signature: key1=:.*:\n$/,
  )
})

test('writes no directory over the headers', async () => {
  await keys('new', path('bot.jwk'))
  const agent = 'https://bot.example/_headers'
  const { code, stderr } = await keys('directory', path('bot.jwk'), '--agent', agent, '--output', path('public'))
  expect({ code, stderr }).toEqual({
    code: 2,
    stderr: `politely: --output: ${agent} would replace the headers; write another URL\n`,
  })
  expect(existsSync(path('public'))).toBe(false)
})

test('check names what cannot be reached, and exits with 1', async () => {
  const { code, stdout } = await keys('check', 'https://127.0.0.1:9')
  expect(stdout).toMatch(
    /^fail {2}directory {3}https:\/\/127\.0\.0\.1:9\/\S+ is not public: .*; publish it at a public address; .* \(directory-unreachable\)\n1 failed, 0 to look at\n$/,
  )
  expect(code).toBe(1)
  const { findings } = JSON.parse((await keys('check', 'https://127.0.0.1:9', '--json')).stdout)
  expect(findings).toEqual([expect.objectContaining({ code: 'directory-unreachable', result: 'fail' })])
})

test.skipIf(process.platform === 'win32')('refuses a key that others may read', async () => {
  await keys('new', path('bot.jwk'))
  chmodSync(path('bot.jwk'), 0o644)
  const { code, stderr } = await keys('directory', path('bot.jwk'), '--agent', 'https://bot.example')
  expect(code).toBe(2)
  expect(stderr).toBe(
    'politely: keys directory: "FOLDER/bot.jwk": others may open it (mode 644); write chmod 600 FOLDER/bot.jwk, and replace the key by politely keys rotate if somebody has read it (ERR_POLITELY_KEY_FILE)\n',
  )
})

test.for([
  [[], 'write what to do: politely keys new|rotate|directory|check'],
  [['new'], 'write politely keys new bot.jwk'],
  [['new', 'NONE/bot.jwk'], 'its folder does not exist, so create it first'],
  [['new', 'KEY', '--lead', '1'], '--lead is an option of keys rotate, not of keys new'],
  [['new', 'KEY', '--valid', '0'], '--valid: "0" is out of range; write days from 1 to 3650'],
  [['rotate', 'KEY'], 'write politely keys rotate bot.jwk bot-2.jwk'],
  [['directory', 'KEY'], '--agent: is missing'],
  [['directory', 'KEY', '--agent', 'http://bot.example'], 'is not the https: URL of a key set'],
  [['directory', 'KEY', '--agent', 'https://bot.example', '--valid', '100'], '--valid: "100" is out of range'],
  [
    ['directory', 'NONE', '--agent', 'https://bot.example'],
    'there is no such file; politely keys new FILE creates one',
  ],
  [['check', 'bot.example'], 'is not the https: URL of a key set'],
  [['check', 'https://bot.example', '--timeout', 'x'], '--timeout: "x" is out of range'],
  [['check', 'https://bot.example', '--allow-address', 'x'], '--allow-address: "x" is neither'],
] as const)('keys %j is a mistake', async ([args, message]) => {
  await keys('new', path('bot.jwk'))
  const names: Readonly<Record<string, string>> = { KEY: path('bot.jwk'), NONE: path('none') }
  const given = args.map((arg) => names[arg] ?? arg.replace('NONE', path('none')))
  const { code, stdout, stderr } = await keys(...given)
  expect({ code, stdout }).toEqual({ code: 2, stdout: '' })
  expect(stderr).toContain(message)
})

test('says what to install if the package is missing', { tags: 'full' }, async () => {
  cpSync(dirname(MAIN), path('bundle'), { recursive: true })
  cpSync(join(dirname(MAIN), '../package.json'), path('package.json'))
  for (const args of [
    ['keys', 'new', path('bot.jwk')],
    ['identity', 'check', path('bot.json')],
  ]) {
    const { code, stderr } = await runCli(args, { main: path('bundle/main.js') })
    expect({ code, stderr }).toEqual({
      code: 2,
      stderr:
        'politely: @politely/web-bot-auth is not installed next to politely; write npm install @politely/web-bot-auth (with --global if politely is global)\n',
    })
  }
  expect(existsSync(path('bot.jwk'))).toBe(false)
})
