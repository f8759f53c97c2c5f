// `--policy-token`: a name in robots.txt that stands for a use.
import { startSites } from '@politely/testkit/servers/sites'
import { expect, onTestFinished, test } from 'vitest'
import { writeFiles } from './files.ts'
import { parseJsonLines, runInThisProcess } from './run-cli.ts'

const path = writeFiles({
  'robots.txt': 'User-agent: *\nDisallow: /cart\n\nUser-agent: example-training\nDisallow: /\n',
  'some-rules.txt': 'User-agent: *\nDisallow: /cart\n\nUser-agent: example-training\nDisallow: /photos/\n',
})
const ROBOTS = ['--robots', path('robots.txt'), '--user-agent', 'ExampleBot']
const TOKEN = ['--policy-token', 'example-training=train-ai,none']

test('usage reads the group as a statement on the use', async () => {
  const args = ['usage', '/page', ...ROBOTS, '--purpose', 'train-ai']
  expect((await runInThisProcess(args)).code).toBe(0)
  const { stdout, code } = await runInThisProcess([...args, ...TOKEN])
  expect(stdout).toContain('Disallow: /')
  expect(code).toBe(1)
})

test('explain shows what the group states', async () => {
  const args = ['explain', '/page', ...ROBOTS]
  expect((await runInThisProcess(args)).stdout).not.toContain('train-ai')
  expect((await runInThisProcess([...args, ...TOKEN])).stdout).toMatch(/train-ai +disallowed +.*line 5/)
})

test('audit knows the name', async () => {
  const findings = async (...flags: readonly string[]) => {
    const { stdout } = await runInThisProcess(['audit', path('robots.txt'), '--format', 'json', ...flags])
    const [{ names }] = parseJsonLines(stdout) as unknown as [{ names: readonly { finding: string }[] }]
    return names.map(({ finding }) => finding)
  }
  expect(await findings()).toEqual(['unknown'])
  expect(await findings(...TOKEN)).toEqual(['known'])
})

test('lint does not compare the group with the group for *', async () => {
  const args = ['lint', path('some-rules.txt'), '--max-severity', 'none']
  expect(await runInThisProcess(args)).toMatchObject({
    code: 1,
    stdout: expect.stringContaining('named-group-lacks-rules'),
  })
  expect(await runInThisProcess([...args, ...TOKEN])).toMatchObject({ code: 0 })
})

test.for(['example-training', 'example-training=train-ai', 'a b=train-ai,none', 'a=money,none', 'a=train-ai,all'])(
  'rejects %s',
  async (value) => {
    const { stderr, code } = await runInThisProcess(['usage', '/page', ...ROBOTS, '--policy-token', value])
    expect(stderr).toContain('is not a token, a purpose and a fallback; write TOKEN=PURPOSE,none or TOKEN=PURPOSE,star')
    expect(code).toBe(2)
  },
)

test('usage reads the groups of a site, too', async () => {
  const site = await startSites()
  onTestFinished(() => site.close())
  site.respond('http://127.0.0.1:PORT/robots.txt', {
    status: 200,
    body: 'User-agent: example-training\nDisallow: /\n',
  })
  const url = site.withPort('http://127.0.0.1:PORT/page')
  const args = ['usage', url, '--user-agent', 'ExampleBot', '--no-page', '--purpose', 'train-ai']
  expect((await runInThisProcess(args)).code).toBe(0)
  expect(await runInThisProcess([...args, ...TOKEN])).toMatchObject({
    code: 1,
    stdout: expect.stringMatching(/train-ai +disallowed +.*line 2/),
  })
})
