// What an operator publishes, served on loopback with one fault at a time.
import { createHash, sign } from 'node:crypto'
import { readPage } from '@politely/testkit/doc-page'
import { lookupIn } from '@politely/testkit/servers/lookup'
import { holdRefusingPort } from '@politely/testkit/servers/refusing-port'
import { selfSigned } from '@politely/testkit/servers/self-signed'
import { type Reply, type Sites, startSites } from '@politely/testkit/servers/sites'
import { afterAll, beforeAll, beforeEach, expect, onTestFinished, test, vi } from 'vitest'
import { FILES, REQUEST_SENTENCES, SENTENCES } from '../src/operator/finding.ts'
import {
  checkDirectory,
  checkIdentity,
  createKey,
  type DnsResolver,
  type Finding,
  type FindingCode,
  type Identity,
  identityFiles,
  type OwnKey,
  parseIdentity,
  signDirectory,
} from '../src/operator/index.ts'
import { otherSpelling } from './key-server.ts'
import { testKeys } from './vectors.ts'

const DAY_MS = 86_400_000
const LOCAL = {
  lookup: lookupIn(),
  // The ranges of documentation are public here.
  allowAddresses: ['127.0.0.0/8', '192.0.2.0/24', '2001:db8::/32'],
}
const KEYS = '/.well-known/http-message-signatures-directory'

/** Answers from a table: PTR records of addresses, and the addresses of names. */
function dnsOf(names: Readonly<Record<string, string>>, addresses: Readonly<Record<string, string>>): DnsResolver {
  const answer = async (table: Readonly<Record<string, string>>, name: string) => {
    const found = table[name]
    if (found !== undefined && !/^E[A-Z]+$/.test(found)) return [found]
    throw Object.assign(new Error(name), { code: found ?? 'ENOTFOUND' })
  }
  const forward = (name: string) => answer(addresses, name)
  return { resolvePtr: (name) => answer(names, name), resolve4: forward, resolve6: forward }
}

const PTR = {
  '1.2.0.192.in-addr.arpa': 'one.crawl.bot.test',
  '2.2.0.192.in-addr.arpa': 'two.crawl.bot.test',
  '1.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.8.b.d.0.1.0.0.2.ip6.arpa': 'six.crawl.bot.test',
}
const HOSTS = {
  'one.crawl.bot.test': '192.0.2.1',
  'two.crawl.bot.test': '192.0.2.2',
  'six.crawl.bot.test': '2001:db8:0::1',
}

let key: OwnKey
let sites: Sites
beforeAll(async () => {
  sites = await startSites({ certificate: selfSigned('bot.test') })
  key = await createKey(Date.now() - 1000)
})
afterAll(() => sites.close())
beforeEach(() => {
  vi.stubEnv('NODE_TLS_REJECT_UNAUTHORIZED', '0')
  onTestFinished(() => void vi.unstubAllEnvs())
})

/** How a test changes what is published, apart from the faults in one file. */
interface Published {
  readonly identity: Identity
  /** Changes the response at a path. */
  serve(path: string, change: (reply: { status: number; headers: Record<string, string>; body: string }) => Reply): void
}

function identityFor(fields: object = {}): Identity {
  return parseIdentity(
    JSON.stringify({
      name: 'Example Bot',
      productToken: 'ExampleBot',
      page: sites.withPort('https://bot.test:PORT/bot.html'),
      contact: 'bot@bot.test',
      purposes: ['search'],
      ranges: ['192.0.2.0/30', '2001:db8::1/128'],
      hostNames: ['crawl.bot.test'],
      directory: sites.withPort('https://bot.test:PORT'),
      ...fields,
    }),
  )
}

/** Publishes all that `identityFiles` makes. */
async function publish(identity = identityFor()): Promise<Published> {
  const { files } = await identityFiles(identity, { keys: [key] })
  sites.respond('https://bot.test:PORT/robots.txt') // as if no test had set it
  const at = (path: string) => `https://bot.test:PORT${path}`
  const date = () => new Date().toUTCString()
  for (const { url, headers, body } of files)
    sites.respond(at(new URL(url).pathname), { status: 200, headers: { date: date(), ...headers }, body })
  return {
    identity,
    serve(path, change) {
      const file = files.find(({ url }) => new URL(url).pathname === path)
      const reply = { status: 200, headers: { date: date(), ...file?.headers }, body: file?.body ?? '' }
      sites.respond(at(path), change(reply))
    },
  }
}

async function findingsOf(identity: Identity, dns = dnsOf(PTR, HOSTS)): Promise<readonly Finding[]> {
  const findings: Finding[] = []
  for await (const finding of checkIdentity(identity, { ...LOCAL, kids: [key.kid], resolver: dns }))
    findings.push(finding)
  return findings
}

const faultsIn = (findings: readonly Finding[]) => findings.filter(({ result }) => result !== 'ok')

test('everything that init makes passes', async () => {
  const { identity } = await publish()
  const findings = await findingsOf(identity)
  expect(findings.map(({ result, code }) => `${result} ${code}`)).toEqual([
    'ok user-agent-ok',
    'ok page-ok',
    'ok page-allowed',
    'ok ranges-ok',
    'ok dns-ok',
    'ok card-ok',
    'ok directory-ok',
    'ok key-ok',
    'ok signature-ok',
    'ok clock-ok',
  ])
})

test.for(["o'brien@bot.test", 'a&b+c@bot.test', 'https://bot.test/form?a=1&b=2', 'https://bot.test/"<x>'])(
  'the page of init passes with the contact %s',
  async (contact) => {
    const { identity } = await publish(identityFor({ contact }))
    expect(faultsIn(await findingsOf(identity))).toEqual([])
  },
)

test.for([
  'ExampleBot/1.0: write to bot&#x40;bot&period;test.',
  '<b>ExampleBot</b> <a href="mailto:bot%40bot.test">mail</a>',
  'ExampleBot <script>"<!--"; write("bot@bot.test")</script>',
  '<style>a{}</style><!-- a --><!-- b -->ExampleBot, ("bot@bot.test")',
  'ExampleBotは bot&commat;bot.test',
  'Example<!-- a -->Bot <!-- b --!> bot@bot.test',
  'İİİİİİİİ<!-- İ -->ExampleBot bot@bot.test <SCRIPT>"<!--"</Script>',
])('a page may say %s', async (text) => {
  const { identity, serve } = await publish()
  serve('/bot.html', html(`<link rel="client-ranges" href=x> ${text}`))
  expect(faultsIn(await findingsOf(identity))).toEqual([])
})

const html = (text: string) => () => ({ status: 200, headers: { 'content-type': 'text/html' }, body: text })
const json = (value: unknown) => () => ({
  status: 200,
  headers: { 'content-type': 'application/json', date: new Date().toUTCString() },
  body: JSON.stringify(value),
})
const status =
  (code: number, headers = {}) =>
  () => ({ status: code, headers })
const TIME = '2026-01-01T00:00:00.000000'
const PREFIXES = [{ ipv4Prefix: '192.0.2.0/30' }, { ipv6Prefix: '2001:db8::1/128' }]

/** Returns another identity to check, or nothing. */
type Fault = (published: Published) => unknown
const at =
  (path: string, change: Parameters<Published['serve']>[1]): Fault =>
  ({ serve }) =>
    serve(path, change)
/** Serves another directory: signed otherwise, or changed afterwards. */
const directory =
  (sign: Partial<Parameters<typeof signDirectory>[0]>, change: (text: string) => string = (text) => text): Fault =>
  async ({ identity, serve }) => {
    const signed = await signDirectory({ keys: [key], agent: identity.directory as string, ...sign })
    serve(KEYS, ({ headers }) => ({
      status: 200,
      headers: { ...headers, ...signed.headers },
      body: change(signed.body),
    }))
  }
const header = (name: string, change: (value: string) => string): Fault =>
  at(KEYS, (reply) => ({ ...reply, headers: { ...reply.headers, [name]: change(reply.headers[name] ?? '') } }))

const DEEP = '['.repeat(20_000) + ']'.repeat(20_000)
/** Node 26 writes JSON of any depth, and its beginning is shown; earlier versions overflow the stack. */
const DEEP_TEXT = String.raw`(JSON that is nested too deep to show|\[{200})`

const CODES = new Set(
  [
    ...Object.values(SENTENCES).flatMap((rows) => Object.keys(rows)),
    ...Object.keys(FILES).flatMap((kind) => Object.keys(REQUEST_SENTENCES).map((row) => `${kind}-${row}`)),
  ].map((row) => row.replace(/\/.*/, '')),
)

/** What is wrong, the code of the finding, its result, what it says, and the remedy. */
const FAULTS: readonly (readonly [
  what: string,
  code: FindingCode,
  result: 'fail' | 'warn',
  text: RegExp,
  remedy: RegExp,
  fault: Fault,
])[] = [
  [
    'the User-Agent has another name',
    'user-agent-without-token',
    'fail',
    /"ExampleBotPlus\/1.0 \S+ does not have ExampleBot in it/,
    /^send ExampleBot\/1\.0 \(\+https/,
    ({ identity }) => ({ ...identity, userAgent: `ExampleBotPlus/1.0 (+${identity.page})` }),
  ],
  [
    'the User-Agent has no URL',
    'user-agent-without-page',
    'warn',
    /does not have the URL of your page/,
    /^add \(\+https/,
    ({ identity }) => ({ ...identity, userAgent: 'ExampleBot/1.0' }),
  ],
  ['the page is missing', 'page-status', 'fail', /has status 404/, /^put the file of/, at('/bot.html', status(404))],
  [
    'the page moved',
    'page-status',
    'fail',
    /has status 301, to \/other/,
    /^serve it at this URL itself/,
    at('/bot.html', status(301, { location: '/other' })),
  ],
  [
    'the page needs a login',
    'page-status',
    'fail',
    /status 403/,
    /^let every visitor have it/,
    at('/bot.html', status(403)),
  ],
  [
    'the page is plain text',
    'page-not-html',
    'fail',
    /Content-Type: text\/plain/,
    /^send Content-Type: text\/html/,
    at('/bot.html', (reply) => ({ ...reply, headers: { 'content-type': 'text/plain' } })),
  ],
  [
    'the page has another name',
    'page-without-token',
    'fail',
    /does not say the name ExampleBot/,
    /ExampleBot/,
    at('/bot.html', html('bot@bot.test <link rel=client-ranges href=x>')),
  ],
  [
    'the page has no contact',
    'page-without-contact',
    'fail',
    /does not have the contact bot@bot\.test/,
    /^write it there/,
    at('/bot.html', html('ExampleBot <link rel="client-ranges" href=x>')),
  ],
  ...(
    [
      ['page-without-token', '<!-- ExampleBot --> bot@bot.test'],
      ['page-without-token', '<p>a<!--> b <!-- ExampleBot'],
      ['page-without-token', 'NotExampleBot ExampleBotPlus ExampleBot-News my-ExampleBot bot@bot.test'],
      ['page-without-contact', 'ExampleBot <!-- bot@bot.test -->'],
      [
        'page-without-contact',
        'ExampleBot notbot@bot.test bot@bot.test.evil bot@bot.tests a.bot@bot.test bot@botxtest',
      ],
    ] as const
  ).map(
    ([code, text]) =>
      [`the page is ${JSON.stringify(text)}`, code, 'fail', /does not/, /\w/, at('/bot.html', html(text))] as const,
  ),
  [
    'the page links the ranges in a comment',
    'page-without-ranges-link',
    'warn',
    /does not link the IP ranges/,
    /<link rel="client-ranges"/,
    at('/bot.html', html('ExampleBot bot@bot.test <!-- <link rel="client-ranges" href=x> -->')),
  ],
  [
    'the page does not link the ranges',
    'page-without-ranges-link',
    'warn',
    /does not link the IP ranges/,
    /<link rel="client-ranges"/,
    at('/bot.html', html('ExampleBot bot@bot.test')),
  ],
  [
    'robots.txt keeps strangers from the page',
    'page-disallowed',
    'fail',
    /for other crawlers disallowed: line 4/,
    /Allow: \/bot\.html/,
    at('/robots.txt', () => ({ status: 200, body: 'User-agent: ExampleBot\nAllow: /\nUser-agent: *\nDisallow: /\n' })),
  ],
  [
    'robots.txt keeps the crawler from its own page',
    'page-disallowed',
    'fail',
    /for ExampleBot disallowed/,
    /Allow: \/bot\.html/,
    at('/robots.txt', () => ({ status: 200, body: 'User-agent: ExampleBot\nDisallow: /bot\n' })),
  ],
  [
    'robots.txt is unreachable',
    'page-disallowed',
    'fail',
    /robots\.txt is unreachable \(status 503\)/,
    /^send the robots\.txt with status 200/,
    at('/robots.txt', status(503, { 'retry-after': '60' })),
  ],
  ['the ranges are missing', 'ranges-status', 'fail', /status 404/, /init/, at('/crawler-ranges.json', status(404))],
  [
    'the ranges are no JSON',
    'ranges-not-json',
    'fail',
    /is not a JSON object with a list "prefixes": the server sent a web page/,
    /init/,
    at('/crawler-ranges.json', html('<!doctype html>')),
  ],
  [
    'a range is invalid',
    'ranges-invalid',
    'fail',
    /entry 1 .* is not a range: \{"ipv4Prefix":"192.0.2.0\/33"\}/,
    /init/,
    at('/crawler-ranges.json', json({ creationTime: TIME, prefixes: [{ ipv4Prefix: '192.0.2.0/33' }] })),
  ],
  [
    'a range is nested deep',
    'ranges-invalid',
    'fail',
    new RegExp(`entry 1 .* is not a range: ${DEEP_TEXT}`),
    /init/,
    at('/crawler-ranges.json', (reply) => ({ ...reply, body: `{"prefixes":[${DEEP}]}` })),
  ],
  [
    'the creation time is nested deep',
    'ranges-time',
    'warn',
    /creationTime .* is an object of type Array/,
    /the UTC time/,
    at('/crawler-ranges.json', ({ body, ...reply }) => ({
      ...reply,
      body: body.replace(/"creationTime": *"[^"]*"/, `"creationTime":${DEEP}`),
    })),
  ],
  [
    'a range begins in its middle',
    'ranges-invalid',
    'fail',
    /its first address is 192\.0\.2\.0\/30/,
    /init/,
    at('/crawler-ranges.json', json({ creationTime: TIME, prefixes: [{ ipv4Prefix: '192.0.2.2/30' }] })),
  ],
  [
    'a range is private',
    'ranges-private',
    'fail',
    /10\.0\.0\.0\/8 .* is not public/,
    /the addresses that sites see/,
    at('/crawler-ranges.json', json({ creationTime: TIME, prefixes: [...PREFIXES, { ipv4Prefix: '10.0.0.0/8' }] })),
  ],
  ...[
    '8.0.0.0/6',
    '160.0.0.0/4',
    '172.0.0.0/8',
    '192.168.0.0/15',
    '100.0.0.0/8',
    '0.0.0.0/0',
    '168.63.128.0/22',
    '192.31.192.0/20',
  ].map(
    (range) =>
      [
        `the range ${range} has private addresses inside`,
        'ranges-private',
        'fail',
        /is not public/,
        /the addresses that sites see/,
        at('/crawler-ranges.json', json({ creationTime: TIME, prefixes: [...PREFIXES, { ipv4Prefix: range }] })),
      ] as const,
  ),
  ...['2000::/3', '2001::/16', '::/0', '2000::/14'].map(
    (range) =>
      [
        `the range ${range} has private addresses inside`,
        'ranges-private',
        'fail',
        /is not public/,
        /the addresses that sites see/,
        at('/crawler-ranges.json', json({ creationTime: TIME, prefixes: [...PREFIXES, { ipv6Prefix: range }] })),
      ] as const,
  ),
  ...(
    [
      ['page', '/bot.html'],
      ['ranges', '/crawler-ranges.json'],
      ['card', '/signature-agent-card.json'],
      ['directory', KEYS],
    ] as const
  ).map(
    ([kind, path]) =>
      [
        `${path} has a Content-Encoding`,
        `${kind}-encoded`,
        'fail',
        /has Content-Encoding: gzip, which was not asked for/,
        /^send it as it is/,
        at(path, (reply) => ({ ...reply, headers: { ...reply.headers, 'content-encoding': 'gzip' } })),
      ] as const,
  ),
  [
    'a range is missing, and another one is there',
    'ranges-differ',
    'fail',
    /2001:db8::1\/128 is not in .*; 192\.0\.2\.64\/28 is only there/,
    /init/,
    at('/crawler-ranges.json', json({ creationTime: TIME, prefixes: [PREFIXES[0], { ipv4Prefix: '192.0.2.64/28' }] })),
  ],
  [
    'the ranges were made in the future',
    'ranges-time',
    'warn',
    /creationTime .* is "2999/,
    /the UTC time/,
    at('/crawler-ranges.json', json({ creationTime: '2999-01-01T00:00:00', prefixes: PREFIXES })),
  ],
  [
    'there are no ranges',
    'ranges-none',
    'warn',
    /has no ranges/,
    /write "ranges"/,
    async () => (await publish(identityFor({ ranges: [], hostNames: [] }))).identity,
  ],
  [
    'the card is of another crawler',
    'card-differs',
    'fail',
    /client_name is "Other", not "Example Bot"; web_bot_auth\.expected-user-agent is missing/,
    /init/,
    at('/signature-agent-card.json', ({ body, ...reply }) => ({
      ...reply,
      body: JSON.stringify({ ...JSON.parse(body), client_name: 'Other', web_bot_auth: {} }),
    })),
  ],
  ['the card is missing', 'card-status', 'fail', /status 404/, /init/, at('/signature-agent-card.json', status(404))],
  [
    'the card is nested deep',
    'card-differs',
    'fail',
    new RegExp(`client_name is ${DEEP_TEXT}, not`),
    /init/,
    at('/signature-agent-card.json', (reply) => ({ ...reply, body: `{"client_name":${DEEP}}` })),
  ],
  [
    'the card is no JSON',
    'card-not-json',
    'fail',
    /not a JSON object/,
    /init/,
    at('/signature-agent-card.json', json([])),
  ],
  [
    'the card is a web page',
    'card-not-json',
    'fail',
    /not a JSON object: the server sent a web page/,
    /init/,
    at('/signature-agent-card.json', html('<!doctype html>')),
  ],
  ['the directory is missing', 'directory-status', 'fail', /status 404/, /init/, at(KEYS, status(404))],
  [
    'the directory is behind a challenge',
    'directory-status',
    'fail',
    /status 503/,
    /without login or challenge/,
    at(KEYS, status(503)),
  ],
  [
    'the directory redirects',
    'directory-status',
    'fail',
    /status 302, to https:\/\/www\.bot\.test/,
    /follows no redirect/,
    at(KEYS, status(302, { location: 'https://www.bot.test/keys' })),
  ],
  [
    'the directory has another media type',
    'directory-media-type',
    'fail',
    /Content-Type: application\/json/,
    /^send Content-Type: application\/http-message/,
    header('content-type', () => 'application/json'),
  ],
  ['the directory is no JSON', 'directory-not-json', 'fail', /is not JSON/, /keys directory/, directory({}, () => '{')],
  [
    'the directory is a web page',
    'directory-not-json',
    'fail',
    /list "keys": the server sent a web page/,
    /keys directory/,
    directory({}, () => '<!doctype html>'),
  ],
  [
    'the directory is empty',
    'directory-empty',
    'fail',
    /has no key/,
    /keys directory/,
    directory({}, () => '{"keys":[]}'),
  ],
  [
    'the directory has no Cache-Control',
    'directory-cache',
    'warn',
    /no Cache-Control with max-age/,
    /max-age=3600/,
    header('cache-control', () => 'public'),
  ],
  [
    'the directory may be kept for a month',
    'directory-cache',
    'warn',
    /for 2592000 s/,
    /max-age=3600/,
    header('cache-control', () => 'max-age=2592000'),
  ],
  [
    'the private key is published',
    'directory-private-key',
    'fail',
    /is a private key, which anyone can sign with/,
    /^remove it at once/,
    directory({}, (text) => text.replace('"kid"', `"d":"${key.d}","kid"`)),
  ],
  [
    'a key is not Ed25519',
    'key-invalid',
    'fail',
    /key 1 is not a public Ed25519 key \(kty "RSA"/,
    /politely keys new/,
    directory({}, () => JSON.stringify({ keys: [{ kty: 'RSA', n: 'AQAB', e: 'AQAB' }] })),
  ],
  [
    'a key is not an object with texts',
    'key-invalid',
    'fail',
    /key 1 is not a public Ed25519 key \(kty an object, crv an object of type Array\)/,
    /politely keys new/,
    directory({}, () => JSON.stringify({ keys: [{ kty: { toString: 1 }, crv: [] }] })),
  ],
  [
    'a key has an x with unused bits',
    'key-invalid',
    'fail',
    /has an x that ends in unused bits/,
    /keys directory/,
    directory({}, () => JSON.stringify({ keys: [{ kty: 'OKP', crv: 'Ed25519', x: otherSpelling(key.x) }] })),
  ],
  [
    'a key has another name',
    'key-id',
    'fail',
    /has the kid "key-1", and its thumbprint is/,
    /write "kid"/,
    directory({}, (text) => text.replace(/"kid":"[^"]+"/, '"kid":"key-1"')),
  ],
  [
    'a key is a test key of RFC 9421',
    'key-published-private',
    'fail',
    /whose private part is published/,
    /^remove it/,
    directory({}, () => JSON.stringify({ keys: [{ ...testKeys.ed25519, d: undefined }] })),
  ],
  [
    'the key has expired',
    'key-expired',
    'fail',
    /expired at 2026-01-01/,
    /keys rotate/,
    directory({}, (text) => text.replace(/"nbf":\d+/, `"exp":${Date.UTC(2026, 0, 1) / 1000}`)),
  ],
  [
    'the key is not valid yet',
    'key-not-yet-valid',
    'warn',
    /is valid from 2999/,
    /do not sign with it before/,
    async (published) => directory({ keys: [{ ...key, nbf: Date.UTC(2999, 0, 1) / 1000 }] })(published),
  ],
  ...['"2027-01-01"', 'null', `${Date.UTC(2027, 0)}`, '1e15', '1e300', '{"toString":1}'].flatMap((time) =>
    ['exp', 'nbf'].map(
      (member) =>
        [
          `the ${member} of a key is ${time}`,
          'key-invalid',
          'fail',
          new RegExp(`has the ${member} .*, which is no time in seconds`),
          /write whole seconds/,
          directory({}, (text) => text.replace(/"nbf":\d+/, `"${member}":${time}`)),
        ] as const,
    ),
  ),
  [
    'the directory has more bytes than verifiers read',
    'directory-too-large',
    'fail',
    /has 7\d{4} bytes, and verifiers may read no more than 65536/,
    /keys directory/,
    directory({}, (text) => text.replace('{', `{"pad":"${'x'.repeat(70_000)}",`)),
  ],
  [
    'the directory has more keys than verifiers read',
    'directory-too-large',
    'fail',
    /has 101 keys, and verifiers may read no more than 100/,
    /^remove the keys/,
    directory({}, (text) => JSON.stringify({ keys: Array(101).fill(JSON.parse(text).keys[0]) })),
  ],
  [
    'a key is there twice',
    'key-duplicate',
    'warn',
    /key 2 of \S+ is there already/,
    /^remove it/,
    directory({}, (text) => JSON.stringify({ keys: Array(2).fill(JSON.parse(text).keys[0]) })),
  ],
  ...(
    [
      [{ use: 'enc' }, /use "enc"/],
      [{ key_ops: ['encrypt'] }, /key_ops an object of type Array/],
      [{ alg: 'RS256' }, /alg "RS256"/],
    ] as const
  ).map(
    ([members, text]) =>
      [
        `a key has ${JSON.stringify(members)}`,
        'key-usage',
        'fail',
        text,
        /^write "use": "sig"/,
        directory({}, (body) => JSON.stringify({ keys: [{ ...JSON.parse(body).keys[0], ...members }] })),
      ] as const,
  ),
  [
    'the directory must not be kept',
    'directory-cache',
    'warn',
    /verifiers must not keep/,
    /max-age=3600/,
    header('cache-control', () => 'no-store, max-age=3600'),
  ],
  [
    'the signature names another algorithm',
    'signature-wrong',
    'fail',
    /has the alg "hmac-sha256", and the key is for ed25519/,
    /keys directory/,
    header('signature-input', (value) => value.replace('alg="ed25519"', 'alg="hmac-sha256"')),
  ],
  [
    'the signature is valid for too long',
    'signature-lasts-long',
    'warn',
    /over 90 days/,
    /^sign for a week/,
    directory({ validMs: 90 * DAY_MS, now: () => Date.now() + 3_000 }),
  ],
  [
    'a key is nested deep',
    'key-invalid',
    'fail',
    /kty an object of type Array/,
    /politely keys new/,
    directory({}, () => `{"keys":[{"kty":${DEEP}}]}`),
  ],
  [
    'your key is not there',
    'key-missing',
    'fail',
    /your key \S+ is not in/,
    /before you sign/,
    async (published) => directory({ keys: [await createKey(0)] })(published),
  ],
  [
    'the directory is not signed',
    'signature-missing',
    'fail',
    /has not signed/,
    /keys directory/,
    header('signature-input', () => ''),
  ],
  [
    'the signature has another tag',
    'signature-missing',
    'fail',
    /has not the tag http-message-signatures-directory/,
    /keys directory/,
    header('signature-input', (value) => value.replace('http-message-signatures-directory', 'web-bot-auth')),
  ],
  [
    'the signature headers are broken',
    'signature-malformed',
    'fail',
    /is not a dictionary/,
    /keys directory/,
    header('signature-input', () => 'key1=('),
  ],
  [
    'the signature is without times',
    'signature-malformed',
    'fail',
    /no whole numbers created and expires/,
    /keys directory/,
    header('signature-input', (value) => value.replace(/;expires=\d+/, '')),
  ],
  ...['999999999999999', '-999999999999999', '1'].map(
    (time) =>
      [
        `the signature ends at ${time}`,
        'signature-malformed',
        'fail',
        /created and expires, in seconds and in this order/,
        /keys directory/,
        header('signature-input', (value) => value.replace(/expires=\d+/, `expires=${time}`)),
      ] as const,
  ),
  [
    'the signature does not cover the host',
    'signature-not-covered',
    'fail',
    /does not cover "@authority";req/,
    /keys directory/,
    header('signature-input', (value) => value.replace(';req', '')),
  ],
  [
    'the directory is that of another host',
    'signature-wrong',
    'fail',
    /has not signed this response of bot\.test/,
    /--agent must be the host/,
    async (published) => directory({ agent: 'https://other.test' })(published),
  ],
  [
    'a proxy has changed the body',
    'signature-wrong',
    'fail',
    /Content-Digest is not that of the body/,
    /byte for byte/,
    directory({}, (text) => `${text}\n`),
  ],
  [
    'the signature has expired',
    'signature-expired',
    'fail',
    /expired at/,
    /sign again/,
    directory({ now: () => Date.now() - 8 * DAY_MS }),
  ],
  [
    'the signature was made by a clock that is ahead',
    'signature-in-future',
    'fail',
    /which is in the future/,
    /set the clock of the machine that signs/,
    directory({ now: () => Date.now() + 600_000 }),
  ],
  [
    'the signature ends before a copy does',
    'signature-expires-soon',
    'warn',
    /before a copy of the response that is made now \(3600 s\)/,
    /sign again/,
    directory({ now: () => Date.now() - 7 * DAY_MS + 1_800_000 }),
  ],
  [
    'the clock of the server is 10 minutes behind',
    'clock-off',
    'fail',
    /bot\.test:\d+ is (599|60\d) s behind this machine/,
    /set both clocks by NTP/,
    header('date', () => new Date(Date.now() - 600_000).toUTCString()),
  ],
]

test.for(FAULTS)('%s: %s', async ([, code, result, text, remedy, fault]) => {
  const published = await publish()
  const identity = ((await fault(published)) as Identity | undefined) ?? published.identity
  const isOfDirectory = /^(?:directory|key|signature|clock)-/.test(code)
  const faults = faultsIn(
    await (isOfDirectory ? checkDirectory(identity.directory as string, [key.kid], LOCAL) : findingsOf(identity)),
  )
  const found = faults.find((each) => each.code === code)
  expect(found, JSON.stringify(faults)).toMatchObject({ code, result })
  expect(found?.text).toMatch(text)
  expect(found?.remedy).toMatch(remedy)
})

test.for<[FindingCode, 'fail' | 'warn', RegExp, DnsResolver, string[]]>([
  ['dns-without-ptr', 'fail', /no PTR record: 192\.0\.2\.1; 192\.0\.2\.2/, dnsOf({}, {}), ['crawl.bot.test']],
  ['dns-without-ptr', 'warn', /no PTR record/, dnsOf({}, {}), []],
  [
    'dns-not-confirmed',
    'fail',
    /192\.0\.2\.1 is one\.crawl\.bot\.test, which has no address/,
    dnsOf(PTR, {}),
    ['bot.test'],
  ],
  [
    'dns-not-confirmed',
    'fail',
    /192\.0\.2\.1 is one\.crawl\.bot\.test, which leads to 192\.0\.2\.99/,
    dnsOf(PTR, { ...HOSTS, 'one.crawl.bot.test': '192.0.2.99' }),
    [],
  ],
  [
    'dns-other-domain',
    'fail',
    /not under crawl\.bot\.test: 192\.0\.2\.1 is notcrawl\.bot\.test/,
    dnsOf({ ...PTR, '1.2.0.192.in-addr.arpa': 'notcrawl.bot.test' }, HOSTS),
    ['crawl.bot.test'],
  ],
  [
    'dns-failed',
    'warn',
    /the PTR record of 192\.0\.2\.1 \(ESERVFAIL\)/,
    dnsOf({ ...PTR, '1.2.0.192.in-addr.arpa': 'ESERVFAIL' }, HOSTS),
    [],
  ],
])('names %s as %s', async ([code, result, text, dns, hostNames]) => {
  const { identity } = await publish(identityFor({ hostNames }))
  const found = faultsIn(await findingsOf(identity, dns)).find((each) => each.code === code)
  expect(found).toMatchObject({ result, text: expect.stringMatching(text), remedy: expect.stringMatching(/\w/) })
})

test('names what cannot be reached, and a private address', async () => {
  const { port, close } = await holdRefusingPort()
  onTestFinished(close)
  const url = `https://bot.test:${port}`
  const codesOf = async (options: object) =>
    (await checkDirectory(url, [], options)).map(({ code, text }) => `${code}: ${text}`)
  expect(await codesOf(LOCAL)).toEqual([expect.stringMatching(/^directory-unreachable: .*ECONNREFUSED/)])
  expect(await codesOf({ lookup: lookupIn() })).toEqual([
    expect.stringMatching(
      /^directory-unreachable: .* is not public: bot\.test is at 127\.0\.0\.1, which is not a public/,
    ),
  ])
})

test('accepts a digest by another algorithm', async () => {
  const { identity, serve } = await publish()
  const { kty, crv, x } = key
  const body = JSON.stringify({ keys: [{ kty, crv, x }] })
  const digest = `sha-512=:${createHash('sha512').update(body).digest('base64')}:`
  const created = Math.floor(Date.now() / 1000) - 10
  const params = `("@authority";req "content-digest");created=${created};expires=${created + 86_400};keyid="${key.kid}";tag="http-message-signatures-directory"`
  const { host } = new URL(identity.directory as string)
  const base = `"@authority";req: ${host}\n"content-digest": ${digest}\n"@signature-params": ${params}`
  const signature = sign(null, Buffer.from(base), { key, format: 'jwk' } as never).toString('base64')
  const own = { 'content-digest': digest, 'signature-input': `b=${params}`, signature: `b=:${signature}:` }
  serve(KEYS, ({ headers }) => ({ status: 200, headers: { ...headers, ...own }, body }))
  expect(faultsIn(await checkDirectory(identity.directory as string, [key.kid], LOCAL))).toEqual([])
})

test('does not wait for more than its bounds', async () => {
  const { identity, serve } = await publish()
  serve(KEYS, (reply) => ({ ...reply, body: 'x'.repeat(10_000) }))
  const [large] = await checkDirectory(identity.directory as string, [], { ...LOCAL, maxBodyBytes: 5_000 })
  expect(large).toMatchObject({
    code: 'directory-unreachable',
    text: expect.stringMatching(/is longer than 5000 bytes/),
  })
  sites.respond(`https://bot.test:PORT${KEYS}`, () => undefined)
  const [silent] = await checkDirectory(identity.directory as string, [], { ...LOCAL, timeoutMs: 50 })
  expect(silent).toMatchObject({ code: 'directory-unreachable', text: expect.stringMatching(/in time|timeout/i) })
})

test('every code of a fault is made by a test', () => {
  const tested = new Set<string>([...FAULTS.map(([, code]) => code), 'dns-without-ptr', 'dns-not-confirmed'])
  for (const code of ['dns-other-domain', 'dns-failed', 'directory-unreachable']) tested.add(code)
  const others = [...CODES].filter((code) => !tested.has(code) && !/-ok$|^page-allowed$/.test(code))
  // The same code path as `directory-unreachable`.
  expect(others).toEqual(['page-unreachable', 'ranges-unreachable', 'card-unreachable'])
})

test('docs/identity.md lists the codes', () => {
  const rows = readPage('docs/identity.md').matchAll(/^\| (`[a-z-]+-[a-z-]+`(?:, `[a-z-]+-[a-z-]+`)*) \| \w.*\. \|$/gm)
  const listed = [...rows].flatMap(([, codes = '']) => codes.replaceAll('`', '').split(', '))
  expect(listed.sort()).toEqual([...CODES].sort())
})

test.for([
  ['x', /the file: it is not JSON/],
  ['[]', /the file: .* is not an object; write \{"name"/],
  [{ nmae: 'x' }, /nmae: is not a field; write one of name, productToken/],
  [{ name: undefined }, /name: is missing; write "name": "Example Bot"/],
  [{ name: 'a\nb' }, /name: .* is not one line of text/],
  [{ productToken: 'Example Bot' }, /productToken: "Example Bot" is not a product token/],
  [{ page: 'http://bot.example/bot.html' }, /page: .* is not the https: URL of a file/],
  [{ page: 'https://bot.example/' }, /page: .* is not the https: URL of a file/],
  [{ page: 'https://u:p@bot.example/b' }, /page: .* without credentials/],
  [{ contact: 'me' }, /contact: "me" is neither a mail address nor an https: URL/],
  [{ contact: 'javascript:alert(1)' }, /contact: .* is neither/],
  [{ purposes: [] }, /purposes: .* is not a list/],
  [{ ranges: ['192.0.2.5/28'] }, /ranges\[0\]: .* write "192\.0\.2\.0\/28"/],
  [{ ranges: ['192.0.2.0/33'] }, /ranges\[0\]: .* is not an IP range/],
  [{ ranges: '192.0.2.0/28' }, /ranges: .* is not a list/],
  [{ hostNames: ['crawl'] }, /hostNames\[0\]: "crawl" is not a domain/],
  [{ directory: 'http://bot.example' }, /directory: .* is not the https: URL of a key set/],
  [{ trigger: 'x' }, /trigger: "x" is not known; write "crawler" or "fetcher"/],
  [{ page: 'https://a.test/_Headers' }, /page: is \/_headers, where static hosts have the headers/],
  [{ directory: 'https://a.test/_headers' }, /directory: is \/_headers/],
  [{ card: 'https://a.test/B' }, /card: "https:\/\/a.test\/B" is page too/],
  [{ rangesUrl: 'https://a.test/signature-agent-card.json' }, /card: .* is rangesUrl too/],
  [{ userAgent: 'Éclair/1.0' }, /userAgent: .* has characters that a header cannot have; write ASCII/],
  [{ renders: 'no' }, /renders: "no" is not known; write false or true/],
] as const)('an identity file with %j is refused', ([fields, message]) => {
  const valid = { name: 'A', productToken: 'A', page: 'https://a.test/b', contact: 'a@a.test', purposes: ['x'] }
  const text = typeof fields === 'string' ? fields : JSON.stringify({ ...valid, ...fields })
  expect(() => parseIdentity(text)).toThrow(message)
})

test('the page escapes what the identity file says', async () => {
  const identity = identityFor({ name: '<script>x</script>', about: 'A & "B"', contact: 'https://bot.test/"x' })
  const { files } = await identityFiles(identity, { keys: [key] })
  const [page] = files.filter(({ url }) => url === identity.page)
  expect(page?.body).not.toMatch(/<script/)
  expect(page?.body).toContain('A &#38; &#34;B&#34;')
})
