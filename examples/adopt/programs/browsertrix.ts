// browsertrix-crawler asks its robots.ts before each page. The patch lets a RobotsClient answer.
// The other files that robots.ts imports are stand-ins here.
import { readFileSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { pathToFileURL } from 'node:url'
import { type Copy, fetchAllowed, type Program } from '../program.ts'

const FILE = 'src/util/robots.ts'

const STAND_INS = {
  logger: 'export const logger = { debug() {}, warn() {} }',
  timing: 'export const timedRun = (promise) => promise',
  proxy: `import { Agent, interceptors } from 'undici'
    const plain = new Agent()
    const redirecting = plain.compose(interceptors.redirect({ maxRedirections: 5 }))
    export const getProxyDispatcher = (url, withRedirect = true) => (withRedirect ? redirecting : plain)`,
}

export const browsertrix: Program = {
  installs: ['undici@7', 'robots-parser@3', 'typescript@5'],
  ours: ['@politely/fetcher'],
  files: { repository: 'https://github.com/webrecorder/browsertrix-crawler', paths: [FILE] },
  fetchesPages: false,
  versions: {
    'as it is': () => {},
    'with a RobotsClient': useClient,
  },
  async crawl(copy, web) {
    for (const [name, code] of Object.entries(STAND_INS)) writeFileSync(copy.path(`src/util/${name}.js`), code)
    const typescript = createRequire(copy.path(FILE))('typescript')
    const compilerOptions = { target: 'es2022', module: 'es2022' }
    const { outputText } = typescript.transpileModule(readFileSync(copy.path(FILE), 'utf8'), { compilerOptions })
    writeFileSync(copy.path('src/util/robots.js'), outputText)

    const { isDisallowedByRobots, setRobotsConfig } = await import(pathToFileURL(copy.path('src/util/robots.js')).href)
    const cache = new Map<string, string>() // Redis in the program
    setRobotsConfig(
      { 'User-Agent': 'Browsertrix/1.x' },
      {
        getCachedRobots: async (url: string) => cache.get(url) ?? null,
        setCachedRobots: async (url: string, body: string) => cache.set(url, body),
      },
    )
    return await fetchAllowed(web.pages, async (url) => !(await isDisallowedByRobots(url, {}, 'Browsertrix/1.x')))
  },
}

function useClient(copy: Copy): void {
  copy.edit(
    FILE,
    'import robotsParser, { Robot } from "robots-parser";',
    'import { RobotsClient } from "@politely/fetcher";',
  )
  copy.edit(FILE, 'import { request } from "undici";\n', '')
  copy.edit(FILE, 'import { timedRun } from "./timing.js";\n', '')
  copy.editBetween(FILE, 'let headers', 'export function setRobotsConfig', 'let client: RobotsClient | undefined;\n\n')
  copy.edit(FILE, '  headers = _headers;\n  crawlState = state;\n', '')
  copy.editBetween(
    FILE,
    '  const robots = await',
    'async function fetchAndParseRobots',
    `  client ??= new RobotsClient({ userAgent: robotsAgent, dispatcher: (origin) => getProxyDispatcher(origin, false, false) });
  return !(await client.check(url)).allowed;
}
`,
  )
  copy.editBetween(FILE, 'async function fetchAndParseRobots', '\0', '')
}
