// Records beside the rules (RFC 9309 §2.2.4), as rows. No standard says how crawl-delay, request-rate and visit-time are
// written, and libraries differ on most doubtful forms; so each row says what is read, and why. docs/records.md shows them.

/** A value, and what is read in it. */
export interface ReadingCase {
  readonly field: 'crawl-delay' | 'request-rate' | 'visit-time'
  /** One value for each line of the field. */
  readonly values: readonly string[]
  /**
   * `1500 ms`; `1 in 10000 ms`, with `from 1080 to 1140` where it holds in a part of the day; `from 360 to 525`; several with a
   * comma between; or `nothing`.
   */
  readonly reads: string
  readonly reason: string
}

const one = (field: ReadingCase['field'], value: string, reads: string, reason: string): ReadingCase => ({
  field,
  values: [value],
  reads,
  reason,
})

const several = (
  field: ReadingCase['field'],
  values: readonly string[],
  reads: string,
  reason: string,
): ReadingCase => ({
  field,
  values,
  reads,
  reason,
})

const FINITE = '9007199254740991 ms'

const crawlDelays: readonly ReadingCase[] = [
  one('crawl-delay', '10', '10000 ms', 'whole seconds, as Bing and Yandex describe it'),
  one('crawl-delay', '1.5', '1500 ms', 'a decimal fraction, which real files write and most libraries read'),
  one('crawl-delay', '.5', '500 ms', 'the same number without its zero; the most frequent decimal of real files'),
  one('crawl-delay', '5.', '5000 ms', 'the same number without its decimals'),
  one('crawl-delay', '0', '0 ms', 'a site may say that it needs no pause; that is not the same as saying nothing'),
  one('crawl-delay', '007', '7000 ms', 'leading zeros change no decimal number'),
  one('crawl-delay', '0.0004', '0 ms', 'rounded to whole milliseconds'),
  one('crawl-delay', '1 # comment', '1000 ms', 'a comment is no part of the value (§2.2.3)'),
  one('crawl-delay', '86400', '86400000 ms', 'what the site asks for; how much of it to obey is for the caller to cap'),
  one('crawl-delay', `1${'0'.repeat(400)}`, FINITE, 'still a number, and a very long pause: the longest that is exact'),
  one('crawl-delay', '', 'nothing', 'says nothing'),
  one('crawl-delay', '10s', 'nothing', 'nobody describes a unit here; `10m` would be the next guess'),
  one('crawl-delay', '10 s', 'nothing', 'the same'),
  one('crawl-delay', '10 20', 'nothing', 'two numbers, and no word on which'),
  one('crawl-delay', '1,5', 'nothing', 'a decimal comma, or a list'),
  one('crawl-delay', '1e3', 'nothing', 'not a form that anybody writes by intent'),
  one('crawl-delay', '1.2.1', 'nothing', 'no number'),
  one('crawl-delay', '-1', 'nothing', 'no pause is negative; to take off the sign would be a guess'),
  one('crawl-delay', '+1', 'nothing', 'a sign is no part of a decimal number in any description'),
  one('crawl-delay', '[5]', 'nothing', 'seen in real files; to look for digits inside would be a guess'),
  one('crawl-delay', '\xd9\xa3', 'nothing', 'digits are those of ASCII'),
  several('crawl-delay', ['1', '3', '2'], '3000 ms', 'whoever keeps the longest pause obeys every line'),
  several('crawl-delay', ['5', 'ten'], '5000 ms', 'the lines that can be read (§2.3.1.5)'),
]

const requestRates: readonly ReadingCase[] = [
  one('request-rate', '1/10', '1 in 10000 ms', 'without a unit it is seconds'),
  one('request-rate', '1/10s', '1 in 10000 ms', 'as Seznam writes it'),
  one('request-rate', '1/10S', '1 in 10000 ms', 'units are words, and words here have no case'),
  one('request-rate', '1/10m', '1 in 600000 ms', 'minutes'),
  one('request-rate', '1/1h', '1 in 3600000 ms', 'hours'),
  one('request-rate', '9000/1d', '9000 in 86400000 ms', 'days, the next unit of the row'),
  one('request-rate', '5/1', '5 in 1000 ms', 'five each second: a rate, not a pause'),
  one('request-rate', '01/010', '1 in 10000 ms', 'leading zeros change no decimal number'),
  one('request-rate', '1/10s 1800-1900', '1 in 10000 ms from 1080 to 1140', 'holds in that part of the UTC day'),
  one('request-rate', '1/10s 18:00-19:00 UTC', '1 in 10000 ms from 1080 to 1140', 'the same hours, written otherwise'),
  one('request-rate', '1/5 2200-0600', '1 in 5000 ms from 1320 to 360', 'over midnight'),
  one('request-rate', '1/10 # slow', '1 in 10000 ms', 'a comment is no part of the value (§2.2.3)'),
  one('request-rate', '', 'nothing', 'says nothing'),
  one('request-rate', '1', 'nothing', 'a number of requests, or a period: libraries differ'),
  one('request-rate', '0/1', 'nothing', 'no request ever; a Disallow says that, and is obeyed'),
  one('request-rate', '1/0', 'nothing', 'any number of requests, or none'),
  one('request-rate', '1/', 'nothing', 'half of a rate'),
  one('request-rate', '1 / 10', 'nothing', 'a blank separates the rate from its hours'),
  one('request-rate', '1/10 s', 'nothing', 'the same'),
  one('request-rate', '0.5/1', 'nothing', 'requests are counted in whole numbers'),
  one('request-rate', '-1/10', 'nothing', 'no rate is negative'),
  one('request-rate', '1/10w', 'nothing', 'not a unit that anybody describes'),
  one('request-rate', '1/10s 18-19', 'nothing', 'a rate whose hours cannot be read: always, or never?'),
  one('request-rate', '1/10s 0600-0600', 'nothing', 'the same'),
  one('request-rate', 'whale/banana', 'nothing', 'no numbers'),
  several(
    'request-rate',
    ['1/1s 2200-0600', '1/10'],
    '1 in 1000 ms from 1320 to 360, 1 in 10000 ms',
    'one for each line: each holds in its own part of the day',
  ),
]

const visitTimes: readonly ReadingCase[] = [
  one('visit-time', '0600-0845', 'from 360 to 525', 'the form of the extended standard; hours and minutes in UTC'),
  one('visit-time', '06:00-08:45', 'from 360 to 525', 'the same hours, read in one way only'),
  one('visit-time', '0600 - 0845', 'from 360 to 525', 'the same'),
  one('visit-time', '0600-0845 UTC', 'from 360 to 525', 'says what holds anyway'),
  one('visit-time', '2300-0100', 'from 1380 to 60', 'over midnight'),
  one('visit-time', '0000-2400', 'from 0 to 1440', '24:00 is the end of the day (ISO 8601)'),
  one('visit-time', '1800-0000', 'from 1080 to 0', 'until midnight'),
  one('visit-time', '0000-2359', 'from 0 to 1439', 'the end is not part of it; a minute of waiting does no harm'),
  one('visit-time', '2400-0600', 'nothing', '24:00 is no beginning of a day'),
  one('visit-time', '2400', 'nothing', 'a time, and not a part of the day'),
  one('visit-time', '0960-1000', 'nothing', 'no hour has a minute 60'),
  one('visit-time', '2542-3199', 'nothing', 'no day has an hour 25'),
  one('visit-time', '0600-0600', 'nothing', 'a whole day or no time at all; not obeyed, it is the whole day'),
  one('visit-time', '600-845', 'nothing', 'without four digits (`11-12`, `1-230`) it is not clear which are minutes'),
  one('visit-time', '11-12', 'nothing', 'the same'),
  one('visit-time', '12.00-17.00', 'nothing', 'a point is no separator of hours in any description'),
  one('visit-time', '0200 0630', 'nothing', 'two times, and not a part of the day'),
  one('visit-time', '0600-0845 EST', 'nothing', 'another zone; to obey it as UTC would be wrong by hours'),
  one('visit-time', '0600-0845 1200-1300', 'nothing', 'each part of the day has a line of its own'),
  one('visit-time', '', 'nothing', 'says nothing, so visits are welcome at any time'),
  several(
    'visit-time',
    ['0400-0845', 'at night', '2300-0100'],
    'from 240 to 525, from 1380 to 60',
    'open in any of them; what cannot be read is passed over (§2.3.1.5)',
  ),
]

export const readingCases: readonly ReadingCase[] = [...crawlDelays, ...requestRates, ...visitTimes]

/** A file, and the records that are kept of it. */
export interface RecordsCase {
  readonly name: string
  /** One character for each byte. */
  readonly robots: string
  /** Field, key and value as written, line, and to whom it speaks: `crawl-delay: Crawl-Delay=10 on line 2 to a, b`. */
  readonly records: readonly string[]
  /** The same in the dialects whose keys are exact (those of the nineties), where they differ. */
  readonly exact?: readonly string[]
}

const kept = (
  name: string,
  lines: readonly string[],
  records: readonly string[],
  exact?: readonly string[],
): RecordsCase => ({ name, robots: lines.join('\n'), records, ...(exact !== undefined && { exact }) })

export const recordsCases: readonly RecordsCase[] = [
  kept('§2.2.4 a file of rules has none', ['User-agent: *', '# Sitemap: x', 'Disallow: /', ''], []),
  kept(
    '§2.2.4 what is said to everyone stands anywhere',
    [
      'Sitemap: https://a.example/1',
      'User-agent: a',
      'Host: a.example',
      'Clean-param: ref /b',
      'License: https://l.example/',
    ],
    [
      'sitemap: Sitemap=https://a.example/1 on line 1',
      'host: Host=a.example on line 3',
      'clean-param: Clean-param=ref /b on line 4',
      'license: License=https://l.example/ on line 5',
    ],
  ),
  kept(
    '§2.2.4 what is said to crawlers names those right above it',
    [
      'User-agent: a',
      'User-agent: b',
      'Crawl-delay: 1',
      'Request-rate: 1/1',
      'Visit-time: 0600-0700',
      'Noindex: /n',
      'Content-Usage: /x train-ai=n',
      'Content-Signal: search=yes',
    ],
    [
      'crawl-delay: Crawl-delay=1 on line 3 to a, b',
      'request-rate: Request-rate=1/1 on line 4 to a, b',
      'visit-time: Visit-time=0600-0700 on line 5 to a, b',
      'noindex: Noindex=/n on line 6 to a, b',
      'content-usage: Content-Usage=/x train-ai=n on line 7 to a, b',
      'content-signal: Content-Signal=search=yes on line 8 to a, b',
    ],
  ),
  kept(
    'ours: and no later ones, although they share a group',
    ['User-agent: a', 'Crawl-delay: 9', 'User-agent: b', 'Disallow: /', 'Crawl-delay: 1'],
    ['crawl-delay: Crawl-delay=9 on line 2 to a', 'crawl-delay: Crawl-delay=1 on line 5 to b'],
  ),
  kept(
    'ours: a blank line or a sitemap leaves the names together',
    ['User-agent: a', '', 'Sitemap: https://a.example/1', 'User-agent: b', 'Crawl-delay: 1'],
    ['sitemap: Sitemap=https://a.example/1 on line 3', 'crawl-delay: Crawl-delay=1 on line 5 to a, b'],
    ['sitemap: Sitemap=https://a.example/1 on line 3', 'crawl-delay: Crawl-delay=1 on line 5 to b'],
  ),
  kept(
    'ours: above all names it speaks to nobody',
    ['Crawl-delay: 1', 'User-agent: a', 'Disallow: /'],
    ['crawl-delay: Crawl-delay=1 on line 1 to nobody'],
  ),
  kept(
    '1996 §3.2: after a blank line too',
    ['User-agent: a', 'Disallow: /', '', 'Crawl-delay: 1'],
    ['crawl-delay: Crawl-delay=1 on line 4 to a'],
    ['crawl-delay: Crawl-delay=1 on line 4 to nobody'],
  ),
  kept(
    'ours: unknown fields are kept as they stand',
    ['User-agent: a', 'Comment : it\xc3\xa9m: x # y', ':no key', 'Noarchive:'],
    ['unknown: Comment=it\u00e9m: x on line 2', 'unknown: Noarchive= on line 4'],
  ),
  kept(
    'Google: a sitemap is known by its beginning',
    ['SITEMAPS: https://a.example/1', 'Site-map: https://a.example/2'],
    ['sitemap: SITEMAPS=https://a.example/1 on line 1', 'sitemap: Site-map=https://a.example/2 on line 2'],
    ['unknown: SITEMAPS=https://a.example/1 on line 1', 'unknown: Site-map=https://a.example/2 on line 2'],
  ),
  kept(
    'ours: fields that Google does not read are known by the whole name',
    [
      'User-agent: a',
      'CRAWL-DELAY: 1',
      'Crawl-delays: 2',
      'crawldelay: 3',
      'Craw-delay: 4',
      'Site map: 5',
      'Content-Signals: /x',
      'Host-Load: 1',
    ],
    [
      'crawl-delay: CRAWL-DELAY=1 on line 2 to a',
      'unknown: Crawl-delays=2 on line 3',
      'unknown: crawldelay=3 on line 4',
      'unknown: Craw-delay=4 on line 5',
      'unknown: Site map=5 on line 6',
      'unknown: Content-Signals=/x on line 7',
      'unknown: Host-Load=1 on line 8',
    ],
  ),
  kept(
    'Google: between two words the colon may be missing',
    ['User-agent: a', 'Crawl-delay 1', 'Request-rate 1/10 0600-0700'],
    ['crawl-delay: Crawl-delay=1 on line 2 to a'],
    [],
  ),
]
