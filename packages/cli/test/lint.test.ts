// `politely lint`: formats, severities and comments that suppress findings. Core's tests cover the
// findings themselves.
import { expect, test } from 'vitest'
import { SHOP, withoutFolder, writeFiles } from './files.ts'
import { parseJsonLines, runInThisProcess } from './run-cli.ts'
import { originWithRules, originWithStatus } from './site.ts'

const path = writeFiles({
  'shop.txt': SHOP,
  'bad.txt': 'User-agent: *\nDisalow: /tmp\n  Disallow: admin\nSitemap: /map.xml\nDisallow /x\n',
  'ignored.txt':
    'User-agent: *\n# politely-ignore path-without-slash\nDisallow: admin\nSitemap: /map.xml # politely-ignore sitemap-not-absolute\n',
  'paths.txt': '/tmp\n',
  'tmp.expect': 'deny * /tmp\n',
  'page.txt': '# politely-ignore html-instead-of-robots\n<html>',
})
const lint = async (...args: string[]) => {
  const result = await runInThisProcess(['lint', ...args])
  return { ...result, stdout: withoutFolder(result.stdout, path) }
}

test('prints each finding with its place, severity and code', async () => {
  const { code, stdout } = await lint(path('bad.txt'), path('shop.txt'))
  expect(stdout).toMatchInlineSnapshot(`
    "bad.txt
      2:1   warning  Google accepts this misspelling, but other crawlers may not; write "Disallow: /tmp".  misspelt-key
      3:3   error    A path begins with a slash, so this rule matches nothing; write one that does, as in "Disallow: /admin".  path-without-slash
      4:1   error    Sitemap needs an absolute URL; write one such as "Sitemap: https://example.com/map.xml".  sitemap-not-absolute
      5:1   warning  Not every crawler reads a line without a colon; write "Disallow: /x".  missing-colon
      2 errors, 2 warnings

    shop.txt
      6:1   note     A named group replaces the group for *, so these crawlers may fetch what line 3 disallows; write "Disallow: /tmp" here too if they should not.  named-group-lacks-rules
      1 note
    "
  `)
  expect(code).toBe(1)
})

test('does not print a finding that a comment suppresses, and counts it', async () => {
  expect(await lint(path('ignored.txt'))).toMatchObject({
    code: 0,
    stdout: 'ignored.txt\n  ✓ no findings; 2 suppressed by comments\n',
  })
})

test.for([
  ['none', 1],
  ['warning', 1],
  ['error', 0],
] as const)('with --max-severity %s exits with %d', async ([severity, exit]) => {
  expect((await lint(path('bad.txt'), '--max-severity', severity)).code).toBe(exit)
})

test('with --dialect google, prints the fields that Google ignores', async () => {
  expect((await lint(path('shop.txt'), '--dialect', 'google')).stdout).toMatchInlineSnapshot(`
    "shop.txt
      4:1   note     This field is known, but Google ignores it (Bing reads it); write it only for crawlers that read it.  ignored-field
      6:1   note     A named group replaces the group for *, so these crawlers may fetch what line 3 disallows; write "Disallow: /tmp" here too if they should not.  named-group-lacks-rules
      2 notes
    "
  `)
})

test('lints what a site sends', async () => {
  const origin = await originWithRules('User-agent: *\nDisallow: admin\nSitemap: /map.xml\n')
  const { code, stdout } = await lint(origin, '--user-agent', 'ExampleBot', '--format', 'ndjson')
  expect(parseJsonLines(stdout)).toMatchObject([
    { file: `${origin}/robots.txt`, line: 2, column: 1, code: 'path-without-slash', severity: 'error' },
    { line: 3, code: 'sitemap-not-absolute', write: [`Sitemap: ${origin}/map.xml`] },
  ])
  expect(code).toBe(1)
})

test('prints what it found in files if a site cannot be reached', async () => {
  const down = await originWithStatus(503, { 'retry-after': '60' })
  const { code, stdout, stderr } = await runInThisProcess(['lint', down, path('bad.txt'), '--user-agent', 'ExampleBot'])
  expect(stdout).toContain('path-without-slash')
  expect(stderr).toContain(`politely: ${down}/robots.txt: robots.txt is unreachable (status 503)`)
  expect(code).toBe(3)
})

test('every command that reads a robots.txt reads stdin for -', async () => {
  for (const [args, expected] of [
    [['lint', '-'], 'stdin\n  3:1   error'],
    [['audit', '-', '/tmp'], 'robots.txt  stdin\n'],
    [['diff', '-', path('shop.txt')], 'old  stdin\n'],
    [['explain', '/tmp', '--robots', '-', '--user-agent', 'ExampleBot'], '\nstdin\n● 1 │ User-agent: *'],
    [['check', '/tmp', '--robots', '-', '--user-agent', 'ExampleBot'], 'stdin, 43 bytes'],
    [['match', '--robots', '-', '--urls', path('paths.txt'), '--user-agent', 'ExampleBot'], '"url":"/tmp"'],
    [['test', path('tmp.expect'), '--robots', '-'], 'met by stdin'],
  ] as const) {
    const { stdout } = await runInThisProcess(args, 'User-agent: *\nDisallow: /tmp\nDisallow: tmp\n')
    expect(stdout, args[0]).toContain(expected)
  }
  const { stdout } = await runInThisProcess(['test', '-', '--robots', path('shop.txt')], 'deny * /about\n')
  expect(stdout).toContain('✗ deny * /about  stdin:1\n')
})

test('prints the formats for programs', async () => {
  const of = async (format: string) => (await lint(path('bad.txt'), '--format', format)).stdout
  expect(parseJsonLines(await of('json'))).toMatchObject([
    { version: 1, files: [{ findings: [{ line: 2 }, {}, {}, {}] }] },
  ])
  const sarif = JSON.parse(await of('sarif'))
  const [run] = sarif.runs
  expect(sarif.version).toBe('2.1.0')
  for (const { ruleId, ruleIndex, locations } of run.results) {
    expect(run.tool.driver.rules[ruleIndex].id).toBe(ruleId)
    expect(locations[0].physicalLocation.region.startLine).toBeGreaterThan(0)
  }
  expect(JSON.parse(await of('gitlab'))[0]).toMatchObject({ location: { lines: { begin: 2 } }, severity: 'minor' })
  expect(await of('github')).toContain('::error file=bad.txt,line=3,col=3,title=path-without-slash::')
  expect(await of('junit')).toContain('<testcase name="path-without-slash in line 3"')
})
