// The elements whose text is kept, and how the texts become images, news and videos.
import type { Space } from './names.ts'

/** The texts of the elements of an entry, an image, a video or a news part, by local name. */
export type Texts = Map<string, string>

/** The local names of the elements whose text is kept, for each vocabulary. */
export const FIELDS: Readonly<Record<Space, ReadonlySet<string>>> = {
  sitemap: new Set(['loc', 'lastmod', 'changefreq', 'priority']),
  image: new Set(['loc', 'title', 'caption', 'geo_location', 'license']),
  video: new Set([
    'title',
    'description',
    'thumbnail_loc',
    'content_loc',
    'player_loc',
    'duration',
    'publication_date',
  ]),
  news: new Set(['name', 'language', 'title', 'publication_date', 'keywords', 'genres']),
  xhtml: new Set(),
  other: new Set(),
}

/** The elements of a feed, and the elements of a sitemap that mean the same. */
export const FEED_FIELDS: ReadonlyMap<string, string> = new Map([
  ['link', 'loc'],
  ['guid', 'guid'],
  ['pubdate', 'lastmod'],
  ['updated', 'lastmod'],
  ['modified', 'lastmod'],
  ['published', 'published'],
])

/** The fields whose text is a URL. */
export const URL_FIELDS: ReadonlySet<string> = new Set([
  'loc',
  'guid',
  'license',
  'thumbnail_loc',
  'content_loc',
  'player_loc',
])

/**
 * Returns an image, a video or a news part, in the order of `FIELDS`. A property has the name of its
 * element in camel case. A duration that is not a number is left out.
 */
export function itemOf(space: 'image' | 'video' | 'news', texts: Texts): object {
  const item: Record<string, string | number> = {}
  for (const name of FIELDS[space]) {
    const text = texts.get(name)
    if (text === undefined || (name === 'duration' && !Number.isFinite(Number(text)))) continue
    item[PROPERTIES.get(name) as string] = name === 'duration' ? Number(text) : text
  }
  return item
}

/** The property for each element, such as `geoLocation` for `geo_location`. */
const PROPERTIES: ReadonlyMap<string, string> = new Map(
  Object.values(FIELDS).flatMap((names) => [...names].map((name) => [name, camelCase(name)] as const)),
)

function camelCase(name: string): string {
  return name.replace(/_(.)/g, (_, letter: string) => letter.toUpperCase())
}
