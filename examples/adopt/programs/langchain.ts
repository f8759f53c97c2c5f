// LangChain's RecursiveUrlLoader loads a page and the pages that it links to. It fetches 64 at
// once, each with a timeout, and leaves out pages that fail.
import dns, { type LookupOptions } from 'node:dns'
import { syncBuiltinESMExports } from 'node:module'
import { pathToFileURL } from 'node:url'
import type { Copy, Program, Result } from '../program.ts'

const FILE = 'dist/document_loaders/web/recursive_url.js'

export const langchain: Program = {
  installs: ['@langchain/community@1', '@langchain/core@1', 'jsdom@28'],
  ours: ['politely'],
  files: 'node_modules/@langchain/community',
  host: 'site.localhost', // the loader refuses 127.0.0.1
  fetchesPages: true,
  versions: {
    'as it is': () => {},
    'politely(fetch)': (copy) => wrapFetch(copy, 'minDelayMs: 0'),
    'with callerTimeouts': (copy) => wrapFetch(copy, "minDelayMs: 0, callerTimeouts: 'from-sending'"),
  },
  async crawl(copy, web) {
    resolveLocalNames()
    const { RecursiveUrlLoader } = await import(pathToFileURL(copy.path(FILE)).href)
    // jsdom blocks the timers: on a busy machine the unpatched loader loses pages too.
    const documents = await new RecursiveUrlLoader(web.index, { timeout: 3_000 }).load()
    const loaded = new Set(documents.map(({ metadata }: { metadata: { source: string } }) => metadata.source))
    const site = web.pages.filter(({ isOnSite }) => isOnSite)
    return new Map(site.map(({ url }): [string, Result] => [url, loaded.has(url) ? 'page' : 'refused']))
  },
}

function wrapFetch(copy: Copy, options: string): void {
  const jsdom = 'import { JSDOM'
  const fetch = `const fetch = politely(globalThis.fetch, { userAgent: 'ExampleBot/1.0 (+https://example.com/bot)', ${options} });`
  copy.edit(FILE, jsdom, `import { politely } from 'politely';\n${fetch}\n${jsdom}`)
}

/** Lets names that end in `.localhost` resolve where the system doesn't (RFC 6761 §6.3). */
function resolveLocalNames(): void {
  const { lookup } = dns
  const local = (name: string, options: LookupOptions, callback: (...results: unknown[]) => void) => {
    if (!name.endsWith('.localhost')) lookup(name, options, callback)
    else if (options.all) callback(null, [{ address: '127.0.0.1', family: 4 }])
    else callback(null, '127.0.0.1', 4)
  }
  dns.lookup = local as typeof lookup
  syncBuiltinESMExports()
}
