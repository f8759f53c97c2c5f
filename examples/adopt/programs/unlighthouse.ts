// unlighthouse chooses the pages to scan with its own parser for robots.txt. The patch replaces it. Its
// functions for routes run here, without Lighthouse, which needs Chrome.
import { appendFileSync } from 'node:fs'
import { pathToFileURL } from 'node:url'
import { parseRobots } from '@politely/core'
import { type Copy, fetchAllowed, type Program } from '../program.ts'

const FILE = 'dist/index.mjs'

export const unlighthouse: Program = {
  installs: ['@unlighthouse/core@0.18'],
  ours: ['@politely/core'],
  files: 'node_modules/@unlighthouse/core',
  fetchesPages: false,
  versions: {
    'as it is': () => {},
    'with @politely/core': (copy) => {
      const merge = 'mergeRobotsTxtConfig(resolvedConfig, robotsTxtParsed);'
      copy.edit(FILE, 'import Sitemapper', 'import { parseRobots } from "@politely/core";\nimport Sitemapper')
      copy.edit(
        FILE,
        merge,
        `${merge}\nresolvedConfig.scanner._robots = parseRobots(robotsTxt).forCrawler("unlighthouse");`,
      )
      copy.edit(FILE, 'resolvedConfig.scanner._robotsTxtRules?.length', 'resolvedConfig.scanner._robots')
      copy.edit(
        FILE,
        'const rule = matchPathToRule(path, resolvedConfig.scanner._robotsTxtRules)',
        'const { allowed, rule } = resolvedConfig.scanner._robots.check(route.url)',
      )
      copy.edit(FILE, 'if (rule && !rule.allow)', 'if (!allowed)')
      copy.edit(FILE, '{rule.pattern}', '{rule.text}')
    },
  },
  async crawl(copy, web) {
    const own = await functionsOf(copy)
    const scanner = { robotsTxt: true, sitemap: false, crawler: false, dynamicSampling: false, maxRoutes: false }
    const resolvedConfig = {
      site: new URL(web.index).origin,
      scanner,
      lighthouseOptions: {},
      client: { groupRoutesKey: 'route.definition.name' },
      puppeteerClusterOptions: { puppeteer: {}, concurrency: 3 },
    }
    const runtimeSettings = { siteUrl: new URL(web.index), generatedClientPath: copy.folder }
    own.createLogger().level = 0
    own.engineContext.set({ hooks: own.createHooks(), resolvedConfig, runtimeSettings, provider: {} }, true)
    const worker = await own.createUnlighthouseWorker({})
    own.engineContext.set({ ...own.engineContext.use(), worker }, true)
    await own.resolveReportableRoutes() // reads robots.txt
    const site = web.pages.filter(({ isOnSite }) => isOnSite)
    return await fetchAllowed(site, (url) => {
      const route = own.normaliseRoute(url)
      worker.queueRoute(route)
      return worker.routeReports.has(route.id)
    })
  },
  async decide(copy, checks) {
    const own = await functionsOf(copy)
    return checks.map(({ robotsTxt, url }) => {
      if (copy.added > 0) return parseRobots(robotsTxt).forCrawler('unlighthouse').isAllowed(url)
      const { pathname, search } = new URL(url)
      const config = { scanner: { sitemap: false, _robotsTxtRules: [] } }
      own.mergeRobotsTxtConfig(config, own.parseRobotsTxt(robotsTxt))
      return own.matchPathToRule(pathname + search, config.scanner._robotsTxtRules).allow
    })
  },
}

/** Imports the program's file, with the names that it doesn't export. */
async function functionsOf(copy: Copy) {
  const names = `createHooks, createLogger, createUnlighthouseWorker, engineContext, matchPathToRule, mergeRobotsTxtConfig,
    normaliseRoute, parseRobotsTxt, resolveReportableRoutes`
  appendFileSync(copy.path(FILE), `\nexport { ${names} };`)
  return await import(pathToFileURL(copy.path(FILE)).href)
}
