import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { text } from 'node:stream/consumers'
import { pipeline } from 'node:stream/promises'
import { isFullRun, sampled } from '@politely/testkit/scope'
import { afterAll, expect, test } from 'vitest'
import { codeOf, feed, jsonLines, politely, start } from './politely.ts'

const folder = mkdtempSync(join(tmpdir(), 'politely-'))
const robots = join(folder, 'robots.txt')
writeFileSync(robots, 'User-agent: MJ12bot\nDisallow: /\n\nUser-agent: *\nDisallow: /private\n')
afterAll(() => rmSync(folder, { recursive: true }))

const MATCH = ['match', '--robots', robots, '--agent', 'ExampleBot']

const BY_RULE = {
  allowed: false,
  because: 'rule',
  rule: { directive: 'disallow', text: '/private', line: 5, bytes: 8 },
}
const FREE = { allowed: true, because: 'no-rule-matched', group: { agents: ['*'], line: 4 } }

test('a JSON verdict a line, with its rule; the exit code is 0 whatever they say', async () => {
  const stdin = 'https://example.com/private/x\n/page\nmailto:x\n//example.com/\n'
  const { code, stdout, stderr } = await politely(MATCH, { stdin })
  expect(jsonLines(stdout)).toEqual([
    { url: 'https://example.com/private/x', ...BY_RULE, group: { agents: ['*'], line: 4 } },
    { url: '/page', ...FREE },
    { url: 'mailto:x', allowed: false, because: 'invalid-url', problem: 'scheme' },
    { url: '//example.com/', allowed: false, because: 'invalid-url', problem: 'relative' },
  ])
  expect(stderr).toBe('')
  expect(code).toBe(0)
})

test('--agent takes a header too; --dialect and --origin reach the rules', async () => {
  const agent = ['match', '--robots', robots, '--agent', 'MJ12bot/v1.4.8 (http://mj12bot.com/)']
  const stdin = 'https://example.com/\nhttps://other.example/\n'
  const rfc9309 = await politely([...agent, '--origin', 'https://example.com/any'], { stdin })
  expect(jsonLines(rfc9309.stdout)).toMatchObject([
    { because: 'rule', rule: { line: 2 } },
    { because: 'other-origin', origin: 'https://other.example', fileOrigin: 'https://example.com' },
  ])
  const google = await politely([...agent, '--dialect', 'google'], { stdin })
  expect(jsonLines(google.stdout)).toMatchObject([FREE, FREE])
})

test.for([
  ['LF', '/1\n/2\n', ['/1', '/2']],
  ['CR LF', '/1\r\n/2\r\n', ['/1', '/2']],
  ['no end of the last line', '/1\n/2', ['/1', '/2']],
  ['CR LF in the middle, and a CR that ends nothing', '/1\r/x\r\n/2\r', ['/1\r/x', '/2']],
  ['blank lines', '\n/1\n\n \t \r\n\n/2\n\n', ['/1', '/2']],
  ['blanks around a URL are the URL reader’s', ' https://example.com/ \n', [' https://example.com/ ']],
  ['a byte order mark', '\ufeff/1\n/2\n', ['/1', '/2']],
  ['not ASCII', '/é/日本/😀\n', ['/é/日本/😀']],
  ['nothing', '', []],
] as const)('lines: %s', async ([, stdin, urls]) => {
  const { stdout, code } = await politely(MATCH, { stdin })
  expect(jsonLines(stdout).map(({ url }) => url)).toEqual(urls)
  expect(code).toBe(0)
})

test('lines: a line, and a character, that come in pieces', async () => {
  const child = start(MATCH)
  const pieces = ['/page\n/priv', 'ate/1\n/private/\u00c3', '\u00a9\n/page\n'] // bytes; é is C3 A9
  const answers: unknown[] = []
  for (const piece of pieces) {
    child.stdin.write(piece, 'latin1')
    const [chunk] = await once(child.stdout, 'data') // so this piece has been read before the next is written
    answers.push(...jsonLines(String(chunk)))
  }
  child.stdin.end()
  expect(answers).toMatchObject([
    { url: '/page', ...FREE },
    { url: '/private/1', ...BY_RULE },
    { url: '/private/é', ...BY_RULE },
    { url: '/page', ...FREE },
  ])
})

test('lines: what is longer than any URL is malformed, and the lines after it are answered', async () => {
  const longest = `/private/${'x'.repeat(65_536 - 9)}`
  const stdin = `${longest}\n${longest}x\n${'x'.repeat(1_000_000)}\n/page\n`
  const [fits, over, wayOver, next] = jsonLines((await politely(MATCH, { stdin })).stdout)
  expect(fits).toMatchObject({ url: longest, ...BY_RULE })
  for (const answer of [over, wayOver]) {
    expect(answer).toMatchObject({ allowed: false, because: 'invalid-url', problem: 'malformed' })
    expect(answer?.url).toHaveLength(65_537)
  }
  expect(next).toMatchObject({ url: '/page', ...FREE })
})

const COUNT = sampled(200_000)

test(`${COUNT} URLs stream through: order kept, memory bounded`, async () => {
  const padding = 'x'.repeat(1000)
  const few = await stream(1000, padding)
  const many = await stream(COUNT, padding)
  expect(few).toMatchObject({ code: 0, inOrder: 1000 })
  expect(many).toMatchObject({ code: 0, inOrder: COUNT })
  if (!isFullRun) return // what went through is too little to tell
  // 400 MB went through. What is kept at a time is a chunk; the rest of the growth is the garbage collector's room.
  expect(many.bytes).toBeGreaterThan(COUNT * 1_000)
  expect(many.peakKilobytes - few.peakKilobytes).toBeLessThan(100_000)
})

/** Feeds numbered URLs as fast as they are taken; reads the answers as they come and counts those in their place. */
async function stream(count: number, padding: string) {
  const peak = `data:text/javascript,process.on('exit', () => process.stderr.write(String(process.resourceUsage().maxRSS)))`
  const child = start(MATCH, { node: ['--max-semi-space-size=4', '--import', peak] })
  function* chunks() {
    for (let i = 0; i < count; i += 100) {
      yield Array.from({ length: 100 }, (_, n) => `https://example.com/${i + n}/${padding}\n`).join('')
    }
  }
  let inOrder = 0
  let bytes = 0
  let rest = ''
  const read = async () => {
    for await (const chunk of child.stdout.setEncoding('latin1')) {
      bytes += chunk.length
      const lines = (rest + chunk).split('\n')
      rest = lines.pop() ?? ''
      for (const line of lines) if (line.startsWith(`{"url":"https://example.com/${inOrder}/`)) inOrder++
    }
  }
  const [code, stderr] = await Promise.all([
    codeOf(child),
    text(child.stderr),
    read(),
    pipeline(Readable.from(chunks()), child.stdin),
  ])
  return { code, inOrder, bytes, peakKilobytes: Number(stderr) }
}

test('whoever reads the output may go away (`| head`)', async () => {
  const child = start(MATCH)
  const stderr = text(child.stderr)
  feed(child, 'https://example.com/\n')
  await once(child.stdout, 'data')
  child.stdout.destroy()
  expect(await codeOf(child)).toBe(0)
  expect(await stderr).toBe('')
})
