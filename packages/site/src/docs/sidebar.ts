// The pages of the site in groups by task.

import type { StarlightUserConfig } from '@astrojs/starlight/types'
import { pages } from './pages.ts'

type Sidebar = NonNullable<StarlightUserConfig['sidebar']>

/**
 * The pages of each group. `[page, label]` is a page whose title is too long for the sidebar. A page that does
 * not exist is left out. A page that is in no group fails the build.
 */
const GROUPS: Readonly<Record<string, readonly (string | readonly [page: string, label: string])[]>> = {
  Start: [
    ['getting-started', 'Five-minute start'],
    ['migrating', 'Migrating'],
    ['robots-parser', 'Replacing robots-parser'],
    'glossary',
  ],
  'Read robots.txt': ['verdicts', 'dialects', ['records', 'Records'], 'usage', 'lint'],
  'Fetch politely': [
    'polite-fetch',
    'waiting',
    ['pauses', 'Pauses'],
    ['pace-options', 'Pace options'],
    ['fetching', 'Fetching robots.txt'],
    'undici-and-node-http',
    'sitemaps',
  ],
  'Run a crawler': [
    ['testing', 'Testing'],
    'production',
    'troubleshooting',
    ['observing', 'Observing'],
    'stores',
    ['fleet', 'A fleet'],
    'pacers',
    'scale',
    'speed',
  ],
  Frameworks: [
    ['frameworks', 'Which framework'],
    ['http-clients', 'HTTP clients'],
    'crawlee',
    'playwright',
    'puppeteer',
    ['mcp', 'MCP'],
  ],
  Command: [
    ['cli', 'All commands'],
    ['ci', 'In CI'],
    ['reference/output-formats', 'Output formats'],
  ],
  Reference: [
    'options',
    ['reference/errors', 'Errors'],
    ['reference/lint-findings', 'Lint findings'],
    ['reference/known-crawlers', 'Known crawlers'],
    ['conformance', 'Conformance'],
    ['reference/conformance', 'Where libraries differ'],
    ['reference/misbehaving-servers', 'Misbehaving servers'],
    ['reference/sitemap-readers', 'Readers of sitemaps'],
    ['security', 'Security'],
    ['runtimes', 'Runtimes'],
    'versioning',
    'changelog',
  ],
}

/** Returns the sidebar. @throws {Error} if a page is in no group. */
export function sidebar(): Sidebar {
  const existing = new Set(pages())
  const api = [...existing].filter((page) => page.startsWith('reference/api/')).toSorted()
  const grouped = Object.values(GROUPS).flatMap((group) => group.map(nameOf))
  const forgotten = [...existing].filter(
    (page) => page !== 'reference/api' && !grouped.includes(page) && !api.includes(page),
  )
  if (forgotten.length > 0)
    throw new Error(`add to a group in packages/site/src/docs/sidebar.ts: ${forgotten.join(', ')}`)
  const groups = Object.entries(GROUPS).map(([label, group]) => ({
    label,
    items: group
      .filter((entry) => existing.has(nameOf(entry)))
      .map((entry) => (typeof entry === 'string' ? entry : { slug: entry[0], label: entry[1] })),
  }))
  const [start, ...others] = groups
  if (start === undefined) return []
  return [
    {
      ...start,
      items: [{ label: 'Why Politely', link: '/' }, ...start.items, { label: 'Playground', link: '/playground/' }],
    },
    ...others,
    { label: 'API', collapsed: true, items: ['reference/api', ...api] },
  ]
}

function nameOf(entry: string | readonly [string, string]): string {
  return typeof entry === 'string' ? entry : entry[0]
}
