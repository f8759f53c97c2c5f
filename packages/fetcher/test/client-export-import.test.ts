// `export` and `import` of a client. All of it is our choice.
import { Readable } from 'node:stream'
import { checkedPage, disallowsPage } from '@politely/testkit/cases/response-cases'
import { startClock } from '@politely/testkit/clock'
import type { Reply } from '@politely/testkit/servers/sites'
import { describe, expect } from 'vitest'
import type { Store } from '../src/index.ts'
import { all, test } from './with-sites.ts'

const DAY = 86_400_000
const ROBOTS = 'http://a.test:PORT/robots.txt'
const rules: Reply = { status: 200, body: disallowsPage }

describe('export and import', () => {
  const answers: Readonly<Record<string, Reply>> = {
    a: { ...rules, headers: { etag: '"1"' } },
    b: { status: 404 },
    c: { status: 500 },
    d: { status: 200, body: Buffer.from('User-agent: *\nDisallow: /caf\u00e9 \u{1f916}\nDisallow: /page\u0001\n') },
    e: { status: 200, body: '' },
  }
  /** By origin, without checksums, which depend on the order of the fields. */
  const entriesIn = (lines: Iterable<string>) =>
    Object.fromEntries(Array.from(lines, (line) => [JSON.parse(line).origin, { ...JSON.parse(line), checksum: 0 }]))
  const urls = Object.keys(answers).map((name) => `http://${name}.test:PORT/page`)

  test('give another client the same verdicts without a request, and another crawler its own', async ({
    sites,
    newClient,
  }) => {
    const body = 'User-agent: ExampleBot\nDisallow: /page\n\nUser-agent: Other\nDisallow: /other\n'
    for (const [name, answer] of Object.entries(answers)) sites.respond(`http://${name}.test:PORT/robots.txt`, answer)
    sites.respond(ROBOTS, { status: 200, body })
    const { now } = startClock()
    const [first, second] = [newClient({ now }), newClient({ now })]
    const other = newClient({ now, userAgent: 'Other/1.0' })
    const asked = urls.map((url) => sites.withPort(url))
    const verdicts = await all(first.checkMany(asked))
    const lines = [...first.export()]
    expect(lines).toHaveLength(urls.length)
    for (const line of lines) expect(line).toMatch(/^\{.*\}\n$/)
    expect(await second.import(lines)).toEqual({ taken: 5, older: 0, unreadable: 0 })
    expect(await all(second.checkMany(asked))).toEqual(verdicts)
    expect(entriesIn(second.export())).toEqual(entriesIn(lines))
    await other.import(first.export())
    expect(await other.isAllowed(sites.withPort(checkedPage))).toBe(true)
    expect(await other.isAllowed(sites.withPort('http://a.test:PORT/other'))).toBe(false)
    expect(sites.requests).toHaveLength(urls.length)
  })

  test('work on a stream of bytes in chunks of any size', async ({ sites, newClient }) => {
    for (const [name, answer] of Object.entries(answers)) sites.respond(`http://${name}.test:PORT/robots.txt`, answer)
    const { now } = startClock()
    const client = newClient({ now })
    await client.prefetch(urls.map((url) => sites.withPort(url)))
    const bytes = Buffer.concat(await all(Readable.from(client.export()).map((line: string) => Buffer.from(line))))
    expect(bytes.some((byte) => byte >= 0x80)).toBe(true) // so pieces cut characters in half
    for (const [size, text] of [
      [1, bytes],
      [7, bytes],
      [bytes.length, bytes],
      [3, Buffer.from(bytes.toString().replaceAll('\n', '\r\n'))],
      [5, Buffer.from(`\ufeff${bytes}`.trimEnd())],
    ] as const) {
      const pieces = function* () {
        for (let at = 0; at < text.length; at += size) yield text.subarray(at, at + size)
      }
      const copy = newClient({ now })
      expect(await copy.import(pieces())).toEqual({ taken: 5, older: 0, unreadable: 0 })
      expect(entriesIn(copy.export())).toEqual(entriesIn(client.export()))
    }
  })

  test('count invalid lines, and take the valid lines between them', async ({ sites, newClient }) => {
    sites.respond(ROBOTS, rules)
    const first = newClient()
    await first.check(sites.withPort(checkedPage))
    const [line = ''] = first.export()
    const long = `"${'x'.repeat(10_000_000)}"\n`
    const rows: readonly (readonly [text: string | Uint8Array, unreadable: number])[] = [
      ['not JSON\n', 1],
      ['null\n42\n{}\n[]\n', 4],
      ['\n \n\r\n', 0],
      [line.slice(0, -20), 1],
      [line.replace(/"version":\d+/, '"version":1'), 1],
      [line.replace('/page', '/rage'), 1],
      [long, 1],
      [`${long}${long}`, 2],
      [Uint8Array.of(0xff, 0xfe, 0x0a), 1],
      [Uint8Array.of(0xe2, 0x82), 1],
    ]
    for (const [text, unreadable] of rows) {
      const before = await newClient().import([line, text])
      expect(before).toEqual({ taken: 1, older: 0, unreadable })
      if (typeof text !== 'string' || !text.endsWith('\n')) continue
      const pieces = function* () {
        for (let at = 0; at < text.length; at += 65_536) yield text.slice(at, at + 65_536)
        yield line
      }
      expect(await newClient().import(pieces())).toEqual({ taken: 1, older: 0, unreadable })
    }
  })

  test('keep the newer of two entries about one origin, even if only the store has it', async ({
    sites,
    newClient,
  }) => {
    sites.respond(ROBOTS, rules, { status: 404 })
    const clock = startClock()
    const first = newClient({ now: clock.now })
    await first.check(sites.withPort(checkedPage))
    const older = [...first.export()]
    clock.advance(DAY)
    await first.check(sites.withPort(checkedPage))
    const newer = [...first.export()]

    const texts = new Map<string, string>()
    const store: Store = {
      get: async (origin) => texts.get(origin),
      set: async (origin, text) => void texts.set(origin, text),
      delete: async (origin) => void texts.delete(origin),
    }
    expect(await first.import(older)).toEqual({ taken: 0, older: 1, unreadable: 0 })
    expect(await first.import(newer)).toEqual({ taken: 0, older: 1, unreadable: 0 })
    const second = newClient({ now: clock.now, store })
    expect(await second.import([...older, ...newer, ...older])).toEqual({ taken: 2, older: 1, unreadable: 0 })
    expect(entriesIn(texts.values())).toEqual(entriesIn(newer))
    const third = newClient({ now: clock.now, store })
    expect(await third.import(older)).toEqual({ taken: 0, older: 1, unreadable: 0 })
    expect(entriesIn(texts.values())).toEqual(entriesIn(newer))
    expect(await third.isAllowed(sites.withPort(checkedPage))).toBe(true)
    expect(sites.requests).toHaveLength(2)
  })

  test('end with an error of the source, and import nothing into a closed client', async ({ sites, newClient }) => {
    sites.respond(ROBOTS, rules)
    const client = newClient()
    await client.check(sites.withPort(checkedPage))
    const lines = [...client.export()]
    async function* broken() {
      yield* lines
      throw new Error('the file ended')
    }
    const second = newClient()
    await expect(second.import(broken())).rejects.toThrow('the file ended')
    expect(await second.isAllowed(sites.withPort(checkedPage))).toBe(false)
    await client.close()
    await expect(client.import(lines)).rejects.toMatchObject({ code: 'ERR_POLITELY_CLIENT_CLOSED' })
    expect([...client.export()]).toEqual([])
  })
})
