// The crawlers of the catalogue by purpose, to choose the columns of the matrix from.
import { type KnownCrawler, knownCrawlers } from '@politely/core/crawlers'

export interface Preset {
  readonly purpose: KnownCrawler['purpose']
  readonly title: string
  readonly crawlers: readonly KnownCrawler[]
}

const TITLES: Readonly<Record<KnownCrawler['purpose'], string>> = {
  search: 'Search engines',
  'ai-training': 'AI training',
  'ai-search': 'AI search',
  'ai-assistant': 'AI assistants',
  'ai-agent': 'AI agents',
  preview: 'Link previews',
  seo: 'SEO tools',
  archive: 'Archives',
  monitoring: 'Monitoring',
  advertising: 'Advertising',
  scraper: 'Data services',
  other: 'Several purposes',
}

/** The crawlers that are in use. */
export const presets: readonly Preset[] = (Object.keys(TITLES) as KnownCrawler['purpose'][])
  .map((purpose) => ({
    purpose,
    title: TITLES[purpose],
    crawlers: knownCrawlers.filter((crawler) => crawler.purpose === purpose && crawler.retired === undefined),
  }))
  .filter(({ crawlers }) => crawlers.length > 0)

/** Says what an operator documents about obeying robots.txt. */
export function obeysText({ obeys, isControl }: KnownCrawler): string {
  if (isControl) return 'a name in robots.txt only, which no request carries'
  return {
    yes: 'obeys robots.txt',
    no: 'may ignore robots.txt',
    unclear: 'not documented, or not read',
  }[obeys]
}
