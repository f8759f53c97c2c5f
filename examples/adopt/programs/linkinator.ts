// linkinator checks links. Its fetch becomes polite, and a refusal is a skipped link.
import { pathToFileURL } from 'node:url'
import type { Copy, Program, Result } from '../program.ts'

const FILE = 'build/src/request.js'
const STATES: Readonly<Record<string, Result>> = { OK: 'page', SKIPPED: 'refused', BROKEN: 'failed' }

/** Wraps undici's fetch, and leaves the User-Agent to the wrapper. */
function wrapFetch(copy: Copy, options: string): void {
  copy.edit(
    FILE,
    "fetch as undiciFetch, } from 'undici';",
    `fetch as rawFetch, } from 'undici';
import { politely, refusalOf } from 'politely';
const undiciFetch = politely(rawFetch, { userAgent: 'linkinator/8 (+https://example.com/bot)', ${options} });`,
  )
  copy.edit(FILE, "    'User-Agent': 'node',\n", '')
}

export const linkinator: Program = {
  installs: ['linkinator@8'],
  ours: ['politely'],
  files: 'node_modules/linkinator',
  fetchesPages: true,
  versions: {
    'as it is': () => {},
    'politely(fetch)': (copy) => wrapFetch(copy, "minDelayMs: 0, onDisallowed: 'response'"),
    'with callerTimeouts and SKIPPED': (copy) => {
      wrapFetch(copy, "minDelayMs: 0, onDisallowed: 'response', callerTimeouts: 'from-sending'")
      copy.edit(
        FILE,
        'const headers = Object.fromEntries(response',
        `if (refusalOf(response))
            return { status: response.status, headers: {}, url: currentUrl, redirectSkipped: currentUrl };
        const headers = Object.fromEntries(response`,
      )
    },
  },
  async crawl(copy, web) {
    const { LinkChecker } = await import(pathToFileURL(copy.path('build/src/index.js')).href)
    const { links } = await new LinkChecker().check({ path: web.index, recurse: true, timeout: 3_000 })
    return new Map(links.map(({ url, state }: { url: string; state: string }) => [url, STATES[state]]))
  },
}
