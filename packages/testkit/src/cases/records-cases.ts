// Test cases for records (RFC 9309 §2.2.4). No standard defines the syntax of crawl-delay,
// request-rate and visit-time, and libraries differ on most unusual forms, so each row has the
// parsed value and the reason. docs/records.md shows the rows.

/** A value and what it is parsed as. */
export interface ReadingCase {
  readonly field: 'crawl-delay' | 'request-rate' | 'visit-time'
  /** One value for each line of the field. */
  readonly values: readonly string[]
  /**
   * The parsed value: `1500 ms`; `1 in 10000 ms`, followed by `from 1080 to 1140` if it applies in
   * a part of the day; `from 360 to 525`; several of them separated by commas; or `nothing`.
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
  one('crawl-delay', '1.5', '1500 ms', 'a decimal fraction, which real files have and most libraries accept'),
  one('crawl-delay', '.5', '500 ms', '0.5 without its zero, the most frequent decimal in real files'),
  one('crawl-delay', '5.', '5000 ms', '5.0 without its decimals'),
  one('crawl-delay', '0', '0 ms', 'an explicit 0, which is not the same as no Crawl-delay'),
  one('crawl-delay', '007', '7000 ms', 'leading zeros do not change a decimal number'),
  one('crawl-delay', '0.0004', '0 ms', 'rounded to whole milliseconds'),
  one('crawl-delay', '1 # comment', '1000 ms', 'a comment is not part of the value (§2.2.3)'),
  one('crawl-delay', '86400', '86400000 ms', 'the delay that the site asks for; the caller may cap it'),
  one('crawl-delay', `1${'0'.repeat(400)}`, FINITE, 'a very long delay, capped at the largest exact integer'),
  one('crawl-delay', '', 'nothing', 'an empty value'),
  one('crawl-delay', '10s', 'nothing', 'no description of Crawl-delay has units'),
  one('crawl-delay', '10 s', 'nothing', 'the same'),
  one('crawl-delay', '10 20', 'nothing', 'two numbers, of which neither is preferred'),
  one('crawl-delay', '1,5', 'nothing', 'either a decimal comma or a list'),
  one('crawl-delay', '1e3', 'nothing', 'no description of Crawl-delay has exponents'),
  one('crawl-delay', '1.2.1', 'nothing', 'not a number'),
  one('crawl-delay', '-1', 'nothing', 'a delay is not negative, and to drop the sign would be a guess'),
  one('crawl-delay', '+1', 'nothing', 'no description of Crawl-delay has signs'),
  one('crawl-delay', '[5]', 'nothing', 'occurs in real files, but to search it for digits would be a guess'),
  one('crawl-delay', '\xd9\xa3', 'nothing', 'only ASCII digits are digits'),
  several('crawl-delay', ['1', '3', '2'], '3000 ms', 'the longest delay obeys all lines'),
  several('crawl-delay', ['5', 'ten'], '5000 ms', 'invalid lines are ignored (§2.3.1.5)'),
]

const requestRates: readonly ReadingCase[] = [
  one('request-rate', '1/10', '1 in 10000 ms', 'without a unit, the period is in seconds'),
  one('request-rate', '1/10s', '1 in 10000 ms', 'the form that Seznam describes'),
  one('request-rate', '1/10S', '1 in 10000 ms', 'units are compared without case'),
  one('request-rate', '1/10m', '1 in 600000 ms', 'minutes'),
  one('request-rate', '1/1h', '1 in 3600000 ms', 'hours'),
  one('request-rate', '9000/1d', '9000 in 86400000 ms', 'days'),
  one('request-rate', '5/1', '5 in 1000 ms', 'five each second'),
  one('request-rate', '01/010', '1 in 10000 ms', 'leading zeros do not change a decimal number'),
  one('request-rate', '1/10s 1800-1900', '1 in 10000 ms from 1080 to 1140', 'applies in that part of the UTC day'),
  one('request-rate', '1/10s 18:00-19:00 UTC', '1 in 10000 ms from 1080 to 1140', 'the same hours in another form'),
  one('request-rate', '1/5 2200-0600', '1 in 5000 ms from 1320 to 360', 'spans midnight'),
  one('request-rate', '1/10 # slow', '1 in 10000 ms', 'a comment is not part of the value (§2.2.3)'),
  one('request-rate', '', 'nothing', 'an empty value'),
  one('request-rate', '1', 'nothing', 'either a number of requests or a period: libraries differ'),
  one('request-rate', '0/1', 'nothing', 'would forbid every request, which is what Disallow is for'),
  one('request-rate', '1/0', 'nothing', 'either any number of requests or none'),
  one('request-rate', '1/', 'nothing', 'the period is missing'),
  one('request-rate', '1 / 10', 'nothing', 'a space separates the rate from its hours'),
  one('request-rate', '1/10 s', 'nothing', 'the same'),
  one('request-rate', '0.5/1', 'nothing', 'the number of requests is an integer'),
  one('request-rate', '-1/10', 'nothing', 'a rate is not negative'),
  one('request-rate', '1/10w', 'nothing', 'no description has this unit'),
  one(
    'request-rate',
    '1/10s 18-19',
    'nothing',
    'invalid hours: it is unclear whether the rate applies always or never',
  ),
  one('request-rate', '1/10s 0600-0600', 'nothing', 'the same'),
  one('request-rate', 'whale/banana', 'nothing', 'not numbers'),
  several(
    'request-rate',
    ['1/1s 2200-0600', '1/10'],
    '1 in 1000 ms from 1320 to 360, 1 in 10000 ms',
    'one rate for each line, each in its own part of the day',
  ),
]

const visitTimes: readonly ReadingCase[] = [
  one('visit-time', '0600-0845', 'from 360 to 525', 'the form of the extended standard: hours and minutes in UTC'),
  one('visit-time', '06:00-08:45', 'from 360 to 525', 'the same hours; no other meaning is possible'),
  one('visit-time', '0600 - 0845', 'from 360 to 525', 'the same'),
  one('visit-time', '0600-0845 UTC', 'from 360 to 525', 'UTC is the default'),
  one('visit-time', '2300-0100', 'from 1380 to 60', 'spans midnight'),
  one('visit-time', '0000-2400', 'from 0 to 1440', '24:00 is the end of the day (ISO 8601)'),
  one('visit-time', '1800-0000', 'from 1080 to 0', 'until midnight'),
  one('visit-time', '0000-2359', 'from 0 to 1439', 'the last minute is excluded; a minute of waiting does no harm'),
  one('visit-time', '2400-0600', 'nothing', '24:00 can only be an end'),
  one('visit-time', '2400', 'nothing', 'a time, not a part of the day'),
  one('visit-time', '0960-1000', 'nothing', 'minute 60 does not exist'),
  one('visit-time', '2542-3199', 'nothing', 'hour 25 does not exist'),
  one('visit-time', '0600-0600', 'nothing', 'either the whole day or no time; ignored, it is the whole day'),
  one(
    'visit-time',
    '600-845',
    'nothing',
    'without four digits (`11-12`, `1-230`) it is unclear which digits are minutes',
  ),
  one('visit-time', '11-12', 'nothing', 'the same'),
  one('visit-time', '12.00-17.00', 'nothing', 'no description separates hours and minutes with a point'),
  one('visit-time', '0200 0630', 'nothing', 'two times, not a part of the day'),
  one('visit-time', '0600-0845 EST', 'nothing', 'another time zone; as UTC it would be wrong by hours'),
  one('visit-time', '0600-0845 1200-1300', 'nothing', 'each part of the day needs its own line'),
  one('visit-time', '', 'nothing', 'an empty value: requests are welcome at any time'),
  several(
    'visit-time',
    ['0400-0845', 'at night', '2300-0100'],
    'from 240 to 525, from 1380 to 60',
    'requests are welcome in any of them; invalid lines are ignored (§2.3.1.5)',
  ),
]

export const readingCases: readonly ReadingCase[] = [...crawlDelays, ...requestRates, ...visitTimes]

/** A file and its records. */
export interface RecordsCase {
  readonly name: string
  /** One character for each byte. */
  readonly robots: string
  /**
   * Field, key and value as in the file, line, and the crawlers it applies to:
   * `crawl-delay: Crawl-Delay=10 on line 2 to a, b`.
   */
  readonly records: readonly string[]
  /** The records in the dialects with exact keys (1994 and 1996), if they differ. */
  readonly exact?: readonly string[]
}

const kept = (
  name: string,
  lines: readonly string[],
  records: readonly string[],
  exact?: readonly string[],
): RecordsCase => ({ name, robots: lines.join('\n'), records, ...(exact !== undefined && { exact }) })

export const recordsCases: readonly RecordsCase[] = [
  kept('finds none in a file of rules (RFC 9309 §2.2.4)', ['User-agent: *', '# Sitemap: x', 'Disallow: /', ''], []),
  kept(
    'accepts records for all crawlers anywhere (RFC 9309 §2.2.4)',
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
    'applies records of a group to the user-agent lines directly above (RFC 9309 §2.2.4)',
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
    'does not apply them to later user-agent lines of the same group (ours)',
    ['User-agent: a', 'Crawl-delay: 9', 'User-agent: b', 'Disallow: /', 'Crawl-delay: 1'],
    ['crawl-delay: Crawl-delay=9 on line 2 to a', 'crawl-delay: Crawl-delay=1 on line 5 to b'],
  ),
  kept(
    'keeps user-agent lines together across a blank line or a sitemap (ours)',
    ['User-agent: a', '', 'Sitemap: https://a.example/1', 'User-agent: b', 'Crawl-delay: 1'],
    ['sitemap: Sitemap=https://a.example/1 on line 3', 'crawl-delay: Crawl-delay=1 on line 5 to a, b'],
    ['sitemap: Sitemap=https://a.example/1 on line 3', 'crawl-delay: Crawl-delay=1 on line 5 to b'],
  ),
  kept(
    'applies a record above all user-agent lines to no crawler (ours)',
    ['Crawl-delay: 1', 'User-agent: a', 'Disallow: /'],
    ['crawl-delay: Crawl-delay=1 on line 1 to no crawler'],
  ),
  kept(
    'in the draft of 1996 (§3.2), applies a record after a blank line to no crawler',
    ['User-agent: a', 'Disallow: /', '', 'Crawl-delay: 1'],
    ['crawl-delay: Crawl-delay=1 on line 4 to a'],
    ['crawl-delay: Crawl-delay=1 on line 4 to no crawler'],
  ),
  kept(
    'keeps unknown fields unchanged (ours)',
    ['User-agent: a', 'Comment : it\xc3\xa9m: x # y', ':no key', 'Noarchive:'],
    ['unknown: Comment=it\u00e9m: x on line 2', 'unknown: Noarchive= on line 4'],
  ),
  kept(
    'recognises a sitemap by the beginning of its key (Google)',
    ['SITEMAPS: https://a.example/1', 'Site-map: https://a.example/2'],
    ['sitemap: SITEMAPS=https://a.example/1 on line 1', 'sitemap: Site-map=https://a.example/2 on line 2'],
    ['unknown: SITEMAPS=https://a.example/1 on line 1', 'unknown: Site-map=https://a.example/2 on line 2'],
  ),
  kept(
    'recognises fields that Google does not read by their whole name (ours)',
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
    'accepts a missing colon between two words (Google)',
    ['User-agent: a', 'Crawl-delay 1', 'Request-rate 1/10 0600-0700'],
    ['crawl-delay: Crawl-delay=1 on line 2 to a'],
    [],
  ),
]
