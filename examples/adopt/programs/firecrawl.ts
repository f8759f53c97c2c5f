// firecrawl's API runs its tests with Jest 29, and reads robots.txt with robots-parser. An override
// in package.json puts ours in its place. Its robots-txt.ts runs here in a Jest test.
import { execFile } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { type Check, type Copy, fetchAllowed, type Program } from '../program.ts'

const FOLDER = 'apps/api/src/lib'

const TEST = `import { readFileSync, writeFileSync } from 'node:fs'
import { checkRobotsTxt, createRobotsChecker, isUrlAllowedByRobots } from './robots-txt'
test('decides', async () => {
  const { urls, checks } = JSON.parse(readFileSync(__dirname + '/input.json', 'utf8'))
  const allowed = {}
  for (const url of urls) allowed[url] = await checkRobotsTxt(url)
  const decided = checks.map(({ robotsTxt, url }) => isUrlAllowedByRobots(url, createRobotsChecker(url, robotsTxt).robots))
  writeFileSync(__dirname + '/output.json', JSON.stringify({ allowed, decided }))
}, 60_000)`

export const firecrawl: Program = {
  installs: ['robots-parser@3', 'axios@1', 'winston@3', 'jest@29', 'ts-jest@29', 'typescript@5'],
  ours: ['@politely/robots-parser'],
  files: {
    repository: 'https://github.com/firecrawl/firecrawl',
    paths: [`${FOLDER}/robots-txt.ts`, `${FOLDER}/timeout.ts`, 'apps/api/jest.config.js'],
  },
  fetchesPages: false,
  versions: {
    'as it is': () => {},
    'with the override': (copy) => copy.override('robots-parser', copy.path('../node_modules/@politely/robots-parser')),
  },
  async crawl(copy, web) {
    const { allowed } = await runJest(copy, { urls: web.pages.map(({ url }) => url), checks: [] })
    return await fetchAllowed(web.pages, (url) => allowed[url] ?? false)
  },
  decide: async (copy, checks) => (await runJest(copy, { urls: [], checks })).decided,
}

/** Runs the program's file in a test, with the Jest of the program. */
async function runJest(copy: Copy, input: { readonly urls: readonly string[]; readonly checks: readonly Check[] }) {
  const api = copy.path('apps/api')
  writeFileSync(join(api, 'package.json'), '{}')
  writeFileSync(join(api, 'jest.setup.js'), '')
  writeFileSync(
    join(api, 'tsconfig.json'),
    '{ "compilerOptions": { "esModuleInterop": true, "module": "commonjs", "isolatedModules": true } }',
  )
  writeFileSync(copy.path(`${FOLDER}/adopt.test.ts`), TEST)
  writeFileSync(copy.path(`${FOLDER}/input.json`), JSON.stringify(input))
  const jest = copy.path('../node_modules/jest/bin/jest.js')
  const env = { ...process.env, NODE_OPTIONS: '' }
  await promisify(execFile)(process.execPath, [jest], { cwd: api, env }).catch(({ stderr }) => {
    throw new Error(/\w*Error: .*/.exec(stderr)?.[0] ?? stderr)
  })
  return JSON.parse(readFileSync(copy.path(`${FOLDER}/output.json`), 'utf8'))
}
