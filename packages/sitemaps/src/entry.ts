// What a sitemap says about one URL.

/** An entry of a sitemap. Fields that the entry does not have are missing. */
export interface SitemapEntry {
  /** The URL of the page: absolute, http or https. */
  readonly loc: string
  /** The time of the last change. Milliseconds since 1970. Missing if the text is not a date. */
  readonly lastmod?: number
  /** The text of the date, as written. */
  readonly lastmodText?: string
  readonly changefreq?: string
  /** From 0 to 1. */
  readonly priority?: number
  /** The page in other languages. */
  readonly alternates?: readonly SitemapAlternate[]
  readonly images?: readonly SitemapImage[]
  readonly news?: SitemapNews
  readonly video?: readonly SitemapVideo[]
  /** The URL of the file that the entry comes from. */
  readonly file: string
  /** The other host, if the page is of another host than the file. */
  readonly foreign: false | ForeignHost
}

/**
 * sitemaps.org lets a file list pages of its own host only. Pages of another host count if the
 * robots.txt of that host names the file.
 * @inline
 */
export interface ForeignHost {
  readonly origin: string
  /**
   * `robots.txt`: the other host's robots.txt names the file, or the index that lists it. `none`: it
   * does not. `unchecked`: there is no RobotsClient, `maxForeignHosts` was reached, or that
   * robots.txt is unreachable.
   */
  readonly proof: 'robots.txt' | 'none' | 'unchecked'
}

/** The page in another language, or for another medium. */
export interface SitemapAlternate {
  /** The URL: absolute, resolved against the URL of the page. */
  readonly href: string
  readonly hreflang?: string
  readonly media?: string
}

/** An image on the page, by the image extension. */
export interface SitemapImage {
  /** The URL, as written. */
  readonly loc: string
  readonly title?: string
  readonly caption?: string
  readonly geoLocation?: string
  readonly license?: string
}

/** The page as a news article, by the news extension. The texts are as written. */
export interface SitemapNews {
  readonly name?: string
  readonly language?: string
  readonly title?: string
  readonly publicationDate?: string
  readonly keywords?: string
  readonly genres?: string
}

/** A video on the page, by the video extension. The texts are as written. */
export interface SitemapVideo {
  readonly title?: string
  readonly description?: string
  readonly thumbnailLoc?: string
  readonly contentLoc?: string
  readonly playerLoc?: string
  /** Seconds. */
  readonly duration?: number
  readonly publicationDate?: string
}
