// The flags that several commands share, so that they have one name and one meaning everywhere.
import type { DialectName } from '@politely/core'
import { ALLOW_ADDRESS, MIN_DELAY, USER_AGENT } from '@politely/core/review'
import type { Arguments, Flag } from './command-line.ts'

export { ALLOW_ADDRESS, MIN_DELAY, USER_AGENT }

export const PRODUCT_TOKEN: Flag = {
  name: 'product-token',
  value: 'TOKEN',
  text: 'the name to look for in robots.txt, if --user-agent has another name; of several, the first that the file names counts. A known crawler, given once, reads the groups that its operator documents',
  isRepeatable: true,
}

/** As `dialects` of core; a test compares them. Core is not loaded for `--help`. */
const DIALECTS = ['rfc9309', 'google', 'draft-koster-rep-00', 'koster-1996', 'original-1994'] as const

export const DIALECT: Flag = {
  name: 'dialect',
  value: 'NAME',
  text: 'how to read robots.txt',
  choices: DIALECTS,
  byDefault: 'rfc9309',
}

export const ROBOTS: Flag = {
  name: 'robots',
  value: 'FILE',
  text: 'a robots.txt file, - for stdin, or the URL of a site',
}

/** The flags of requests. */
export const NETWORK: readonly Flag[] = [
  {
    name: 'timeout',
    value: 'SECONDS',
    text: 'time limit for one robots.txt, including redirects and retries',
    byDefault: '20',
  },
  { name: 'proxy', value: 'URL', text: 'the HTTP proxy for all requests' },
  ALLOW_ADDRESS,
]

export const MAX_WAIT: Flag = {
  name: 'max-wait',
  value: 'SECONDS',
  text: 'the longest wait before a request; a page that needs a longer one is not fetched',
  defaultText: 'no limit',
}

export const RETRY: Flag = {
  name: 'retry',
  value: 'NUMBER',
  text: 'request a page again, at most so many times, after a failure that may pass: no response or half of one, a status such as 503, or 429',
  byDefault: '0',
}

/** The file that keeps robots.txt between runs, for the commands that use the network. */
export const STORE: Flag = {
  name: 'store',
  value: 'FILE',
  text: 'an SQLite file that keeps robots.txt between runs; created if necessary',
  defaultText: 'the environment variable POLITELY_STORE',
}

/** The file that keeps pages between runs. */
export const CACHE: Flag = {
  name: 'cache',
  value: 'FILE',
  text: 'an SQLite file that keeps pages between runs; created if necessary. Needs the package @politely/cache',
  defaultText: 'no page is kept',
}

/** Where the URLs come from. */
export const URLS: readonly Flag[] = [
  { name: 'urls', value: 'FILE', text: 'a file with URLs or paths, also compressed (.gz); - for stdin' },
  { name: 'sitemap', value: 'URL', text: 'a site, or a sitemap, whose URLs are read instead of --urls' },
  {
    name: 'input',
    value: 'NAME',
    text: 'the format of --urls: one URL on each line, JSON, a table, an access log, or a sitemap or feed',
    choices: ['text', 'ndjson', 'csv', 'log', 'sitemap'],
    defaultText: 'by the ending of the name, otherwise by the first lines',
  },
  {
    name: 'column',
    value: 'NAME',
    text: 'the column of a table, or the field of JSON (request.uri), with the URL',
    defaultText: 'a usual name, such as url; in a table, otherwise the first column with URLs',
  },
]

export const CRAWLER: Flag = {
  name: 'crawler',
  value: 'NAME',
  text: 'a crawler by its name in robots.txt; each of them is checked',
  isRepeatable: true,
}

export const POLICY_TOKEN: Flag = {
  name: 'policy-token',
  value: 'TOKEN=PURPOSE,FALLBACK',
  text: 'experimental: a name in robots.txt that stands for a use and not for a crawler, such as example-training=train-ai,none; with star instead of none, the groups for * apply to it too',
  isRepeatable: true,
}

/** @param names The formats of a command. @param defaultText Says which format is the default, if not the first. */
export function formatFlag(what: string, names: readonly [string, ...string[]], defaultText?: string): Flag {
  const flag = { name: 'format', value: 'NAME', text: `how to print ${what}`, choices: names }
  return defaultText === undefined ? { ...flag, byDefault: names[0] } : { ...flag, defaultText }
}

/** @param format The format that `--json` stands for. */
export function jsonFlag(format: 'json' | 'ndjson'): Flag {
  return { name: 'json', text: `the same as --format ${format}`, shortFor: ['format', format] }
}

/** Returns the value of `--dialect`. Commands without the flag read robots.txt by its default. */
export function dialectOf(args: Arguments): DialectName {
  return (args.get('dialect') ?? DIALECT.byDefault) as DialectName // `parseCommand` has checked it
}
