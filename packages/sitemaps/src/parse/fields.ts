// The elements whose text is kept, and how the texts become images, news and videos.
import { defined } from '../defined.ts'
import type { SitemapImage, SitemapNews, SitemapVideo } from '../entry.ts'
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

/** Returns undefined for an image without a URL. */
export function imageOf(texts: Texts): SitemapImage | undefined {
  const loc = texts.get('loc')
  if (loc === undefined) return undefined
  const rest = defined({
    title: texts.get('title'),
    caption: texts.get('caption'),
    geoLocation: texts.get('geo_location'),
    license: texts.get('license'),
  })
  return { loc, ...rest }
}

export function newsOf(texts: Texts): SitemapNews {
  return defined({
    name: texts.get('name'),
    language: texts.get('language'),
    title: texts.get('title'),
    publicationDate: texts.get('publication_date'),
    keywords: texts.get('keywords'),
    genres: texts.get('genres'),
  })
}

export function videoOf(texts: Texts): SitemapVideo {
  const seconds = Number(texts.get('duration'))
  return defined({
    title: texts.get('title'),
    description: texts.get('description'),
    thumbnailLoc: texts.get('thumbnail_loc'),
    contentLoc: texts.get('content_loc'),
    playerLoc: texts.get('player_loc'),
    duration: Number.isFinite(seconds) && texts.has('duration') ? seconds : undefined,
    publicationDate: texts.get('publication_date'),
  })
}
