// A crawler that sites meet, as its operator documents it.
//
// catalogue.ts has the data by operator, because the crawlers of an operator are documented on one or
// two pages. `listed` turns it into one flat list.

/**
 * What a crawler fetches pages for:
 * `search`: to build the index of a search engine;
 * `ai-training`: to train AI models, or for a dataset that is often used to train them;
 * `ai-search`: to build an index from which an AI product answers;
 * `ai-assistant`: to answer a question of a user. The user started the request;
 * `ai-agent`: to do a task of a user in the browser of an AI agent;
 * `preview`: to show a page or a feed that a user shared or subscribed to;
 * `seo`: for tools that analyse links and search results;
 * `archive`: to keep a copy for the public or for researchers;
 * `monitoring`: to check a site for its owner;
 * `advertising`: to choose and to check advertisements;
 * `scraper`: to collect data for customers;
 * `other`: for several purposes.
 * @inline
 */
type CrawlerPurpose =
  | 'search'
  | 'ai-training'
  | 'ai-search'
  | 'ai-assistant'
  | 'ai-agent'
  | 'preview'
  | 'seo'
  | 'archive'
  | 'monitoring'
  | 'advertising'
  | 'scraper'
  | 'other'

/** A crawler that sites meet, as its operator documents it. */
export interface KnownCrawler {
  /** Its product token: what is compared with user-agent lines. */
  readonly token: string
  /**
   * The name that files use. It differs from `token` if it has characters that a product token has
   * not, such as `archive.org_bot`; RFC 9309 compares the part before the first of them.
   */
  readonly name: string
  readonly operator: string
  readonly purpose: CrawlerPurpose
  /**
   * The tokens whose groups it reads if no group names it, in order. Only then does it read the
   * groups for `*`.
   */
  readonly fallbacks: readonly string[]
  /** Whether it reads the groups for `*`. */
  readonly readsStar: boolean
  /**
   * Whether it is only a name in robots.txt. No request carries it: the group that names it says
   * what may be done with pages that another crawler of the operator fetched.
   */
  readonly isControl: boolean
  /**
   * Whether it obeys robots.txt, as its operator documents it. `no`: the operator says that it
   * ignores the file, or may do so. `unclear`: the operator does not say, or the page was not read.
   */
  readonly obeys: 'yes' | 'no' | 'unclear'
  /** What took the place of a retired crawler. Undefined for a crawler that is in use. */
  readonly retired:
    | {
        /** The year since which no request carries the name; undefined if it is not documented. */
        readonly since: string | undefined
        /** The tokens of the crawlers that took its place; an empty list if none did. */
        readonly replacedBy: readonly string[]
      }
    | undefined
  /** The operator's page about the crawler, or about itself. */
  readonly source: string
  /**
   * The date on which a copy of the page was read, or another page that quotes it, such as
   * `2026-11-25`; undefined if neither was.
   */
  readonly readOn: string | undefined
}

/** A crawler in the data of its operator. What is left out has the value that most crawlers have. */
type CrawlerEntry = Pick<KnownCrawler, 'token' | 'purpose'> & Partial<KnownCrawler>

/** A page of an operator, and the crawlers that it documents. */
export interface OperatorPage {
  readonly operator: string
  readonly source: string
  readonly readOn?: string
  readonly crawlers: readonly CrawlerEntry[]
}

/** Returns the crawlers of the pages, complete and in the order of the pages. */
export function listed(pages: readonly OperatorPage[]): readonly KnownCrawler[] {
  return pages.flatMap(({ operator, source, readOn, crawlers }) =>
    crawlers.map(
      (entry): KnownCrawler => ({
        name: entry.token,
        operator,
        fallbacks: [],
        readsStar: true,
        isControl: false,
        obeys: 'unclear',
        retired: undefined,
        source,
        readOn,
        ...entry,
      }),
    ),
  )
}
