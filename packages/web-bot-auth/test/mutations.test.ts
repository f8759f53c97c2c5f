// Each change of a signed request: none of them verifies.
import { sampled } from '@politely/testkit/scope'
import { expect, test } from 'vitest'
import { type ProfileName, profiles, type SignedRequest, verify } from '../src/index.ts'
import { newKey, startKeyServer } from './key-server.ts'

interface Parts {
  method: string
  url: string
  headers: [string, string][]
}

/** A generator of numbers from 0 to below 1 that a seed repeats (mulberry32). */
function randomOf(seed: number): () => number {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}

type Random = () => number
const pick = <T>(random: Random, items: readonly T[]): T => items[Math.floor(random() * items.length)] as T
const word = (random: Random) => Math.floor(random() * 36 ** 6).toString(36)

function edit(parts: Parts, name: string, change: (value: string) => string): void {
  for (const header of parts.headers) if (header[0] === name) header[1] = change(header[1])
}

/** Changes one character, to another of its kind. */
function changeCharacter(text: string, at: number): string {
  const other = /[a-z]/.test(text[at] ?? '') ? 'abc' : /[A-Z]/.test(text[at] ?? '') ? 'ABC' : '012'
  return text.slice(0, at) + ([...other].find((one) => one !== text[at]) ?? '') + text.slice(at + 1)
}

/** By what they change. Each makes another request than the signed one. */
const mutations: Readonly<Record<string, (parts: Parts, random: Random) => void>> = {
  host: (parts, random) => {
    parts.url = parts.url.replace(
      'shop.example',
      pick(random, [`${word(random)}.shop.example`, `${word(random)}.example`, 'shop.example.']),
    )
  },
  port: (parts, random) => {
    parts.url = parts.url.replace('shop.example', `shop.example:${1024 + Math.floor(random() * 60_000)}`)
  },
  scheme: (parts) => {
    parts.url = parts.url.replace('https:', 'http:')
  },
  path: (parts, random) => {
    parts.url = parts.url.replace(
      '/list',
      pick(random, [`/${word(random)}`, `/list/${word(random)}`, '/LIST', '/%6Cist', '//list']),
    )
  },
  query: (parts, random) => {
    parts.url = pick(random, [
      parts.url.replace(/\?.*/, ''),
      `${parts.url}&${word(random)}`,
      parts.url.replace('page=2', `page=${word(random)}`),
    ])
  },
  method: (parts, random) => {
    parts.method = pick(random, ['POST', 'HEAD', 'PUT', 'DELETE', 'OPTIONS', 'get', word(random).toUpperCase()])
  },
  time: (parts, random) => {
    const name = pick(random, ['created', 'expires'])
    const by = pick(random, [-1, 1]) * (1 + Math.floor(random() * 20))
    edit(parts, 'signature-input', (value) =>
      value.replace(new RegExp(`${name}=(\\d+)`), (_, at) => `${name}=${Number(at) + by}`),
    )
  },
  keyid: (parts, random) => {
    edit(parts, 'signature-input', (value) => {
      const at = value.indexOf('keyid="') + 7
      return changeCharacter(value, at + Math.floor(random() * 42))
    })
  },
  nonce: (parts, random) => {
    edit(parts, 'signature-input', (value) =>
      changeCharacter(value, value.indexOf('nonce="') + 7 + Math.floor(random() * 80)),
    )
  },
  signature: (parts, random) => {
    edit(parts, 'signature', (value) => changeCharacter(value, value.indexOf(':') + 1 + Math.floor(random() * 84)))
  },
  agent: (parts, random) => {
    edit(parts, 'signature-agent', (value) =>
      value.replace('bot.test', pick(random, [`${word(random)}.test`, 'bot.test.'])),
    )
  },
  'order of components': (parts, random) => {
    edit(parts, 'signature-input', (value) => {
      const [, inside = ''] = /\(([^)]*)\)/.exec(value) ?? []
      const items = inside.split(' ')
      const from = Math.floor(random() * (items.length - 1))
      const [moved = ''] = items.splice(from, 1)
      items.splice(from + 1 + Math.floor(random() * (items.length - from)), 0, moved)
      return value.replace(inside, items.join(' '))
    })
  },
  'order of parameters': (parts, random) => {
    edit(parts, 'signature-input', (value) => {
      const [list = '', ...params] = value.split(/;(?=created|expires|keyid|alg|tag|nonce)/)
      const from = Math.floor(random() * (params.length - 1))
      const [moved = ''] = params.splice(from, 1)
      params.splice(from + 1 + Math.floor(random() * (params.length - from)), 0, moved)
      return [list, ...params].join(';')
    })
  },
  'a component left out': (parts, random) => {
    edit(parts, 'signature-input', (value) => {
      const [, inside = ''] = /\(([^)]*)\)/.exec(value) ?? []
      const items = inside.split(' ')
      items.splice(Math.floor(random() * items.length), 1)
      return value.replace(inside, items.join(' '))
    })
  },
  'a component added': (parts, random) => {
    edit(parts, 'signature-input', (value) =>
      value.replace('(', `(${pick(random, ['"@path"', '"@scheme"', '"@query"', '"@method"', '"host"'])} `),
    )
  },
  'a parameter left out': (parts, random) => {
    const name = pick(random, ['created', 'expires', 'keyid', 'alg', 'tag', 'nonce'])
    edit(parts, 'signature-input', (value) => value.replace(new RegExp(`;${name}=("[^"]*"|\\d+)`), ''))
  },
  'a header twice': (parts, random) => {
    const name = pick(random, ['signature', 'signature-input', 'signature-agent'])
    const header = parts.headers.find(([other]) => other === name)
    if (header !== undefined)
      parts.headers.push(pick(random, [[...header], [name.toUpperCase(), header[1]]]) as [string, string])
  },
  'another signature': (parts, random) => {
    const label = `s${word(random)}`
    for (const name of ['signature', 'signature-input'])
      edit(parts, name, (value) => `${value}, ${value.replace(/^\w+/, label)}`)
  },
  'another label': (parts, random) => {
    const name = pick(random, ['signature', 'signature-input'])
    edit(parts, name, (value) => value.replace(/^\w+/, `s${word(random)}`))
  },
  'a parameter twice': (parts, random) => {
    const name = pick(random, ['created', 'expires', 'keyid', 'alg', 'tag', 'nonce'])
    const other = pick(random, ['1', '9999999999', '"x"', '"web-bot-auth"'])
    edit(parts, 'signature-input', (value) =>
      value.replace(new RegExp(`;(${name}=(?:"[^"]*"|\\d+))`), pick(random, [`;${name}=${other};$1`, `;$1;$1`])),
    )
  },
  'a number in another spelling': (parts, random) => {
    const name = pick(random, ['created', 'expires'])
    const spelling = pick(random, ['$1.0', '$1.000', '0$1', '00000$1'])
    edit(parts, 'signature-input', (value) => value.replace(new RegExp(`(?<=${name}=)(\\d+)`), spelling))
  },
  'a space added': (parts, random) => {
    const [from, to] = pick(random, [
      ['("', '( "'],
      ['" "', '"  "'],
      ['")', '" )'],
      [';tag', '; tag'],
    ] as const)
    edit(parts, 'signature-input', (value) => value.replace(from, to))
  },
  'a parameter added': (parts, random) => {
    const name = pick(random, ['signature', 'signature-input', 'signature-agent'])
    edit(parts, name, (value) => `${value};${pick(random, ['x', 'x=1', 'tag="a"', 'created=1'])}`)
  },
  'the base64 in another spelling': (parts, random) => {
    edit(parts, 'signature', (value) =>
      pick(random, [
        // 64 bytes leave four bits of the last digit unused.
        value.replace(/(.)(?===:$)/, (digit) => String.fromCharCode(digit.charCodeAt(0) + 1)),
        value.replace(/=+:$/, ':'),
        value.replace(/=:$/, ':'),
      ]),
    )
  },
  'the path in another spelling': (parts, random) => {
    parts.url = parts.url.replace(
      '/list',
      pick(random, [
        '/a/../list',
        '/a/%2e%2e/list',
        '/./list',
        '/%2E/list',
        '\\list',
        '/li\tst',
        '/li\r\nst',
        '/\nlist',
      ]),
    )
  },
  'the query in another spelling': (parts, random) => {
    parts.url = parts.url.replace('page=2', pick(random, ['page=\t2', 'pa\nge=2', 'p%61ge=2']))
  },
  credentials: (parts, random) => {
    parts.url = parts.url.replace('shop.example', `${pick(random, ['u:p', 'u', '', ':'])}@shop.example`)
  },
  'another kind of space around a header': (parts, random) => {
    const name = pick(random, ['signature', 'signature-input', 'signature-agent'])
    const space = pick(random, ['\u00a0', '\ufeff', '\u2003', '\v', '\f'])
    edit(parts, name, (value) => pick(random, [`${space}${value}`, `${value}${space}`]))
  },
  'a header left out': (parts, random) => {
    const name = pick(random, ['signature', 'signature-input', 'signature-agent'])
    parts.headers = parts.headers.filter(([other]) => other !== name)
  },
}

test.each(Object.keys(profiles) as ProfileName[])(
  'no mutation of a request signed for %s verifies',
  async (profile) => {
    const server = await startKeyServer()
    server.serve([server.key.publicKey, newKey().publicKey])
    // Agents that do not exist would each be looked up, which takes long.
    const directories = server.directories({ retryMs: 1e9, maxDirectories: 20_000 })
    const signer = server.signer({ profile })
    const names = Object.keys(mutations)
    const random = randomOf(61)
    const counts = new Map<string, number>()
    for (let n = 0; n < sampled(5_000); n++) {
      const request = { method: 'GET', url: 'https://shop.example/list?page=2' }
      const headers = (await signer.sign(request)) ?? {}
      const genuine: SignedRequest = { ...request, headers }
      if (n % 100 === 0) expect(await verify(genuine, { directories })).toMatchObject({ kind: 'verified' })
      const parts: Parts = { ...request, headers: Object.entries(headers).map(([name, value]) => [name, value]) }
      const name = names[n % names.length] as string
      mutations[name]?.(parts, random)
      expect(JSON.stringify(parts), name).not.toBe(JSON.stringify({ ...request, headers: Object.entries(headers) }))
      const { kind, ...why } = await verify(parts, { directories })
      expect(kind, `${name}: ${JSON.stringify([parts, why])}`).not.toBe('verified')
      counts.set(name, (counts.get(name) ?? 0) + 1)
    }
    expect([...counts.keys()]).toEqual(names)
  },
)
