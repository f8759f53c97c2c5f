// @module-tag full
// @module-tag browser
// Runs core in Chromium, where a use of a Node API would fail. Bundles core from its sources,
// checks the cases of rules.test.ts in a page, and compares the verdicts here.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { setTimeout as sleep } from 'node:timers/promises'
import { rulesCases, verdictText } from '@politely/testkit/cases/rules-cases'
import { findBrowser, isMissing, type Part } from '@politely/testkit/parts'
import { build } from 'rolldown'
import { beforeAll, describe, expect, it } from 'vitest'
import type { RulesVerdict } from '../src/index.ts'

const DIALECTS = ['rfc9309', 'google'] as const

/** What the page posts as JSON. */
interface PageResults {
  readonly rules: Record<string, { readonly verdict: RulesVerdict; readonly allowed: boolean }[]>
  readonly unicodeHost: RulesVerdict
  readonly nodeGlobals: string[]
  readonly error?: string
}

const PAGE = `<!doctype html><meta charset="utf-8"><title>core</title><script type="module">
  async function run() {
    const { parseRobots } = await import('/core.js')
    const { default: cases } = await import('/cases.json', { with: { type: 'json' } })
    const bytes = (text) => Uint8Array.from(text, (c) => c.charCodeAt(0))
    const check = (dialect) => ({ robots, url, agent }) => {
      const parsed = parseRobots(bytes(robots), { dialect })
      return { verdict: parsed.check(url, agent), allowed: parsed.isAllowed(url, agent) }
    }
    const dialects = ${JSON.stringify(DIALECTS)}
    return {
      rules: Object.fromEntries(dialects.map((dialect) => [dialect, cases.map(check(dialect))])),
      unicodeHost: parseRobots(bytes('User-agent: *\\nDisallow: /caf\\xc3\\xa9'), { origin: 'https://B\u00dcCHER.example' })
        .check('https://b\u00fccher\u3002example/caf\u00e9', 'ExampleBot'),
      nodeGlobals: ['process', 'Buffer', 'require', 'global', 'setImmediate'].filter((name) => name in globalThis),
    }
  }
  const body = JSON.stringify(await run().catch((error) => ({ error: String(error.stack) })))
  await fetch('/results', { method: 'POST', body })
</script>`

/** Serves the page on loopback, opens it in Chromium, and returns what the page posts. */
async function resultsFrom(chromium: Part): Promise<PageResults> {
  const { output } = await build({
    input: join(import.meta.dirname, '../src/index.ts'),
    platform: 'browser',
    write: false,
  })
  expect(output).toHaveLength(1) // one file without imports
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
  const page = openPage(chromium, `http://127.0.0.1:${(server.address() as AddressInfo).port}/`)
  try {
    return JSON.parse(await Promise.race([posted.promise, page.failed]))
  } finally {
    await page.end()
    server.close()
    server.closeAllConnections()
  }
}

/**
 * Starts a Chromium that opens a page. `failed` rejects if Chromium exits by itself, or after a
 * minute.
 */
function openPage(chromium: Part, url: string): { failed: Promise<never>; end: () => Promise<void> } {
  const folder = mkdtempSync(join(tmpdir(), 'politely-chromium-'))
  const options = [
    '--headless',
    '--disable-gpu',
    '--no-first-run',
    '--disable-background-networking',
    '--disable-component-update',
    '--disable-sync',
    // Loopback only: names do not resolve, and no proxy is used.
    '--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1',
    '--no-proxy-server',
    // Chromium cannot use its sandbox as root, nor in many containers. The page is our own.
    '--no-sandbox',
    `--user-data-dir=${folder}/profile`,
  ]
  // All that Chromium writes, such as crash reports and font caches, is in the folder and removed
  // with it.
  const env = { ...process.env, ...chromium.env, HOME: folder, TMPDIR: folder, XDG_CONFIG_HOME: '', XDG_CACHE_HOME: '' }
  const browser = spawn(chromium.command, [...options, url], { env, stdio: ['ignore', 'ignore', 'pipe'] })
  let stderr = ''
  browser.stderr.setEncoding('utf8').on('data', (chunk) => {
    stderr += chunk
  })
  const closed = new Promise<string>((resolve) => {
    browser.once('error', (error) => resolve(`could not be started: ${error.message}`))
    browser.once('close', (code, signal) =>
      resolve(`ended before the page posted its results (${signal ?? `exit code ${code}`})`),
    )
  })
  const timedOut = sleep(60_000, 'posted no results within 60 s', { ref: false })
  const failed = Promise.race([closed, timedOut]).then((problem) => {
    throw new Error(`${chromium.command} ${problem}. The end of its stderr:\n${stderr.slice(-2_000) || '(none)'}`)
  })
  failed.catch(() => undefined) // it may reject after the results have arrived
  const end = async () => {
    browser.kill('SIGKILL')
    await closed // when all its processes have ended, nothing writes to the folder any more
    rmSync(folder, { recursive: true, force: true, maxRetries: 5 })
  }
  return { failed, end }
}

const chromium = findBrowser()

describe.skipIf(isMissing('chromium', chromium))('core in Chromium', () => {
  let results: PageResults

  beforeAll(async () => {
    results = await resultsFrom(chromium as Part)
    if (results.error !== undefined) throw new Error(`in the page: ${results.error}`)
  }, 90_000)

  describe.each(DIALECTS)('rules, dialect %s', (dialect) => {
    it.each(rulesCases.map((row, i) => ({ ...row, i })))('$name', (row) => {
      const result = results.rules[dialect]?.[row.i]
      const expected = dialect === 'google' ? (row.google ?? row.rfc9309) : row.rfc9309
      expect(result && verdictText(result.verdict)).toBe(expected)
      expect(result?.allowed).toBe(expected.startsWith('allowed'))
    })
  })

  it('parses a host in any script, and decodes bytes', () => {
    expect(results.unicodeHost).toMatchObject({ because: 'rule', rule: { text: '/caf\u00e9', line: 2 } })
  })

  it('has no Node globals', () => {
    expect(results.nodeGlobals).toEqual([])
  })
})
