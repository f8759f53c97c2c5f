// Real mistakes, in files of our own that are like the files in which they occur.
import type { FindingCode } from '@politely/core'
import type { PlaygroundState } from './state.ts'

export interface Mistake {
  /** The name in the link of the gallery. Never renamed. */
  readonly id: string
  readonly title: string
  /** What the author meant, and what happens. */
  readonly text: string
  /** The finding that says what to write; undefined if the file is correct by itself. */
  readonly code: FindingCode | undefined
  readonly state: PlaygroundState
}

type Shown = Pick<PlaygroundState, 'robots' | 'urls' | 'crawlers'> & Partial<PlaygroundState>

function mistake(id: string, title: string, text: string, code: FindingCode | undefined, shown: Shown): Mistake {
  const state = {
    before: undefined,
    dialect: 'rfc9309',
    page: undefined,
    open: { url: 0, crawler: 0 },
    ...shown,
  } as const
  return { id, title, text, code, state }
}

export const gallery: readonly Mistake[] = [
  mistake(
    'own-group',
    'A group of its own hides the group for *',
    'Googlebot got a group for one rule. Now it reads only this group, so the cart and the account pages are open to it.',
    'named-group-lacks-rules',
    {
      robots: `User-agent: *
Disallow: /cart/
Disallow: /account/

User-agent: Googlebot
Disallow: /search/
`,
      urls: [
        'https://shop.example/cart/',
        'https://shop.example/account/orders',
        'https://shop.example/search/?q=shoes',
      ],
      crawlers: ['Googlebot', 'Bingbot'],
    },
  ),
  mistake(
    'no-slash',
    'A path without a slash',
    'The rule matches nothing, because every path begins with a slash. The folder is open.',
    'path-without-slash',
    {
      robots: 'User-agent: *\nDisallow: internal/\nDisallow: *.bak\n',
      urls: ['https://site.example/internal/report', 'https://site.example/old.bak'],
      crawlers: ['Googlebot', 'Bingbot'],
    },
  ),
  mistake(
    'blank-line',
    'A blank line does not end a group',
    'The author meant: GPTBot may fetch everything, and CCBot nothing. There is no rule between the two names, so the rule is for both of them.',
    'names-merged-across-blank-line',
    {
      robots: 'User-agent: GPTBot\n\nUser-agent: CCBot\nDisallow: /\n',
      urls: ['https://site.example/', 'https://site.example/blog/'],
      crawlers: ['GPTBot', 'CCBot', 'Googlebot'],
    },
  ),
  mistake(
    'every-query',
    'Disallow: /*? closes more than was meant',
    'It was meant for filters, but it closes every URL with a question mark: also pages 2, 3 and so on, and style sheets with a version.',
    undefined,
    {
      robots: `User-agent: *
Disallow: /*?
Allow: /shoes?page=

Sitemap: https://shop.example/sitemap.xml
`,
      urls: [
        'https://shop.example/assets/main.css?v=12',
        'https://shop.example/shoes?page=2',
        'https://shop.example/shoes?color=red',
        'https://shop.example/shoes',
      ],
      crawlers: ['Googlebot', 'Bingbot'],
    },
  ),
  mistake(
    'dollar',
    'A $ stops at the end of the URL',
    'With $, the rule closes only URLs that end in .pdf. A query after .pdf makes it another URL, which is open.',
    undefined,
    {
      robots: 'User-agent: *\nDisallow: /*.pdf$\n',
      urls: [
        'https://site.example/price.pdf?lang=en',
        'https://site.example/price.pdf',
        'https://site.example/price.pdf/view',
      ],
      crawlers: ['Googlebot', '*'],
    },
  ),
  mistake(
    'dollar-inside',
    'A $ inside a path is a character',
    'A $ is special only at the end of a path. Here it must be in the URL, so the rule closes nothing.',
    'dollar-inside',
    {
      robots: 'User-agent: *\nDisallow: /print$/\nDisallow: /*.php$?\n',
      urls: ['https://site.example/print/1', 'https://site.example/index.php?id=1'],
      crawlers: ['Googlebot', 'Bingbot'],
    },
  ),
  mistake(
    'html-page',
    'The server answers with a page',
    'The application answers every unknown path with its start page, also /robots.txt. Crawlers find no rule in it, so everything is allowed.',
    'html-instead-of-robots',
    {
      robots: `<!doctype html>
<html>
<head><title>Shop</title></head>
<body><div id="app"></div><script src="/main.js"></script></body>
</html>
`,
      urls: ['https://app.example/admin/', 'https://app.example/'],
      crawlers: ['Googlebot', 'GPTBot'],
    },
  ),
  mistake(
    'bom',
    'A byte order mark',
    'An editor saved the file with a byte order mark, which is invisible. Most crawlers skip it. Others read it as part of the first key, and then the file has no group at all.',
    'bom',
    {
      robots: '\ufeffUser-agent: *\nDisallow: /private/\n',
      urls: ['https://site.example/private/1'],
      crawlers: ['Googlebot', '*'],
    },
  ),
  mistake(
    'utf-8-path',
    'Letters outside ASCII in a path',
    'Clients send é as %C3%A9. Crawlers that follow RFC 9309 compare both spellings as one. The panel shows each spelling as written and as compared.',
    'raw-non-ascii',
    {
      robots: 'User-agent: *\nDisallow: /préférences/\nDisallow: /caf%c3%a9/\n',
      urls: [
        'https://site.example/pr%C3%A9f%C3%A9rences/profil',
        'https://site.example/préférences/profil',
        'https://site.example/café/menu',
      ],
      crawlers: ['Googlebot', 'Bingbot'],
    },
  ),
  mistake(
    'tie',
    'Allow and Disallow for the same path',
    'Two rules of the same length match. The Allow wins, whichever comes first.',
    'conflicting-rules',
    {
      robots: 'User-agent: *\nDisallow: /downloads/\nAllow: /downloads/\n',
      urls: ['https://site.example/downloads/tool.zip'],
      crawlers: ['Googlebot', 'Bingbot'],
    },
  ),
  mistake(
    'first-match',
    'The order of rules does not count',
    'The author wrote the exception first, as old crawlers needed it. Today the longest rule wins, so the longer Disallow closes the page.',
    undefined,
    {
      robots: 'User-agent: *\nAllow: /docs/\nDisallow: /docs/internal\n',
      urls: ['https://site.example/docs/internal/plan', 'https://site.example/docs/'],
      crawlers: ['Googlebot', 'Bingbot'],
    },
  ),
  mistake(
    'crawl-delay',
    'A Crawl-delay with a unit, and in no group',
    'A delay is a number of seconds without a unit. Above the first user-agent line it applies to no crawler. Google ignores it anyway.',
    'crawl-delay-unreadable',
    {
      robots: 'Crawl-delay: 10\n\nUser-agent: Bingbot\nCrawl-delay: 10s\nDisallow: /search\n',
      urls: ['https://site.example/search?q=a', 'https://site.example/'],
      crawlers: ['Bingbot', 'Googlebot'],
    },
  ),
  mistake(
    'relative-sitemap',
    'A Sitemap line without a host',
    'Sitemap needs a whole URL. Crawlers ignore the line, and do not find the sitemap.',
    'sitemap-not-absolute',
    {
      robots: 'User-agent: *\nDisallow: /cart\n\nSitemap: /sitemap.xml\n',
      urls: ['https://shop.example/sitemap.xml', 'https://shop.example/cart'],
      crawlers: ['Googlebot', 'Bingbot'],
    },
  ),
  mistake(
    'blocked-css',
    'A closed folder with the style sheets',
    'The folder of the theme was closed to hide it. Google renders pages with their style sheets and scripts, and now does not see them.',
    undefined,
    {
      robots: `User-agent: *
Disallow: /wp-admin/
Allow: /wp-admin/admin-ajax.php
Disallow: /wp-content/
`,
      urls: [
        'https://blog.example/wp-content/themes/plain/style.css',
        'https://blog.example/wp-content/uploads/2026/photo.jpg',
        'https://blog.example/wp-admin/admin-ajax.php',
        'https://blog.example/2026/hello/',
      ],
      crawlers: ['Googlebot', 'Bingbot'],
    },
  ),
  mistake(
    'missing-colon',
    'A line without a colon, and a misspelt key',
    'Google reads both lines. Crawlers that follow the standard strictly may ignore them. The quick fix changes no verdict.',
    'missing-colon',
    {
      robots: 'User-agent: *\nDisallow /checkout\nDissallow: /account\n',
      urls: ['https://shop.example/checkout', 'https://shop.example/account'],
      crawlers: ['Googlebot', '*'],
    },
  ),
  mistake(
    'staging',
    'The file of the staging host went live',
    'Everything is closed to every crawler. Compare with the earlier file before you deploy: the changed verdicts are above the matrix.',
    'blocks-everything',
    {
      robots: 'User-agent: *\nDisallow: /\n',
      before: 'User-agent: *\nDisallow: /cart\n',
      urls: ['https://shop.example/', 'https://shop.example/shoes', 'https://shop.example/cart'],
      crawlers: ['Googlebot', 'Bingbot', 'GPTBot'],
    },
  ),
]

/** The hash of the link that opens a mistake. Unlike other links, it stays short and readable. */
export function mistakeHash({ id }: Mistake): string {
  return `#mistake=${id}`
}

/** Returns the mistake that a link names. */
export function mistakeOf(hash: string): Mistake | undefined {
  return gallery.find((mistake) => mistakeHash(mistake) === hash)
}
