// `--evidence` of the commands that request pages.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { readEvidence } from '@politely/evidence/audit'
import { expect, onTestFinished, test } from 'vitest'
import { runInThisProcess } from './run-cli.ts'
import { startPageSite } from './site.ts'

const BOT = ['--user-agent', 'ExampleBot/1.0', '--min-delay', '0']

test.each(['crawl', 'fetch'])('%s keeps its decisions in the folder', async (command) => {
  const { origin } = await startPageSite({
    '/robots.txt': { status: 200, body: 'User-agent: *\nDisallow: /private\n' },
    '/': { status: 200, headers: { 'content-type': 'text/html' }, body: '<a href="/private/x">x</a>' },
  })
  const folder = mkdtempSync(join(tmpdir(), 'politely-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  const urls = command === 'crawl' ? [`${origin}/`] : [`${origin}/`, `${origin}/private/x`]
  await runInThisProcess([command, ...urls, ...BOT, '--evidence', join(folder, 'evidence')])
  const decisions: string[] = []
  for await (const { record } of readEvidence(join(folder, 'evidence'))) {
    if (record?.kind === 'decision') decisions.push(`${record.url.slice(origin.length)} ${record.verdict.because}`)
  }
  expect(decisions).toEqual(['/ no-rule-matched', '/private/x rule'])
})

test('a folder that cannot be written is an error of the command line', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'politely-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  writeFileSync(join(folder, 'evidence'), 'a file')
  const { code, stderr } = await runInThisProcess([
    ...['crawl', 'http://127.0.0.1:1/', ...BOT],
    ...['--evidence', join(folder, 'evidence')],
  ])
  expect(code).toBe(2)
  expect(stderr).toContain('--evidence: ')
})
