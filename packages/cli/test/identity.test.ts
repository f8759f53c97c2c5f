// The checks themselves are tested in packages/web-bot-auth.
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { selfSigned } from '@politely/testkit/servers/self-signed'
import { type Sites, startSites } from '@politely/testkit/servers/sites'
import { beforeEach, expect, onTestFinished, test, vi } from 'vitest'
import { startDnsServer } from './dns-server.ts'
import { runInThisProcess } from './run-cli.ts'

const PTR = { '1.2.0.192.in-addr.arpa': 'one.crawl.bot.example', '2.2.0.192.in-addr.arpa': 'two.crawl.bot.example' }
const RECORDS = { ...PTR, 'one.crawl.bot.example': '192.0.2.1', 'two.crawl.bot.example': '192.0.2.2' }

let folder: string
let sites: Sites
const path = (name: string) => join(folder, name)
beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'politely-identity-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  sites = await startSites({ certificate: selfSigned('127.0.0.1') })
  onTestFinished(() => sites.close())
  const origin = sites.withPort('https://127.0.0.1:PORT')
  writeFileSync(
    path('bot.json'),
    JSON.stringify({
      name: 'Example Bot',
      productToken: 'ExampleBot',
      page: `${origin}/bot.html`,
      contact: 'bot@bot.example',
      purposes: ['search'],
      ranges: ['192.0.2.0/30'],
      hostNames: ['crawl.bot.example'],
      directory: origin,
    }),
  )
})

async function identity(...args: readonly string[]) {
  vi.stubEnv('NODE_TLS_REJECT_UNAUTHORIZED', '0') // until the end of the run
  const { code, stdout, stderr } = await runInThisProcess(['identity', ...args])
  const shown = (text: string) => text.replaceAll(folder, 'FOLDER').replaceAll(`127.0.0.1:${sites.port}`, 'bot.example')
  return { code, stdout: shown(stdout), stderr: shown(stderr) }
}

/** Serves what `init` has written, with the headers of its file for static hosts. */
function publish(change: Readonly<Record<string, (body: string) => string>> = {}): void {
  const date = new Date().toUTCString()
  const [, ...blocks] = readFileSync(path('public/_headers'), 'utf8').split(/^(?=\/)/m)
  for (const block of blocks) {
    const [name = '', ...lines] = block.trimEnd().split('\n')
    const headers = Object.fromEntries(lines.filter((line) => line !== '').map((line) => line.trim().split(/: (.*)/)))
    const body = readFileSync(path(`public${name}`), 'utf8')
    sites.respond(`https://127.0.0.1:PORT${name}`, {
      status: 200,
      headers: { date, ...headers },
      body: change[name]?.(body) ?? body,
    })
  }
}

async function init() {
  await runInThisProcess(['keys', 'new', path('bot.jwk')])
  return identity('init', path('bot.json'), '--key', path('bot.jwk'), '--output', path('public'))
}

async function check(records: Readonly<Record<string, string>>, ...more: readonly string[]) {
  const allowed = ['--allow-address', '127.0.0.1', '--allow-address', '192.0.2.0/24']
  const dns = ['--dns-server', await startDnsServer(records)]
  return identity('check', path('bot.json'), '--key', path('bot.jwk'), ...allowed, ...dns, ...more)
}

test('makes what a crawler publishes, and finds it in order', async () => {
  const { stdout, stderr, code } = await init()
  expect(stdout.replace(/until \S+/, 'until TIME;').replaceAll(/ +(?=https|the h)/g, '  ')).toBe(
    [
      'FOLDER/public/bot.html  https://bot.example/bot.html',
      'FOLDER/public/crawler-ranges.json  https://bot.example/crawler-ranges.json',
      'FOLDER/public/signature-agent-card.json  https://bot.example/signature-agent-card.json',
      'FOLDER/public/.well-known/http-message-signatures-directory  https://bot.example/.well-known/http-message-signatures-directory',
      'FOLDER/public/_headers  the headers of these files, for static hosts',
      '',
      'User-Agent  ExampleBot/1.0 (+https://bot.example/bot.html)',
      'valid       until TIME; run this again before',
      'then        politely identity check FOLDER/bot.json',
      '',
    ].join('\n'),
  )
  expect({ stderr, code }).toEqual({ stderr: '', code: 0 })
  publish()
  const checked = await check(RECORDS)
  expect(checked.stdout.replace(/[\w-]{43}/g, 'KEYID').replace(/until \S+/, 'until TIME')).toBe(
    [
      'ok    User-Agent  ExampleBot/1.0 (+https://bot.example/bot.html)',
      'ok    page        https://bot.example/bot.html names ExampleBot and bot@bot.example',
      'ok    robots.txt  https://bot.example/bot.html is allowed for ExampleBot and for other crawlers',
      'ok    IP ranges   https://bot.example/crawler-ranges.json has the 1 range of the identity file',
      'ok    DNS         2 of 2 addresses are confirmed, such as one.crawl.bot.example',
      'ok    card        https://bot.example/signature-agent-card.json says what the identity file says',
      'ok    directory   https://bot.example/.well-known/http-message-signatures-directory has 1 key',
      'ok    directory   key 1 (KEYID) is valid',
      'ok    directory   KEYID has signed it, until TIME',
      'ok    clock       this machine agrees with the Date of the responses',
      'everything works',
      '',
    ].join('\n'),
  )
  expect(checked.code).toBe(0)
})

test('names ten faults, each with what to do', async () => {
  await init()
  publish({
    '/bot.html': (html) => html.replaceAll('bot@bot.example', 'nobody'),
    '/crawler-ranges.json': (json) => json.replace('192.0.2.0/30', '192.0.2.64/30'),
    '/signature-agent-card.json': (json) => json.replace('"Example Bot"', '"Other"'),
    '/.well-known/http-message-signatures-directory': (json) => json.replace(/"kid":"[^"]+"/, '"kid":"old"'),
  })
  sites.respond('https://127.0.0.1:PORT/robots.txt', { status: 200, body: 'User-agent: *\nDisallow: /\n' })
  const records = { ...RECORDS, 'one.crawl.bot.example': '192.0.2.9', '2.2.0.192.in-addr.arpa': 'host.other.example' }
  const { stdout, code } = await check(records, '--user-agent', 'Mozilla/5.0')
  const faults = stdout.split('\n').filter((line) => /^(?:fail|warn) /.test(line))
  expect(faults.map((line) => /\(([a-z-]+)\)$/.exec(line)?.[1])).toEqual([
    'user-agent-without-token',
    'user-agent-without-page',
    'page-without-contact',
    'page-disallowed',
    'page-disallowed',
    'ranges-differ',
    'dns-not-confirmed',
    'dns-other-domain',
    'card-differs',
    'key-id',
    'signature-wrong',
  ])
  expect(faults[6]).toBe(
    'fail  DNS         not confirmed: 192.0.2.1 is one.crawl.bot.example, which leads to 192.0.2.9; add an A or AAAA record for each name, with the address of its PTR record (dns-not-confirmed)',
  )
  expect(stdout).toMatch(/^10 failed, 1 to look at$/m)
  expect(code).toBe(1)
})

test('a DNS server that does not answer proves nothing about the addresses', async () => {
  await init()
  publish()
  const args = ['check', path('bot.json'), '--allow-address', '127.0.0.1', '--allow-address', '192.0.2.0/24']
  const { stdout, code } = await identity(...args, '--dns-server', '127.0.0.1:9', '--timeout', '5')
  expect(stdout).toMatch(
    /^warn {2}DNS {9}no answer: the PTR record of 192\.0\.2\.1 \((?:ECONNREFUSED|ETIMEOUT)\); .* \(dns-failed\)$/m,
  )
  expect(code).toBe(0)
})

test('init replaces its files, and keeps a page that was edited', async () => {
  await init()
  writeFileSync(path('public/bot.html'), 'edited')
  const before = readFileSync(path('public/_headers'), 'utf8')
  const again = ['init', path('bot.json'), '--key', path('bot.jwk'), '--output', path('public'), '--valid', '3']
  expect((await identity(...again)).stdout).toMatch(/bot\.html +https:\S+ {2}kept as it is; --overwrite replaces it/)
  expect(readFileSync(path('public/bot.html'), 'utf8')).toBe('edited')
  expect(readFileSync(path('public/_headers'), 'utf8')).not.toBe(before)
  await identity(...again, '--overwrite')
  expect(readFileSync(path('public/bot.html'), 'utf8')).toMatch(/^<!doctype html>/)
  writeFileSync(path('public/_headers'), '/*\n  x-frame-options: DENY\n')
  const { code, stderr } = await identity(...again)
  expect({ code, stderr }).toEqual({
    code: 2,
    stderr:
      'politely: --output: "FOLDER/public/_headers" exists and is not of politely; write another folder, and copy the lines\n',
  })
})

test('init replaces an unedited page when the identity has changed', async () => {
  await init()
  const given = JSON.parse(readFileSync(path('bot.json'), 'utf8'))
  const again = ['init', path('bot.json'), '--key', path('bot.jwk'), '--output', path('public')]
  for (const contact of ['first@bot.example', 'second@bot.example']) {
    writeFileSync(path('bot.json'), JSON.stringify({ ...given, contact }))
    expect((await identity(...again)).stdout).not.toContain('kept')
    expect(readFileSync(path('public/bot.html'), 'utf8')).toContain(contact)
  }
  writeFileSync(path('public/bot.html'), readFileSync(path('public/bot.html'), 'utf8').replace('<h2>', '<h2 id="x">'))
  writeFileSync(path('bot.json'), JSON.stringify(given))
  for (const _ of [1, 2]) expect((await identity(...again)).stdout).toContain('kept as it is')
  expect(readFileSync(path('public/bot.html'), 'utf8')).toMatch(/<h2 id="x">[\s\S]*second@bot\.example/)
})

test('a crawler without signatures needs no key; several hosts have a folder each', async () => {
  const file = (fields: object) => {
    const { directory: _, ...own } = JSON.parse(readFileSync(path('bot.json'), 'utf8'))
    writeFileSync(path('other.json'), JSON.stringify({ ...own, ...fields }))
    return ['init', path('other.json'), '--output', path('other')]
  }
  const { stdout, code } = await identity(...file({ rangesUrl: 'https://ips.example/bot.json' }), '--json')
  expect(code).toBe(0)
  const { files, validUntil } = JSON.parse(stdout)
  expect(validUntil).toBeUndefined()
  expect(files.map(({ file: name }: { file: string }) => name.replace(/\d+(?=\/)/, 'PORT'))).toEqual([
    'FOLDER/other/127.0.0.1_PORT/bot.html',
    'FOLDER/other/127.0.0.1_PORT/_headers',
    'FOLDER/other/ips.example/bot.json',
    'FOLDER/other/ips.example/_headers',
  ])
})

test.for([
  [['init', 'BOT'], '--output: is missing'],
  [['init', 'BOT', '--output', 'OUT'], '--key: is missing, and https://bot.example/.well-known/'],
  [['init', 'BOT', '--output', 'OUT', '--key', '/nowhere'], '"/nowhere": there is no such file; politely keys new'],
  [['init', '/nowhere', '--output', 'OUT'], 'identity: "/nowhere": there is no such file'],
  [['check', 'BOT', '--dns-server', 'x'], '--dns-server: "x" is not an address; write one such as 9.9.9.9'],
  [['check', 'BOT', '--user-agent', 'Éclair'], '--user-agent: "Éclair" cannot be a header; write ASCII'],
  [['check', 'BOT', '--output', 'OUT'], '--output is an option of identity init, not of identity check'],
  [['check', 'BOT', 'BOT'], 'has no meaning here; leave it out'],
  [['check'], 'write politely identity check bot.json'],
  [[], 'write what to do: politely identity init|check'],
  [['chekc'], '"chekc" is not known; write politely identity check'],
] as const)('identity %j is a mistake', async ([args, message]) => {
  const names: Readonly<Record<string, string>> = { BOT: path('bot.json'), OUT: path('out') }
  const { code, stdout, stderr } = await identity(...args.map((arg) => names[arg] ?? arg))
  expect({ code, stdout }).toEqual({ code: 2, stdout: '' })
  expect(stderr).toContain(message)
})

test('names the field of an identity file that is wrong', async () => {
  writeFileSync(path('bot.json'), '{"name":"A","productToken":"A b"}')
  expect((await identity('check', path('bot.json'))).stderr).toBe(
    'politely: identity check FOLDER/bot.json: productToken: "A b" is not a product token; write letters, digits, "-" and "_" (RFC 9309 §2.2.1), such as "ExampleBot" (ERR_POLITELY_IDENTITY_FILE)\n',
  )
})

test('the steps of docs/identity.md in their order leave the headers of all files, and the page', async () => {
  vi.stubEnv('NODE_TLS_REJECT_UNAUTHORIZED', '0')
  const guide = readFileSync(new URL('../../../docs/identity.md', import.meta.url), 'utf8')
  const steps = guide.match(/\bpolitely (?:identity init|keys (?:new|directory|rotate)) [^`\n]+/g) ?? []
  expect(steps.map((step) => step.split(' ').slice(1, 3).join(' '))).toEqual([
    'keys new',
    'identity init',
    'keys new',
    'keys directory',
    'keys rotate',
    'keys directory',
  ])
  const origin = sites.withPort('https://127.0.0.1:PORT')
  const done = new Set<string>()
  const run = async (step: string) => {
    const args = step.replace('https://bot.example', origin).split(' ').slice(1)
    return runInThisProcess(args.map((each) => (/^(?:bot[\w.-]*|public)$/.test(each) ? path(each) : each)))
  }
  for (const step of steps) {
    if (!done.has(step)) expect(await run(step)).toMatchObject({ code: 0, stderr: '' })
    done.add(step)
    if (!done.has(steps[1] as string)) continue
    const paths = readFileSync(path('public/_headers'), 'utf8').match(/^\/.*/gm)
    expect(paths).toEqual([
      '/bot.html',
      '/crawler-ranges.json',
      '/signature-agent-card.json',
      '/.well-known/http-message-signatures-directory',
    ])
    publish()
    expect((await check(RECORDS)).stdout).toMatch(/^(?:everything works|0 failed, .*)$/m)
  }
  expect((await run(steps[1] as string)).stdout).not.toMatch(/kept/)
})

test('keeps lines of the headers that others have written, and the folders of several hosts', async () => {
  const own = '/*\n  x-frame-options: DENY'
  await init()
  writeFileSync(path('public/_headers'), `${readFileSync(path('public/_headers'), 'utf8')}\n# ours\n${own}\n`)
  const sign = (name: string) =>
    runInThisProcess([
      'keys',
      'directory',
      path('bot.jwk'),
      '--agent',
      name,
      '--output',
      path('public'),
      '--valid',
      '3',
    ])
  const before = readFileSync(path('public/_headers'), 'utf8')
  await sign(sites.withPort('https://127.0.0.1:PORT'))
  const after = readFileSync(path('public/_headers'), 'utf8')
  expect(after).not.toBe(before)
  const withoutSignature = (text: string) => text.replaceAll(/signature.*/gi, '')
  expect(withoutSignature(after)).toBe(withoutSignature(before))

  const given = JSON.parse(readFileSync(path('bot.json'), 'utf8'))
  writeFileSync(path('bot.json'), JSON.stringify({ ...given, directory: 'https://keys.example' }))
  rmSync(path('public'), { recursive: true })
  await identity('init', path('bot.json'), '--key', path('bot.jwk'), '--output', path('public'))
  expect((await sign('https://keys.example')).stdout).toContain(path('public/keys.example/_headers'))
})
