// The audit itself is tested in packages/evidence.
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { zstdCompressSync, zstdDecompressSync } from 'node:zlib'
import { dialects } from '@politely/core'
import { evidenceFiles } from '@politely/evidence'
import { beforeEach, expect, onTestFinished, test } from 'vitest'
import { decisionOf, entryOf, START } from '../../evidence/test/decisions.ts'
import { parseJsonLines, runInThisProcess } from './run-cli.ts'

const ORIGIN = 'https://shop.example'
const ROBOTS = 'User-agent: *\nDisallow: /cart\nAllow: /cart/help\n\nUser-agent: Googlebot\nDisallow: /\n'
let folder: string

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'politely-evidence-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  const sink = evidenceFiles({ dir: join(folder, 'evidence'), now: () => START })
  const entry = entryOf(ORIGIN, ROBOTS)
  for (const path of ['/cart', '/cart/help', '/']) sink.decided(decisionOf(ORIGIN + path, entry, { use: 'check' }))
  await sink.close()
})

async function evidence(verb: string, ...args: readonly string[]) {
  const { code, stdout, stderr } = await runInThisProcess(['evidence', verb, join(folder, 'evidence'), ...args])
  return { code, stdout: stdout.replace(/[\da-f]{64}/g, 'HASH'), stderr: stderr.replaceAll(folder, 'FOLDER') }
}

/** Changes the line of the decision about /cart in the file. */
function damage(from: string, to: string): void {
  const dir = join(folder, 'evidence')
  const name = readdirSync(dir).find((each) => each.endsWith('.zst')) as string
  const lines = zstdDecompressSync(readFileSync(join(dir, name)))
    .toString()
    .split('\n')
  lines[2] = (lines[2] as string).replace(from, to)
  writeFileSync(join(dir, name), zstdCompressSync(lines.join('\n')))
}

test('verify says what is in order, and what it cannot see', async () => {
  expect(await evidence('verify')).toEqual({
    code: 0,
    stdout: `ok    read        6 records in 1 chain
warn  not seen    No signature was compared with a key of yours: who can write this folder can rewrite all of it unseen.
warn  not seen    Records after the last signed head of a chain (5 now) can be changed or removed unseen, and whole chains too.
0 failed, 2 to look at
`,
    stderr: '',
  })
  damage('"line":2', '"line":3')
  const { code, stdout } = await evidence('verify')
  expect(code).toBe(1)
  expect(stdout.split('\n')[0]).toBe(
    'fail  record      2026-11-28T16.ndjson.zst:4: the record before it (2026-11-28T16.ndjson.zst:3) was changed',
  )
  expect(JSON.parse((await evidence('verify', '--json')).stdout)).toMatchObject({
    version: 1,
    findings: [{ level: 'error', line: 4, result: 'fail' }, { errors: 1 }, {}, {}],
  })
})

test('verify compares signatures with the keys of a key file or a directory', async () => {
  const key = join(folder, 'bot.jwk')
  await runInThisProcess(['keys', 'new', key])
  const jwk = JSON.parse(readFileSync(key, 'utf8'))
  const sink = evidenceFiles({ dir: join(folder, 'evidence'), now: () => START, key: jwk })
  await sink.close()
  expect(await evidence('verify', '--key', key)).toMatchObject({
    code: 0,
    stdout: expect.stringContaining('of a chain (5 now)'),
  })
  const other = join(folder, 'directory.json')
  writeFileSync(other, JSON.stringify({ keys: [{ ...jwk, x: 'A'.repeat(43) }] }))
  expect(await evidence('verify', '--key', other)).toMatchObject({
    code: 1,
    stdout: expect.stringContaining('of this head is none of the keys you gave'),
  })
  writeFileSync(other, '{}')
  expect(await evidence('verify', '--key', other)).toEqual({
    code: 2,
    stdout: '',
    stderr:
      'politely: --key: "FOLDER/directory.json" has no Ed25519 key; write the name of a public key (JWK), a key file, or a key directory\n',
  })
})

test('explain says which line decided', async () => {
  const { code, stdout } = await evidence('explain', `${ORIGIN}/cart`)
  expect(code).toBe(0)
  expect(stdout).toContain(`${ORIGIN}/cart was disallowed: line 2 of robots.txt says "Disallow: /cart" to *.\n`)
  expect(await evidence('explain', 'https://other.example/')).toEqual({
    code: 1,
    stdout: 'No decision about https://other.example/ is recorded.\n',
    stderr: '',
  })
  expect(await evidence('explain', `${ORIGIN}/cart`, '--at', 'then')).toMatchObject({
    code: 2,
    stderr: 'politely: --at: "then" is not a time; write one such as 2026-11-28T16:00:00Z\n',
  })
})

test('replay exits with 1 if a decision comes out differently, and with 0 for a what if', async () => {
  expect(await evidence('replay')).toEqual({
    code: 0,
    stdout: 'ok    replayed    3 decisions: 3 the same, 0 different\neverything works\n',
    stderr: '',
  })
  expect(await evidence('replay', '--user-agent', 'Googlebot')).toMatchObject({
    code: 0,
    stdout: expect.stringContaining(
      `warn  decision    ${ORIGIN}/cart (2026-11-28T16.ndjson.zst:3) was disallowed: line 2 of robots.txt says "Disallow: /cart" to *; it would be disallowed: line 6 of robots.txt says "Disallow: /" to Googlebot\n`,
    ),
  })
  damage('"line":2', '"line":3')
  const { code, stdout } = await evidence('replay', '--format', 'ndjson')
  expect(code).toBe(1)
  expect(parseJsonLines(stdout)).toMatchObject([
    { version: 1, result: 'fail', url: `${ORIGIN}/cart`, line: 3, replayed: expect.stringContaining('line 2') },
    { version: 1, decisions: 3, same: 2, different: 1 },
  ])
})

test('report writes a page or JSON', async () => {
  const page = join(folder, 'report.html')
  expect(await evidence('report', '--output', page)).toEqual({ code: 0, stdout: '', stderr: '' })
  expect(readFileSync(page, 'utf8')).toMatch(/^<!doctype html>/i)
  expect(JSON.parse((await evidence('report', '--json')).stdout)).toMatchObject({ version: 1 })
})

test('the dialects of --dialect are those of core', async () => {
  const { stdout } = await runInThisProcess(['evidence', '--help'])
  for (const name of Object.keys(dialects)) expect(stdout).toContain(name)
})
