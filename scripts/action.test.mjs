// @module-tag full
// Runs the scripts of action.yml, and the examples of docs/ci.md, with the command of this
// repository in place of the published one.
import { spawnSync } from 'node:child_process'
import { chmodSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, join, resolve } from 'node:path'
import { afterAll, beforeEach, expect, test } from 'vitest'
import { parse } from 'yaml'

const action = parse(readFileSync('action.yml', 'utf8'))
const page = readFileSync('docs/ci.md', 'utf8')
const root = mkdtempSync(join(tmpdir(), 'politely-action-'))
afterAll(() => rmSync(root, { recursive: true }))

const politely = `#!/bin/sh\nexec "${process.execPath}" "${resolve('packages/cli/bundle/main.js')}" "$@"\n`
/** Programs that the scripts find first. */
const PROGRAMS = {
  politely,
  npx: `#!/bin/sh\nshift 2\n${politely.split('\n')[1]}\n`, // npx --yes politely …
  npm: `#!/bin/sh
printf '%s\\n' "$@" > "$RUNNER_TEMP/npm-arguments"
mkdir -p "$3/node_modules/.bin"
cp "$BIN/politely" "$3/node_modules/.bin/politely"
`,
}
const bin = join(root, 'bin')
mkdirSync(bin)
for (const [name, script] of Object.entries(PROGRAMS)) {
  writeFileSync(join(bin, name), script)
  chmodSync(join(bin, name), 0o755)
}

let folder
let count = 0
beforeEach(() => {
  folder = join(root, `repository-${count++}`)
  mkdirSync(join(folder, 'public'), { recursive: true })
  write('public/robots.txt', 'User-agent: *\nDisallow: /admin\n')
  write('robots.expect', 'allow Googlebot /news/\ndeny * /admin\n')
})
const write = (name, text) => writeFileSync(join(folder, name), text)
const read = (name) => readFileSync(join(folder, name), 'utf8')

const { FORCE_COLOR, NO_COLOR, ...environment } = process.env

function bash(script, env = {}, args = []) {
  const { status, stdout, stderr } = spawnSync(
    'bash',
    ['--noprofile', '--norc', '-eo', 'pipefail', '-c', script, ...args],
    {
      cwd: folder,
      encoding: 'utf8',
      env: { ...environment, PATH: bin + delimiter + process.env.PATH, BIN: bin, ...env },
    },
  )
  return { status, stdout, stderr }
}

/** Runs the steps of the action as GitHub does. */
function runAction(inputs) {
  const env = {
    GITHUB_ACTION_PATH: process.cwd(),
    GITHUB_WORKSPACE: folder,
    GITHUB_OUTPUT: join(folder, 'output'),
    GITHUB_STEP_SUMMARY: join(folder, 'summary'),
    RUNNER_TEMP: join(folder, 'temp'),
  }
  mkdirSync(env.RUNNER_TEMP)
  for (const name of ['output', 'summary']) write(name, '')
  let result
  for (const step of action.runs.steps) {
    const own = Object.entries(step.env).map(([name, expression]) => {
      const [, input] = /^\$\{\{ inputs\.([\w-]+) \}\}$/.exec(expression)
      return [name, inputs[input] ?? action.inputs[input].default]
    })
    result = bash(step.run, { ...env, ...Object.fromEntries(own) })
    if (result.status !== 0) break
  }
  return { ...result, output: read('output'), summary: read('summary') }
}

test('the scripts of the action contain no expressions, and use every input', () => {
  const steps = action.runs.steps
  for (const { run, shell } of steps) {
    expect(run).not.toContain('${{')
    expect(shell).toBe('bash')
  }
  const used = steps.flatMap(({ env }) => Object.values(env)).map((value) => value.match(/inputs\.([\w-]+)/)[1])
  expect(used.toSorted()).toEqual(Object.keys(action.inputs).toSorted())
})

test('the action passes a file without findings that meets its expectations', () => {
  const { status, stdout, summary, output } = runAction({ files: 'public/robots.txt', expectations: 'robots.expect' })
  expect({ status, stdout, output }).toEqual({ status: 0, stdout: '', output: '' })
  expect(summary).toContain('✓ no findings')
  expect(summary).toContain('✓ 2 expectations met by public/robots.txt')
  const { version } = JSON.parse(readFileSync('packages/cli/package.json', 'utf8'))
  expect(read('temp/npm-arguments')).toContain(`\npolitely@${version}\n`)
})

test('the action prints annotations, writes the summary and SARIF, and fails', () => {
  mkdirSync(join(folder, 'sites/a'), { recursive: true })
  write('sites/a/robots.txt', 'User-agent: *\nDisallow: admin\n')
  const { status, stdout, output, summary } = runAction({
    files: 'public/robots.txt\nsites/**/robots.txt\n',
    expectations: 'robots.expect',
    robots: 'sites/a/robots.txt',
    'sarif-file': 'robots.sarif',
    version: '9.9.9',
  })
  expect(stdout).toContain('::error file=sites/a/robots.txt,line=2,col=1,title=path-without-slash::')
  expect(stdout).toContain('::error file=robots.expect,line=2,title=deny * /admin::')
  expect(summary).toContain('1 of 2 expectations not met by sites/a/robots.txt')
  expect(output).toBe('sarif-file=robots.sarif\n')
  expect(JSON.parse(read('robots.sarif')).runs[0].results).toHaveLength(1)
  expect(read('temp/npm-arguments')).toContain('\npolitely@9.9.9\n')
  expect(status).toBe(1)
})

test.for([
  [{}, '::error::write files, expectations or both'],
  [{ files: 'no-such.txt' }, 'politely: lint: "no-such.txt": there is no such file'],
  [{ files: '--fix\n-x' }, 'politely: lint: "./--fix": there is no such file'],
  [{ files: 'public/robots.txt', 'max-severity': 'high' }, 'politely: --max-severity: "high" is not known'],
])('the action with the inputs %j exits with 2', ([inputs, problem]) => {
  const { status, stdout, stderr } = runAction(inputs)
  expect(stdout + stderr).toContain(problem)
  expect(status).toBe(2)
})

test('inputs are not run as commands', () => {
  const attack = `$(touch pwned)\`touch pwned\`"; touch pwned; ' --fix`
  runAction(Object.fromEntries(Object.keys(action.inputs).map((name) => [name, attack])))
  expect(readdirSync(folder)).not.toContain('pwned')
  expect(read('public/robots.txt')).toBe('User-agent: *\nDisallow: /admin\n')
})

const blocks = Array.from(page.matchAll(/^```(\w+)\n(.*?)^```/gms), ([, language, text]) => ({ language, text }))
const yaml = (name) => parse(blocks.find(({ text }) => text.startsWith(`# ${name}\n`)).text)

test('docs/ci.md lists the inputs of the action', () => {
  const rows = Object.entries(action.inputs).map(
    ([name, { description }]) => `| \`${name}\` | ${description.replace(/\.$/, '')}. |`,
  )
  expect(page).toContain(`| input | meaning |\n|---|---|\n${rows.join('\n')}\n`)
})

test.for(['robots', 'robots-scanning'])(
  'the workflow %s of docs/ci.md uses inputs and outputs of the action',
  (name) => {
    const [job] = Object.values(yaml(`.github/workflows/${name}.yml`).jobs)
    const step = job.steps.find(({ uses }) => uses.startsWith('politely-crawler/politely@'))
    for (const input of Object.keys(step.with)) expect(Object.keys(action.inputs)).toContain(input)
    for (const [, output] of JSON.stringify(job).matchAll(/outputs\.([\w-]+)/g))
      expect(Object.keys(action.outputs)).toContain(output)
  },
)

test('the GitLab jobs of docs/ci.md write their reports', () => {
  write('public/robots.txt', 'User-agent: *\nDisallow: admin\n')
  for (const { script, artifacts } of Object.values(yaml('.gitlab-ci.yml'))) {
    expect(bash(script.join('\n'), { CI_PROJECT_DIR: folder }).status).toBe(1)
    for (const report of Object.values(artifacts.reports)) expect(read(report)).toContain('public/robots.txt')
  }
})

test('the pre-commit hook and the script of docs/ci.md run', () => {
  const [{ hooks }] = yaml('.pre-commit-config.yaml').repos
  const [{ entry, files }] = hooks
  expect(['robots.txt', 'a/robots.txt', 'notrobots.txt'].filter((name) => new RegExp(files).test(name))).toHaveLength(2)
  expect(bash(`${entry} "$0"`, {}, ['public/robots.txt']).status).toBe(0)
  const { scripts } = JSON.parse(blocks.find(({ language }) => language === 'json').text)
  expect(bash(scripts.robots).status).toBe(0)
  write('robots.expect', 'deny * /\n')
  expect(bash(scripts.robots).status).toBe(1)
})
