// @module-tag sockets
// Robots.txt over FTP. RFC 9309 §2.3 names the scheme without details; everything that is not in
// RFC 959 is our choice.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import type { AddressInfo, LookupFunction, Server, Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { bodyLimit } from '@politely/testkit/cases/body-cases'
import { checkedPage, disallowsPage } from '@politely/testkit/cases/response-cases'
import { lookupIn } from '@politely/testkit/servers/lookup'
import { holdRefusingPort } from '@politely/testkit/servers/refusing-port'
import { FtpSrv } from 'ftp-srv'
import { describe, expect, onTestFinished } from 'vitest'
import { type FtpScript, politeFtp, startFtp } from './ftp-server.ts'
import { watchOwnSockets } from './own-sockets.ts'
import { test } from './with-sites.ts'

const obeyed = { allowed: false, because: 'rule', access: { outcome: 'success', status: 200, reason: 'status' } }

/** A correct server, except for the given replies. */
function ftpBut(answers: FtpScript['answers'], greeting: FtpScript['greeting'] = '220 Hello\r\n'): FtpScript {
  return { greeting, answers: { ...politeFtp(disallowsPage).answers, ...answers } }
}

describe('a real server (ftp-srv)', () => {
  /** Serves its own folder, to any login or to none. */
  async function startFtpSrv(
    files: Readonly<Record<string, string>>,
    who: 'anybody' | 'nobody' = 'anybody',
  ): Promise<number> {
    const root = mkdtempSync(join(tmpdir(), 'ftp-'))
    for (const [name, content] of Object.entries(files)) writeFileSync(join(root, name), content)
    const silent = (): void => undefined
    const log = { trace: silent, debug: silent, info: silent, warn: silent, error: silent, child: () => log }
    const server = new FtpSrv({ url: 'ftp://127.0.0.1:0', anonymous: true, log })
    server.on('login', (_login, resolve, reject) =>
      who === 'anybody' ? resolve({ root }) : reject(new Error('Anonymous access is not allowed.')),
    )
    await server.listen()
    onTestFinished(async () => {
      await server.close()
      rmSync(root, { recursive: true })
    })
    return ((server as unknown as { readonly server: Server }).server.address() as AddressInfo).port
  }

  test('its rules apply', async ({ newClient }) => {
    const port = await startFtpSrv({ 'robots.txt': disallowsPage })
    const url = `ftp://a.test:${port}/robots.txt`
    const client = newClient()
    expect(await client.check(`ftp://a.test:${port}/page`)).toMatchObject({
      ...obeyed,
      origin: `ftp://a.test:${port}`,
      access: { ...obeyed.access, url },
    })
    expect(await client.isAllowed(`ftp://a.test:${port}/other`)).toBe(true)
  })

  test('a missing file is unavailable', async ({ newClient }) => {
    const port = await startFtpSrv({})
    expect(await newClient().check(`ftp://a.test:${port}/page`)).toMatchObject({
      allowed: true,
      because: 'unavailable',
      access: { status: 404 },
    })
  })

  test('a refused login is unavailable, or restricted by the dialect', async ({ newClient }) => {
    const port = await startFtpSrv({ 'robots.txt': disallowsPage }, 'nobody')
    const page = `ftp://a.test:${port}/page`
    expect(await newClient().check(page)).toMatchObject({
      allowed: true,
      because: 'unavailable',
      access: { status: 401 },
    })
    expect(await newClient({ dialect: 'koster-1996' }).check(page)).toMatchObject({
      allowed: false,
      because: 'restricted',
      access: { status: 401 },
    })
  })

  test('a file over the limit is cut', async ({ newClient }) => {
    const port = await startFtpSrv({ 'robots.txt': `${disallowsPage}${'#\n'.repeat(bodyLimit)}` })
    expect(await newClient().check(`ftp://a.test:${port}/page`)).toMatchObject({
      ...obeyed,
      access: { copy: { truncated: true } },
    })
  })
})

describe('the commands that the client sends', () => {
  const COMMANDS = [
    'USER anonymous',
    'PASS ExampleBot/1.0 (+https://example.com/bot)',
    'TYPE I',
    'EPSV',
    'RETR robots.txt',
  ]

  test('contain no credentials, and the User-Agent as password', async ({ newClient }) => {
    const { port, commands } = await startFtp(politeFtp(disallowsPage))
    const client = newClient({ userAgent: 'ExampleBot/1.0 (+https://example.com/bot)' })
    expect(await client.check(`ftp://me:secret@a.test:${port}/page`)).toMatchObject(obeyed)
    await expect.poll(() => commands).toEqual([...COMMANDS, 'QUIT'])
  })

  test.for([
    ['http://a.test:PORT/rules', 'ftp://you:hidden@b.test:FTP/robots.txt', 'RETR robots.txt'],
    ['raw bytes', 'ftp://b.test:FTP/a%20b/%C3%B6.txt?x', 'RETR a b/\u00c3\u00b6.txt?x'],
    ['from the root', 'ftp://b.test:FTP/%2Fetc/robots.txt', 'RETR /etc/robots.txt'],
    ['no path', 'ftp://b.test:FTP', 'RETR /'],
  ] as const)('RFC 1738 §3.2, a redirect to ftp, %s: %s', async ([, location, said], { sites, newClient }) => {
    const { port, commands } = await startFtp(politeFtp(disallowsPage))
    const to = location.replace('FTP', String(port))
    sites.respond('http://a.test:PORT/robots.txt', { status: 301, headers: { location: to } })
    const verdict = await newClient().check(sites.withPort(checkedPage))
    expect(verdict).toMatchObject({ ...obeyed, access: { hops: [{ status: 301 }] } })
    expect(commands).toContain('USER anonymous')
    expect(commands).toContain(said)
  })

  test.for(['%0D%0ADELE%20robots.txt', '%0a', '%0D', 'robots%00.txt'])(
    'does not send a path that contains another command: %s',
    async (path, { sites, newClient }) => {
      const { port, commands } = await startFtp(politeFtp(disallowsPage))
      sites.respond('http://a.test:PORT/robots.txt', {
        status: 301,
        headers: { location: `ftp://b.test:${port}/${path}` },
      })
      const verdict = await newClient().check(sites.withPort(checkedPage))
      expect(verdict).toMatchObject({ because: 'unreachable', access: { reason: 'malformed' } })
      expect(commands).toEqual([])
    },
  )

  test('resolves an internationalised name as its A-label', async ({ newClient }) => {
    const { port } = await startFtp(politeFtp(disallowsPage))
    const hosts: string[] = []
    const lookup: LookupFunction = (host, options, callback) => {
      hosts.push(host)
      lookupIn()(host, options, callback)
    }
    expect(await newClient({ lookup }).check(`ftp://bücher.test:${port}/page`)).toMatchObject(obeyed)
    expect(hosts).toEqual(['xn--bcher-kva.test'])
  })

  test('RFC 2428, IPv6', async ({ newClient }) => {
    const { port } = await startFtp(politeFtp(disallowsPage), '::1')
    expect(await newClient().check(`ftp://[::1]:${port}/page`)).toMatchObject(obeyed)
  })
})

const lines = `${'#'.repeat(98)}\r\n`.repeat(100)
/** Repeats a text for as long as the client accepts it. */
function sayForever(socket: Socket, text: string): void {
  const more = () => {
    while (!socket.destroyed && socket.write(text)) {}
  }
  socket.on('drain', more)
  more()
}
const endlessly =
  (text: string): FtpScript['greeting'] =>
  ({ control }) =>
    sayForever(control, text)

type FtpCase = readonly [name: string, script: FtpScript, expected: string | number, lasts?: 'until the deadline']
const cases: readonly FtpCase[] = [
  ['never sends a greeting', { greeting: undefined, answers: {} }, 'timeout', 'until the deadline'],
  ['hangs after the greeting', { greeting: '220 Hello\r\n', answers: {} }, 'timeout', 'until the deadline'],
  ['hangs after the login', ftpBut({ TYPE: () => undefined }), 'timeout', 'until the deadline'],
  ['hangs after RETR', ftpBut({ RETR: () => undefined }), 'timeout', 'until the deadline'],
  [
    'hangs in the file',
    ftpBut({
      RETR: async ({ control, data }) => {
        control.write('150 OK\r\n')
        ;(await data).write('User-agent: *\n')
      },
    }),
    'timeout',
    'until the deadline',
  ],
  [
    'never confirms the transfer',
    ftpBut({
      RETR: async ({ control, data }) => {
        control.write('150 OK\r\n')
        ;(await data).end(disallowsPage)
      },
    }),
    'timeout',
    'until the deadline',
  ],
  ['an endless greeting', { greeting: endlessly(`220-${lines}`), answers: {} }, 'too-large'],
  ['endless garbage', { greeting: endlessly(lines), answers: {} }, 'too-large'],
  [
    'a slow and endless greeting',
    {
      greeting: ({ control }) => {
        const timer = setInterval(() => control.write('220-x\r\n'), 5)
        control.once('close', () => clearInterval(timer))
      },
      answers: {},
    },
    'timeout',
    'until the deadline',
  ],
  ['asks for the password endlessly', ftpBut({ PASS: '331 And again\r\n' }), 'too-large'],
  [
    'another protocol',
    { greeting: ({ control }) => control.end('HTTP/1.1 400 Bad Request\r\n\r\n'), answers: {} },
    'reset',
  ],
  ['closes when accepted', { greeting: ({ control }) => control.end(), answers: {} }, 'reset'],
  ['resets when accepted', { greeting: ({ control }) => control.resetAndDestroy(), answers: {} }, 'reset'],
  ['closes after the login', ftpBut({ TYPE: ({ control }) => control.end() }), 'reset'],
  ['closes right after a positive reply', ftpBut({ PASS: ({ control }) => control.end('230 Welcome\r\n') }), 'reset'],
  ['RFC 959 §4.2, 120: ready in some minutes', { greeting: '120 In 9 minutes\r\n', answers: {} }, 503],
  [
    'RFC 959 §4.2, 421 instead of a greeting',
    { greeting: ({ control }) => control.end('421 Too many users\r\n'), answers: {} },
    503,
  ],
  ['RFC 959 §4.2, 421 later', ftpBut({ EPSV: ({ control }) => control.end('421 Time is up\r\n') }), 503],
  ['RFC 959 §4.2, 425', ftpBut({ RETR: '425 No data connection\r\n' }), 503],
  ['RFC 959 §4.2, 450', ftpBut({ RETR: '450 Busy\r\n' }), 503],
  ...(
    [
      'No anonymous users',
      'This is a private system - No anonymous login',
      'Sorry, anonymous FTP is disabled.',
      'User anonymous is not allowed!',
      'This server does not support anonymous logins.',
    ] as const
  ).map(
    (text): FtpCase => [`our choice, 530 without anonymous login: ${text}`, ftpBut({ PASS: `530 ${text}\r\n` }), 401],
  ),
  ...(
    [
      'Not logged in',
      'Login incorrect.',
      'Access denied.',
      'Authentication service is down',
      'User anonymous cannot log in.',
      'No anonymous logins until 18:00',
      'No anonymous logins during maintenance',
      'All anonymous slots in use',
      'Anonymous access is allowed.',
      'This site does not support private users; anonymous users are allowed',
      '',
    ] as const
  ).map((text): FtpCase => [`our choice, 530 for another reason: ${text}`, ftpBut({ PASS: `530 ${text}\r\n` }), 503]),
  ['our choice, 530 in reply to USER', ftpBut({ USER: '530-Sorry\r\n530 No anonymous users\r\n' }), 401],
  [
    'our choice, 530 in several lines, of which one has another reason',
    ftpBut({ USER: '530-Out of memory\r\n530 No anonymous users\r\n' }),
    503,
  ],
  [
    'our choice, 331 that refuses anonymous logins, and then 530',
    ftpBut({ USER: '331 No anonymous users\r\n', PASS: '530 Login incorrect.\r\n' }),
    503,
  ],
  ['our choice, 332', ftpBut({ PASS: '332 Need account\r\n' }), 503],
  ['our choice, 332 in reply to USER', ftpBut({ USER: '332 Need account\r\n' }), 503],
  ['our choice, 430', ftpBut({ PASS: '430 No anonymous users\r\n' }), 503],
  ['our choice, 532', ftpBut({ PASS: '532 No anonymous users\r\n' }), 500],
  ['RFC 959 §4.2, 550', ftpBut({ RETR: '550 No such file\r\n' }), 404],
  ['RFC 959 §4.2, 550 in several lines', ftpBut({ RETR: '550-No\r\n such\r\n550 file\r\n' }), 404],
  ['RFC 959 §4.2, 553', ftpBut({ RETR: '553 Name not allowed\r\n' }), 404],
  ['RFC 959 §4.2, 551', ftpBut({ RETR: '551 Page type unknown\r\n' }), 404],
  ['our choice, 550 instead of a greeting', { greeting: '550 Too many users\r\n', answers: {} }, 500],
  [
    'our choice, 530 with too many clients',
    ftpBut({ PASS: '530 Sorry, the maximum number of clients (10) for this user are already connected.\r\n' }),
    503,
  ],
  ['our choice, 530 for now', ftpBut({ USER: '530 Not logged in, come back later\r\n' }), 503],
  ['our choice, 530 instead of a greeting', { greeting: '530 Too many users\r\n', answers: {} }, 500],
  ['our choice, 550 in reply to USER', ftpBut({ USER: '550 Permission denied\r\n' }), 500],
  ['our choice, 553 in reply to PASS', ftpBut({ PASS: '553 Try later\r\n' }), 500],
  ['our choice, 550 in reply to TYPE', ftpBut({ TYPE: '550 Permission denied\r\n' }), 500],
  [
    'our choice, 550 in reply to EPSV and PASV',
    ftpBut({ EPSV: '550 Permission denied\r\n', PASV: '550 Permission denied\r\n' }),
    500,
  ],
  ['our choice, 530 in reply to EPSV', ftpBut({ EPSV: '530 Not here\r\n', PASV: '530 Not here\r\n' }), 500],
  ['our choice, 530 in reply to RETR', ftpBut({ RETR: '530 Not this file\r\n' }), 500],
  ['RFC 959 §4.2, 502', ftpBut({ RETR: '502 Not implemented\r\n' }), 500],
  ['RFC 959 §4.2, 230 in reply to USER', ftpBut({ USER: '230 Come in\r\n' }), 200],
  [
    'RFC 2428 §3, no port in the reply to EPSV',
    ftpBut({ EPSV: '229 Entering Extended Passive Mode\r\n' }),
    'malformed',
  ],
  ['RFC 2428 §3, port 0', ftpBut({ EPSV: '229 OK (|||0|)\r\n' }), 'malformed'],
  ['RFC 2428 §3, port 99999', ftpBut({ EPSV: '229 OK (|||99999|)\r\n' }), 'malformed'],
  ['RFC 959 §4.2, no port in the reply to PASV', ftpBut({ EPSV: '500 What?\r\n', PASV: '227 OK\r\n' }), 'malformed'],
  ['RFC 959 §4.2, neither EPSV nor PASV', ftpBut({ EPSV: '500 What?\r\n', PASV: '502 No\r\n' }), 500],
  [
    'the data connection is reset',
    ftpBut({
      RETR: async ({ control, data }) => {
        control.write('150 OK\r\n')
        const socket = await data
        socket.resetAndDestroy()
      },
    }),
    'truncated',
  ],
  ...(
    ['426 Aborted', '451 Read error', '500 Error', '530 Session expired', '550 Read error', '551 Read error'] as const
  ).flatMap((reply): FtpCase[] => [
    [
      `the file ends, and the server reports an error: ${reply}`,
      ftpBut({
        RETR: async ({ control, data }) => {
          control.write('150 OK\r\n')
          ;(await data).end('User-agent: *\n', () => control.write(`${reply}\r\n`))
        },
      }),
      'truncated',
    ],
    [`125, and then an error before the file: ${reply}`, ftpBut({ RETR: `125 OK\r\n${reply}\r\n` }), 'truncated'],
  ]),
  [
    'the control connection closes during the transfer',
    ftpBut({
      RETR: async ({ control, data }) => {
        control.write('150 OK\r\n')
        ;(await data).write('User-agent: *\n', () => control.end())
      },
    }),
    'truncated',
  ],
  [
    'the control connection is reset during the transfer',
    ftpBut({
      RETR: async ({ control, data }) => {
        control.write('150 OK\r\n')
        ;(await data).write('User-agent: *\n', () => control.resetAndDestroy())
      },
    }),
    'truncated',
  ],
  [
    'confirms the transfer before the file is complete',
    ftpBut({
      RETR: async ({ control, data }) => {
        control.write('150 OK\r\n226 Done\r\n')
        const socket = await data
        setImmediate(() => socket.end(disallowsPage))
      },
    }),
    200,
  ],
  [
    'an empty file',
    ftpBut({
      RETR: async ({ control, data }) => {
        control.write('150 OK\r\n')
        ;(await data).end(() => control.write('226 Done\r\n'))
      },
    }),
    200,
  ],
]

describe('servers that misbehave or refuse', () => {
  test.for(cases.map((row) => [row[0], row] as const))('%s', async ([, [, script, expected, lasts]], { newClient }) => {
    const { port } = await startFtp(script)
    const { opened } = watchOwnSockets()
    const client = newClient({ timeoutMs: lasts === undefined ? 60_000 : 300 })
    const verdict = await client.check(`ftp://a.test:${port}/page`)
    if (typeof expected === 'string') {
      expect(verdict).toMatchObject({
        allowed: false,
        because: 'unreachable',
        access: { outcome: 'unreachable', reason: expected },
      })
    } else {
      const outcome = expected === 200 ? 'success' : expected < 500 ? 'unavailable' : 'unreachable'
      expect(verdict).toMatchObject({ access: { outcome, reason: 'status', status: expected } })
    }
    expect(opened.length).toBeGreaterThan(0)
    expect(opened.every(({ destroyed }) => destroyed)).toBe(true)
  })

  test('an endless file is cut, and its connections are closed', async ({ newClient }) => {
    const script = ftpBut({
      RETR: async ({ control, data }) => {
        control.write('150 OK\r\n')
        sayForever(await data, disallowsPage.repeat(1_000))
      },
    })
    const { port } = await startFtp(script)
    const { opened } = watchOwnSockets()
    const verdict = await newClient().check(`ftp://a.test:${port}/page`)
    expect(verdict).toMatchObject({ ...obeyed, access: { copy: { truncated: true } } })
    expect(opened.every(({ destroyed }) => destroyed)).toBe(true)
  })

  test('a refusing port, for the control and the data connection', async ({ newClient }) => {
    const refusing = await holdRefusingPort()
    onTestFinished(() => refusing.close())
    const refused = { because: 'unreachable', access: { reason: 'refused' } }
    expect(await newClient().check(`ftp://a.test:${refusing.port}/page`)).toMatchObject(refused)
    const { port } = await startFtp(ftpBut({ EPSV: `229 OK (|||${refusing.port}|)\r\n` }))
    expect(await newClient().check(`ftp://a.test:${port}/page`)).toMatchObject(refused)
  })

  test('a name without an address', async ({ newClient }) => {
    expect(await newClient().check('ftp://gone.invalid/page')).toMatchObject({ access: { reason: 'dns' } })
  })

  test('close aborts a fetch', async ({ newClient }) => {
    const { port } = await startFtp({ greeting: undefined, answers: {} })
    const { opened } = watchOwnSockets()
    const client = newClient()
    const asked = client.check(`ftp://a.test:${port}/page`)
    const rejected = expect(asked).rejects.toMatchObject({ code: 'ERR_POLITELY_CLIENT_CLOSED' })
    while (opened.length === 0) await new Promise((resolve) => setImmediate(resolve))
    await client.close()
    await rejected
    expect(opened.every(({ destroyed }) => destroyed)).toBe(true)
  })
})

describe('the host of data connections', () => {
  test('RFC 959 §4.1.2, PASV for a server without EPSV, whose address is ignored', async ({ newClient }) => {
    const { port, dataPort, commands } = await startFtp(
      ftpBut({
        EPSV: '500 What?\r\n',
        PASV: ({ control, dataPort: at }) => control.write(`227 Here (127,0,0,2,${at >> 8},${at & 255})\r\n`),
      }),
    )
    const { addresses, ports } = watchOwnSockets()
    expect(await newClient().check(`ftp://a.test:${port}/page`)).toMatchObject(obeyed)
    expect(commands).toContain('PASV')
    expect(addresses).toEqual(['127.0.0.1', '127.0.0.1'])
    expect(ports).toEqual([port, dataPort])
  })

  test('the data connection goes to no other host if the server resets the control connection', async ({
    newClient,
  }) => {
    const { port } = await startFtp(
      ftpBut({
        EPSV: ({ control, dataPort }) => control.write(`229 OK (|||${dataPort}|)\r\n`, () => control.resetAndDestroy()),
      }),
      '127.0.0.2',
    )
    const { addresses } = watchOwnSockets()
    expect(await newClient().check(`ftp://127.0.0.2:${port}/page`)).toMatchObject({ because: 'unreachable' })
    expect(new Set(addresses)).toEqual(new Set(['127.0.0.2']))
  })

  test('the guard checks the control connection before USER is sent', async ({ newClient }) => {
    const { port, commands } = await startFtp(politeFtp(disallowsPage))
    const lookup = lookupIn({ 'example.com': '127.0.0.1' })
    const { ports } = watchOwnSockets()
    const refused = { because: 'unreachable', access: { reason: 'blocked-address' } }
    expect(await newClient({ lookup }).check(`ftp://example.com:${port}/page`)).toMatchObject(refused)
    expect(await newClient({ network: 'public-only' }).check(`ftp://127.0.0.1:${port}/page`)).toMatchObject(refused)
    expect([ports, commands]).toEqual([[], []])
    expect(
      await newClient({ lookup, allowAddresses: ['127.0.0.1'] }).check(`ftp://example.com:${port}/page`),
    ).toMatchObject(obeyed)
  })
})

// Runs the package's sources in a folder without basic-ftp, and for comparison in one with it.
describe.for([
  ['without basic-ftp', [], 'no-transport', /npm install basic-ftp/],
  ['with it', ['basic-ftp'], 'refused', /ECONNREFUSED/],
] as const)('%s', ([, extra, reason, detail]) => {
  test('the reason for an ftp: URL', { tags: 'full' }, async () => {
    const here = join(import.meta.dirname, '..')
    const { dependencies } = JSON.parse(readFileSync(join(here, 'package.json'), 'utf8')) as { dependencies: object }
    const folder = mkdtempSync(join(tmpdir(), 'fetcher-'))
    onTestFinished(() => rmSync(folder, { recursive: true }))
    cpSync(join(here, 'src'), join(folder, 'src'), { recursive: true })
    writeFileSync(join(folder, 'package.json'), '{ "type": "module" }')
    mkdirSync(join(folder, 'node_modules/@politely'), { recursive: true })
    const bundled = ['ipaddr.js', 'lru-cache', 'punycode', 'tldts']
    for (const name of [...Object.keys(dependencies), ...bundled, ...extra]) {
      symlinkSync(join(here, 'node_modules', name), join(folder, 'node_modules', name))
    }
    const refusing = await holdRefusingPort()
    onTestFinished(() => refusing.close())
    writeFileSync(
      join(folder, 'main.ts'),
      `import { RobotsClient } from './src/index.ts'
       const client = new RobotsClient({ userAgent: 'ExampleBot/1.0', retries: 0 })
       console.log(JSON.stringify(await client.check('ftp://127.0.0.1:${refusing.port}/page')))`,
    )
    const child = spawn(process.execPath, ['--disable-warning=ExperimentalWarning', join(folder, 'main.ts')], {
      timeout: 60_000,
    })
    let printed = ''
    for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => (printed += chunk))
    await once(child, 'close')
    expect(JSON.parse(printed)).toMatchObject({
      because: 'unreachable',
      access: { reason, detail: expect.stringMatching(detail) },
    })
  })
})
