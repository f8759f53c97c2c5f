// Core in a real browser, where there is no Node to lean on by mistake: bundled from its sources, asked the rows that
// rules.test.ts asks, its answers compared here.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { setTimeout as sleep } from 'node:timers/promises'
import { findBrowser, isMissing, type Part } from '@politely/testkit/parts'
import { rulesCases, verdictText } from '@politely/testkit/rules-cases'
import { build } from 'rolldown'
import { beforeAll, describe, expect, it } from 'vitest'
import type { RulesVerdict } from '../src/index.ts'

const DIALECTS = ['rfc9309', 'google'] as const

/** What the page posts. Verdicts survive JSON. */
interface Answers {
  readonly rules: Record<string, { readonly verdict: RulesVerdict; readonly allowed: boolean }[]>
  readonly elsewhere: RulesVerdict
  readonly nodeGlobals: string[]
  readonly error?: string
}

const PAGE = `<!doctype html><meta charset="utf-8"><title>core</title><script type="module">
  async function answer() {
    const { parseRobots } = await import('/core.js')
    const { default: cases } = await import('/cases.json', { with: { type: 'json' } })
    const bytes = (text) => Uint8Array.from(text, (c) => c.charCodeAt(0))
    const ask = (dialect) => ({ robots, url, agent }) => {
      const parsed = parseRobots(bytes(robots), { dialect })
      return { verdict: parsed.check(url, agent), allowed: parsed.isAllowed(url, agent) }
    }
    const dialects = ${JSON.stringify(DIALECTS)}
    return {
      rules: Object.fromEntries(dialects.map((dialect) => [dialect, cases.map(ask(dialect))])),
      elsewhere: parseRobots(bytes('User-agent: *\\nDisallow: /caf\\xc3\\xa9'), { origin: 'https://B\u00dcCHER.example' })
        .check('https://b\u00fccher\u3002example/caf\u00e9', 'ExampleBot'),
      nodeGlobals: ['process', 'Buffer', 'require', 'global', 'setImmediate'].filter((name) => name in globalThis),
    }
  }
  const body = JSON.stringify(await answer().catch((error) => ({ error: String(error.stack) })))
  await fetch('/answers', { method: 'POST', body })
</script>`

/** Serves the page on loopback, has Chromium visit it, and gives what the page posts. */
async function answersFrom(chromium: Part): Promise<Answers> {
  const { output } = await build({
    input: join(import.meta.dirname, '../src/index.ts'),
    platform: 'browser',
    write: false,
  })
  expect(output).toHaveLength(1) // one file that imports nothing
  const files: Record<string, [type: string, content: string]> = {
    '/': ['text/html', PAGE],
    '/core.js': ['text/javascript', output[0].code],
    '/cases.json': ['application/json', JSON.stringify(rulesCases)],
  }
  const posted = Promise.withResolvers<string>()
  const server = createServer((request, response) => {
    if (request.method === 'POST') text(request).then(posted.resolve, posted.reject)
    const [type, content] = files[request.url ?? ''] ?? ['text/plain', '']
    response.setHeader('content-type', type).end(content)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const visit = startVisit(chromium, `http://127.0.0.1:${(server.address() as AddressInfo).port}/`)
  try {
    return JSON.parse(await Promise.race([posted.promise, visit.failed]))
  } finally {
    await visit.end()
    server.close()
    server.closeAllConnections()
  }
}

/** A Chromium of its own that opens a page. It fails if it ends by itself, or after a minute. */
function startVisit(chromium: Part, url: string): { failed: Promise<never>; end: () => Promise<void> } {
  const folder = mkdtempSync(join(tmpdir(), 'politely-chromium-'))
  const options = [
    '--headless',
    '--disable-gpu',
    '--no-first-run',
    '--disable-background-networking',
    '--disable-component-update',
    '--disable-sync',
    // Loopback only: no name has an address, and no proxy is asked.
    '--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1',
    '--no-proxy-server',
    // Root can have no sandbox, nor can others in many a container. The page is ours.
    '--no-sandbox',
    `--user-data-dir=${folder}/profile`,
  ]
  // Whatever it writes, a crash report or a cache of fonts, goes with the folder.
  const env = { ...process.env, ...chromium.env, HOME: folder, TMPDIR: folder, XDG_CONFIG_HOME: '', XDG_CACHE_HOME: '' }
  const browser = spawn(chromium.command, [...options, url], { env, stdio: ['ignore', 'ignore', 'pipe'] })
  let said = ''
  browser.stderr.setEncoding('utf8').on('data', (chunk) => {
    said += chunk
  })
  const closed = new Promise<string>((resolve) => {
    browser.once('error', (error) => resolve(`could not be started: ${error.message}`))
    browser.once('close', (code, signal) => resolve(`ended before it had answered (${signal ?? `exit code ${code}`})`))
  })
  const late = sleep(60_000, 'did not answer within 60 s', { ref: false })
  const failed = Promise.race([closed, late]).then((what) => {
    throw new Error(`${chromium.command} ${what}. Its last words:\n${said.slice(-2_000) || '(none)'}`)
  })
  failed.catch(() => undefined) // also if nobody waits for it any more
  const end = async () => {
    browser.kill('SIGKILL')
    await closed // all its processes are gone with it, or the folder would fill again
    rmSync(folder, { recursive: true, force: true, maxRetries: 5 })
  }
  return { failed, end }
}

const chromium = findBrowser()

describe.skipIf(isMissing('chromium', chromium))('core in Chromium', () => {
  let answers: Answers

  beforeAll(async () => {
    answers = await answersFrom(chromium as Part)
    if (answers.error !== undefined) throw new Error(`in the page: ${answers.error}`)
  }, 90_000)

  describe.each(DIALECTS)('rules, dialect %s', (dialect) => {
    it.each(rulesCases.map((row, i) => ({ ...row, i })))('$name', (row) => {
      const answer = answers.rules[dialect]?.[row.i]
      const expected = dialect === 'google' ? (row.google ?? row.rfc9309) : row.rfc9309
      expect(answer && verdictText(answer.verdict)).toBe(expected)
      expect(answer?.allowed).toBe(expected.startsWith('allowed'))
    })
  })

  it('reads a host in any script, and decodes bytes', () => {
    expect(answers.elsewhere).toMatchObject({ because: 'rule', rule: { text: '/caf\u00e9', line: 2 } })
  })

  it('had none of the globals of Node', () => {
    expect(answers.nodeGlobals).toEqual([])
  })
})
