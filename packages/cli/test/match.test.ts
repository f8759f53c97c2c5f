import { spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdtempSync, openSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { text } from 'node:stream/consumers'
import { pipeline } from 'node:stream/promises'
import { afterAll, expect, test } from 'vitest'
import { exitCodeOf, MAIN, parseJsonLines, runInThisProcess, startCli, writeForever } from './run-cli.ts'

const folder = mkdtempSync(join(tmpdir(), 'politely-'))
const robots = join(folder, 'robots.txt')
writeFileSync(robots, 'User-agent: MJ12bot\nDisallow: /\n\nUser-agent: *\nDisallow: /private\n')
afterAll(() => rmSync(folder, { recursive: true }))

const MATCH = ['match', '--robots', robots, '--user-agent', 'ExampleBot']

const BY_RULE = {
  allowed: false,
  because: 'rule',
  rule: { directive: 'disallow', text: '/private', line: 5, bytes: 8 },
}
const NO_RULE = { allowed: true, because: 'no-rule-matched', group: { agents: ['*'], line: 4 } }

test('prints one JSON verdict for each line; the exit code is 0 whatever the verdicts are', async () => {
  const stdin = 'https://example.com/private/x\n/page\nmailto:x\n//example.com/\n'
  const { code, stdout, stderr } = await runInThisProcess(MATCH, stdin)
  expect(parseJsonLines(stdout)).toEqual([
    { version: 1, url: 'https://example.com/private/x', ...BY_RULE, group: { agents: ['*'], line: 4 } },
    { version: 1, url: '/page', ...NO_RULE },
    { version: 1, url: 'mailto:x', allowed: false, because: 'invalid-url', problem: 'scheme' },
    { version: 1, url: '//example.com/', allowed: false, because: 'invalid-url', problem: 'relative' },
  ])
  expect(stderr).toBe('')
  expect(code).toBe(0)
})

test.each(['rfc9309', 'google', 'koster-1996'])('accepts documented names in dialect %s', async (dialect) => {
  const file = join(folder, 'names.txt')
  writeFileSync(file, 'User-agent: archive.org_bot\nDisallow: /a\n')
  const args = ['match', '--robots', file, '--dialect', dialect, '--crawler', 'archive.org_bot', '--crawler', 'archive']
  const { stdout } = await runInThisProcess(args, '/a\n/b\n')
  expect(parseJsonLines(stdout).map((line) => (line as { allowed: boolean }).allowed)).toEqual([
    false,
    false,
    true,
    true,
  ])
})

test('says on stderr that stdin looks like a robots.txt file', async () => {
  const { code, stdout, stderr } = await runInThisProcess(MATCH, 'User-agent: *\nDisallow: /private\n')
  expect(parseJsonLines(stdout)).toMatchObject([{ because: 'invalid-url' }, { because: 'invalid-url' }])
  expect(stderr).toBe('politely: stdin looks like a robots.txt file; write --robots robots.txt < urls.txt\n')
  expect(code).toBe(0)
})

test('says on stderr that a line of stdin is the name of a file', async () => {
  const { stderr } = await runInThisProcess(MATCH, 'package.json\n')
  expect(stderr).toBe('politely: "package.json": this is a file; to check the URLs in it, write < "package.json"\n')
})

test('takes the product token from a whole User-Agent header; applies --dialect and --origin', async () => {
  const args = ['match', '--robots', robots, '--user-agent', 'MJ12bot/v1.4.8 (http://mj12bot.com/)']
  const stdin = 'https://example.com/\nhttps://other.example/\n'
  const rfc9309 = await runInThisProcess([...args, '--origin', 'https://example.com/any'], stdin)
  expect(parseJsonLines(rfc9309.stdout)).toMatchObject([
    { because: 'rule', rule: { line: 2 } },
    { because: 'other-origin', origin: 'https://other.example', fileOrigin: 'https://example.com' },
  ])
  const google = await runInThisProcess([...args, '--dialect', 'google'], stdin)
  expect(parseJsonLines(google.stdout)).toMatchObject([NO_RULE, NO_RULE])
})

test('--product-token replaces the token of --user-agent, and suffices alone', async () => {
  const stdin = 'https://example.com/\n'
  for (const names of [['--user-agent', 'OtherBot/1.0'], []]) {
    const { stdout } = await runInThisProcess(
      ['match', '--robots', robots, ...names, '--product-token', 'MJ12bot'],
      stdin,
    )
    expect(parseJsonLines(stdout)).toMatchObject([{ because: 'rule', rule: { line: 2 } }])
  }
})

test.for([
  ['LF', '/1\n/2\n', ['/1', '/2']],
  ['CR LF', '/1\r\n/2\r\n', ['/1', '/2']],
  ['no line end after the last line', '/1\n/2', ['/1', '/2']],
  ['a CR inside a line, and one at the end of input', '/1\r/x\r\n/2\r', ['/1\r/x', '/2']],
  ['blank lines', '\n/1\n\n \t \r\n\n/2\n\n', ['/1', '/2']],
  ['spaces around a URL, which are kept', ' https://example.com/ \n', [' https://example.com/ ']],
  ['a byte order mark', '\ufeff/1\n/2\n', ['/1', '/2']],
  ['non-ASCII characters', '/é/日本/😀\n', ['/é/日本/😀']],
  ['empty input', '', []],
] as const)('reads lines: %s', async ([, stdin, urls]) => {
  const { stdout, code } = await runInThisProcess(MATCH, stdin)
  expect(parseJsonLines(stdout).map(({ url }) => url)).toEqual(urls)
  expect(code).toBe(0)
})

test('joins a line and a character that are split between two chunks', { tags: 'full' }, async () => {
  const child = startCli(MATCH)
  const pieces = ['/page\n/priv', 'ate/1\n/private/\u00c3', '\u00a9\n/page\n'] // bytes; é is C3 A9
  const verdicts: unknown[] = []
  for (const piece of pieces) {
    child.stdin.write(piece, 'latin1')
    const [chunk] = await once(child.stdout, 'data') // the process has read this piece before the next one is written
    verdicts.push(...parseJsonLines(String(chunk)))
  }
  child.stdin.end()
  expect(verdicts).toMatchObject([
    { url: '/page', ...NO_RULE },
    { url: '/private/1', ...BY_RULE },
    { url: '/private/é', ...BY_RULE },
    { url: '/page', ...NO_RULE },
  ])
})

test('calls a line with a longer path than 65,536 characters too long, and checks the lines after it', async () => {
  const longest = `/private/${'x'.repeat(65_536 - 9)}`
  const whole = `https://example.com${longest}#fragment`
  const stdin = `${longest}\n${whole}\n${longest}x\n${'x'.repeat(1_000_000)}\n/page\n`
  const verdicts = parseJsonLines((await runInThisProcess(MATCH, stdin)).stdout)
  expect(verdicts).toMatchObject([
    { url: longest, ...BY_RULE },
    { url: whole, ...BY_RULE },
    { url: `${longest}x`, because: 'invalid-url', problem: 'too-long' },
    { url: 'x'.repeat(131_073), allowed: false, because: 'invalid-url', problem: 'too-long' },
    { url: '/page', ...NO_RULE },
  ])
})

const COUNT = 200_000

test(`${COUNT} URLs stream through in order and in bounded memory`, { tags: 'full' }, async () => {
  const padding = 'x'.repeat(1000)
  const few = await stream(1000, padding)
  const many = await stream(COUNT, padding)
  expect(few).toMatchObject({ code: 0, inOrder: 1000 })
  expect(many).toMatchObject({ code: 0, inOrder: COUNT })
  // 400 MB passed through. The program holds one chunk at a time; the other growth is uncollected
  // garbage.
  expect(many.bytes).toBeGreaterThan(COUNT * 1_000)
  expect(many.peakKilobytes - few.peakKilobytes).toBeLessThan(100_000)
})

/**
 * Writes numbered URLs as fast as stdin accepts them, and counts the verdicts that come in input
 * order.
 */
async function stream(count: number, padding: string) {
  const peak = `data:text/javascript,process.on('exit', () => process.stderr.write(String(process.resourceUsage().maxRSS)))`
  const child = startCli(MATCH, { node: ['--max-semi-space-size=4', '--import', peak] })
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
      for (const line of lines) if (line.startsWith(`{"version":1,"url":"https://example.com/${inOrder}/`)) inOrder++
    }
  }
  const [code, stderr] = await Promise.all([
    exitCodeOf(child),
    text(child.stderr),
    read(),
    pipeline(Readable.from(chunks()), child.stdin),
  ])
  // The progress lines come first.
  return { code, inOrder, bytes, peakKilobytes: Number(stderr.split('\n').at(-1)) }
}

test('exits with code 141 when the reader closes stdout (`| head`)', { tags: 'full' }, async () => {
  const child = startCli(MATCH)
  const stderr = text(child.stderr)
  writeForever(child, 'https://example.com/\n')
  await once(child.stdout, 'data')
  child.stdout.destroy()
  expect(await exitCodeOf(child)).toBe(141)
  expect(await stderr).toBe('')
})

test.skipIf(!existsSync('/dev/full'))('says that the disk is full', { tags: 'full' }, () => {
  const stdio = ['pipe', openSync('/dev/full', 'w'), 'pipe'] as const
  const { status, stderr } = spawnSync(process.execPath, [MAIN, ...MATCH], { stdio: [...stdio], input: '/a\n' })
  expect(String(stderr)).toBe('politely: the output cannot be written (ENOSPC); the disk is full, so make room first\n')
  expect(status).toBe(2)
})
