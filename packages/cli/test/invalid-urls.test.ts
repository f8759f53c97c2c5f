// The answer to an invalid URL: docs/reference/errors.md.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { explainUrlProblem } from '@politely/core'
import { invalidUrlCases, urlCases } from '@politely/testkit/cases/url-cases'
import { afterAll, expect, test } from 'vitest'
import { parseJsonLines, runInThisProcess } from './run-cli.ts'

const folder = mkdtempSync(join(tmpdir(), 'politely-'))
const robots = join(folder, 'robots.txt')
writeFileSync(robots, 'User-agent: *\nDisallow: /private\n')
afterAll(() => rmSync(folder, { recursive: true }))

const BOT = ['--user-agent', 'ExampleBot']
/** A line of stdin is UTF-8, ends at a line feed, and is skipped if it is blank. */
const isLine = ({ url }: { readonly url: string }) => url.trim() !== '' && !url.includes('\n') && url.isWellFormed()

test('match gives every invalid URL the verdict invalid-url', async () => {
  const cases = urlCases.filter(isLine)
  const { code, stdout } = await runInThisProcess(
    ['match', '--robots', robots, ...BOT],
    cases.map(({ url }) => url).join('\n'),
  )
  const verdicts = parseJsonLines(stdout)
  expect(verdicts).toHaveLength(cases.length)
  for (const [i, { url, problem, isPath, hasInvalidHost }] of cases.entries()) {
    if (problem === 'none' || isPath || hasInvalidHost)
      expect(verdicts[i], url).toMatchObject({ because: 'no-rule-matched' })
    else expect(verdicts[i], url).toMatchObject({ allowed: false, because: 'invalid-url', problem })
  }
  expect(code).toBe(0)
})

test('check gives every invalid URL the verdict invalid-url, says on stderr why, and exits with 2', async () => {
  const cases = invalidUrlCases.filter(isLine)
  const stdin = cases.map(({ url }) => url).join('\n')
  const { code, stdout, stderr } = await runInThisProcess(['check', '-', ...BOT, '--json'], stdin)
  expect(parseJsonLines(stdout)).toMatchObject(
    cases.map(({ problem }) => ({ allowed: false, because: 'invalid-url', problem })),
  )
  const lines = stderr.trimEnd().split('\n')
  expect(lines).toHaveLength(cases.length)
  for (const [i, { url, problem }] of cases.entries()) {
    if (problem !== 'none') expect(lines[i]).toContain(explainUrlProblem(problem, url))
  }
  expect(code).toBe(2)
})
