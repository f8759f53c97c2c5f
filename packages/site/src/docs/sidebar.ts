// The pages of the site in groups by task.

import type { StarlightUserConfig } from '@astrojs/starlight/types'
import { pages } from './pages.ts'

type Sidebar = NonNullable<StarlightUserConfig['sidebar']>

/**
 * The pages of each group. `[page, label]` is a page whose title is too long for the sidebar.
 */
const GROUPS: Readonly<Record<string, readonly (string | readonly [page: string, label: string])[]>> = {
  Start: [
    ['getting-started', 'Five-minute start'],
    ['comparison', 'Comparison'],
    ['packages', 'Packages and examples'],
    ['migrating', 'Migrating'],
    ['robots-parser', 'Replacing robots-parser'],
    'glossary',
  ],
  'Read robots.txt': [
    ['playground-guide', 'Questions of webmasters'],
    'verdicts',
    'dialects',
    ['records', 'Records'],
    ['usage', 'Usage preferences'],
    'lint',
  ],
  'Fetch politely': [
    'polite-fetch',
    ['waiting', 'How fast'],
    ['pace-options', 'Pace options'],
    ['sites-that-fail', 'Sites that fail'],
    ['outcomes', 'Outcomes'],
    ['page-cache', 'Page cache'],
    ['signed-requests', 'Signed requests'],
    ['identity', 'Identity'],
    ['revisit', 'When to come again'],
    ['fetching', 'Fetching robots.txt'],
    'undici-and-node-http',
    'sitemaps',
  ],
  'Run a crawler': [
    ['testing', 'Testing'],
    'jest',
    'test-your-crawler',
    'recipes',
    'production',
    'troubleshooting',
    ['observing', 'Observing'],
    ['evidence', 'Evidence'],
    'stores',
    ['fleet', 'A fleet'],
    'postgres',
    ['serve', 'Other languages'],
    'operate',
    'pacers',
    'scale',
    'speed',
  ],
  Frameworks: [
    ['frameworks', 'Which framework'],
    ['adopt', 'Put it into a framework'],
    ['http-clients', 'HTTP clients'],
    'crawlee',
    ['browsers', 'Browsers'],
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
    ['reference/usage-cases', 'Cases of usage'],
    ['security', 'Security'],
    ['reference/public-names', 'Public names'],
    ['runtimes', 'Runtimes'],
    'versioning',
    'changelog',
  ],
}

/** Returns the groups, without pages that do not exist. @throws {Error} if a page is in no group. */
export function index(): readonly { readonly label: string; readonly pages: readonly PageLink[] }[] {
  const existing = new Set(pages().filter((page) => !page.startsWith('reference/api')))
  const groups = Object.entries(GROUPS).map(([label, group]) => ({
    label,
    pages: group.map((entry) => (typeof entry === 'string' ? { id: entry } : { id: entry[0], label: entry[1] })),
  }))
  const grouped = groups.flatMap((group) => group.pages.map(({ id }) => id))
  const forgotten = [...existing].filter((page) => !grouped.includes(page))
  if (forgotten.length > 0)
    throw new Error(`add to a group in packages/site/src/docs/sidebar.ts: ${forgotten.join(', ')}`)
  return groups.map((group) => ({ ...group, pages: group.pages.filter(({ id }) => existing.has(id)) }))
}

/** Returns the sidebar: the groups, the playground, and the pages of the API. */
export function sidebar(): Sidebar {
  const [start, ...others] = index().map(({ label, pages }) => ({
    label,
    items: pages.map(({ id, label }) => (label === undefined ? id : { slug: id, label })),
  }))
  const api = pages().filter((page) => page.startsWith('reference/api/'))
  return [
    {
      label: start?.label ?? '',
      items: [
        { label: 'Why Politely', link: '/' },
        ...(start?.items ?? []),
        { label: 'Playground', link: '/playground/' },
      ],
    },
    ...others,
    { label: 'API', collapsed: true, items: [{ slug: 'reference/api', label: 'All modules' }, ...api.toSorted()] },
  ]
}

/** A page, and its name in the sidebar if that is not its title. */
interface PageLink {
  readonly id: string
  readonly label?: string
}
