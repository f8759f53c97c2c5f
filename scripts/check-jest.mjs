// Runs the configurations and the test of docs/jest.md with two versions of Jest, and one test that
// needs no configuration: it requires the CommonJS builds.

import { execFile } from 'node:child_process'
import { mkdirSync, readFileSync, realpathSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { eachInParallel } from './packages.mjs'
import { JESTS } from './packed.mjs'

const run = promisify(execFile)
const PAGE = 'docs/jest.md'

/** One copy of core: an entry point knows the objects of another one. The drop-in stays a function. */
const REQUIRED = `
const { parseRobots } = require('@politely/core')
const { usageOf } = require('@politely/core/usage')
const robotsParser = require('robots-parser')

test('the CommonJS builds', () => {
  expect(require.resolve('@politely/core')).toMatch(/index\\.cjs$/)
  const robots = parseRobots('User-agent: *\\nDisallow: /cart\\nContent-Signal: ai-train=no')
  expect(robots.forCrawler('ExampleBot').isAllowed('/cart')).toBe(false)
  const usage = usageOf({ url: 'https://site.example/', tokens: 'ExampleBot', robots })
  expect(usage.purposes['train-ai'].answer).toBe('disallowed')
  for (const parse of [robotsParser, robotsParser.default])
    expect(parse('https://site.example/robots.txt', 'User-agent: *\\nDisallow: /cart').isAllowed('https://site.example/cart', 'a')).toBe(false)
})
`

/** @param app The project with the packages. @returns The problems. */
export async function jestProblems(app) {
  const page = readFileSync(PAGE, 'utf8')
  const [test] = blocksOf(page, 'ts')
  const [tsconfig] = blocksOf(page, 'json')
  const scripts = blocksOf(page, 'js')
  const script = (name) => scripts.find((code) => code.startsWith(`// ${name}\n`))
  const settings = (name) => ({ 'jest.config.js': script(`jest.config.js, ${name}`) })
  const setups = {
    nothing: { 'jest.config.js': 'module.exports = { transform: {} }', 'required.test.js': REQUIRED },
    babel: { ...settings('Babel'), 'babel.config.js': script('babel.config.js'), 'page.test.js': test },
    swc: { ...settings('SWC'), 'page.test.js': test },
    'ts-jest': { ...settings('ts-jest'), 'tsconfig.json': tsconfig, 'page.test.ts': test },
  }
  const runs = Object.keys(JESTS).flatMap((jest) =>
    Object.entries(setups).map(([name, files]) => ({ jest, name, files })),
  )
  const problems = await eachInParallel(runs, async ({ jest, name, files }) => {
    const folder = join(app, `${jest}-${name}`)
    const modules = join(folder, 'node_modules')
    mkdirSync(modules, { recursive: true })
    symlinkSync(realpathSync(join(app, 'node_modules/@politely/robots-parser')), join(modules, 'robots-parser')) // as `overrides` do
    for (const [file, text] of Object.entries({ 'package.json': '{ "private": true }', ...files }))
      writeFileSync(join(folder, file), text)
    const argv = [join(app, 'node_modules', jest, 'bin/jest.js'), `--cacheDirectory=${join(folder, 'cache')}`]
    const env = { ...process.env, NODE_OPTIONS: '' }
    return run(process.execPath, argv, { cwd: folder, env }).then(
      () => undefined,
      ({ stderr }) => `${PAGE}, ${jest}, ${name}:\n${stderr}`,
    )
  })
  return problems.filter((problem) => problem !== undefined)
}

function blocksOf(page, language) {
  return Array.from(page.matchAll(new RegExp(`^\`\`\`${language}\\n(.*?)^\`\`\``, 'gms')), ([, code]) => code)
}
