// The flags and examples of commands, written as the help shows them:
//
//     --user-agent --store                        flags that several commands share, as they are
//     --store  the file to list                   a shared flag with another text
//     --guess  read /sitemap.xml                  a flag without a value
//     --key FILE…  a key [default bot.jwk]        a flag with a value, which may be repeated
//     --fix[=all]  write the fixes [one of all]   a flag whose value may be left out
//     --json  the same as --format json           a flag that is short for another one
//
// Notes follow the text: `[one of a, b]` has the values that the flag may have, `[default 1]` its
// value if it is not given, and `[otherwise no limit]` says what happens without it.

import type { DialectName } from '@politely/core'
import { ALLOW_ADDRESS, MIN_DELAY, USER_AGENT } from '@politely/core/flags'
import type { Arguments, CommandSpec, Flag } from './command-line.ts'

/** Returns the flags of a text, in its order. */
export function flagsIn(text: string): readonly Flag[] {
  return linesIn(text).flatMap((line) => (line.includes('  ') ? flagIn(line) : line.split(' ').map(sharedFlag)))
}

/** Returns the examples of a text. Each line is a command line, `  # ` and what it does. */
export function examplesIn(text: string): CommandSpec['examples'] {
  return linesIn(text).map((line) => line.split('  # ') as [string, string])
}

function linesIn(text: string): readonly string[] {
  return text.trim().split(/\n */)
}

const LINE = /^--([\w-]+)(?:(\[=| )([^\] …]+)\]?(…?))? {2}(.*?)((?: \[[a-z]+ [^\]]*\])*)$/

function flagIn(line: string): Flag {
  const [, name = '', before, value, dots, text = '', notes = ''] = LINE.exec(line) ?? []
  if (value === undefined && shared.has(name)) return { ...sharedFlag(`--${name}`), text }
  const note = (key: string) => new RegExp(`\\[${key} ([^\\]]*)\\]`).exec(notes)?.[1]
  const choices = note('one of')?.split(', ')
  const byDefault = note('default')
  const defaultText = note('otherwise')
  const [, flag, other] = /^the same as --(\S+) (\S+)$/.exec(text) ?? []
  return {
    name,
    text,
    ...(value && { value }),
    ...(before === '[=' && { isValueOptional: true }),
    ...(dots && { isRepeatable: true }),
    ...(choices && { choices }),
    ...(byDefault && { byDefault: dots ? byDefault.split(', ') : byDefault }),
    ...(defaultText && { defaultText }),
    ...(flag && other && { shortFor: [flag, other] }),
  }
}

/** The flags that several commands share, so that they have one name and one meaning everywhere. */
const shared = new Map([ALLOW_ADDRESS, MIN_DELAY, USER_AGENT].map((flag) => [flag.name, flag]))
for (const flag of flagsIn(`
  --product-token TOKEN…  the name to look for in robots.txt, if --user-agent has another one; if you give several, the first that the file names counts. A known crawler, given once, reads the groups that its operator documents
  --crawler NAME…  a crawler's name in robots.txt; give several to check each of them
  --dialect NAME  how to read robots.txt [one of rfc9309, google, draft-koster-rep-00, koster-1996, original-1994] [default rfc9309]
  --robots FILE  a robots.txt file, - for stdin, or the URL of a site
  --policy-token TOKEN=PURPOSE,FALLBACK…  experimental: a name in robots.txt that stands for a use, not for a crawler, such as example-training=train-ai,none; with star instead of none, the groups for * apply to it too
  --urls FILE  a file with URLs or paths, which may be compressed (.gz); - for stdin
  --sitemap URL  read the URLs of a site's sitemaps, or of one sitemap, instead of --urls
  --input NAME  the format of --urls: one URL on each line, JSON, a table, an access log, or a sitemap or feed [one of text, ndjson, csv, log, sitemap] [otherwise by the ending of the name, otherwise by the first lines]
  --column NAME  the column of a table, or the field of JSON (request.uri), with the URL [otherwise a usual name, such as url; in a table, otherwise the first column with URLs]
  --timeout SECONDS  time limit for one robots.txt, including redirects and retries [default 20]
  --proxy URL  send all requests through this HTTP proxy
  --max-wait SECONDS  the longest wait before a request; pages that need a longer one aren't fetched [otherwise no limit]
  --retry NUMBER  request a page again, at most this many times, after a failure that may pass: no response or half a response, or a status such as 429 or 503 [default 0]
  --store FILE  an SQLite file that keeps robots.txt between runs; created if necessary [otherwise the environment variable POLITELY_STORE]
  --evidence DIR  a folder that keeps each decision, for politely evidence. Needs the package @politely/evidence [otherwise none is kept]
  --cache FILE  an SQLite file that keeps pages between runs; created if necessary. Needs the package @politely/cache [otherwise no page is kept]
`))
  shared.set(flag.name, flag)

/** Returns a flag that several commands share, such as `--store`. */
function sharedFlag(name: string): Flag {
  const flag = shared.get(name.slice(2))
  if (flag === undefined) throw new Error(`${name} is not a flag that several commands share`)
  return flag
}

/** As `purposes` of core; a test compares them. Core is not loaded for `--help`. */
export const PURPOSES = [
  'index',
  'follow',
  'snippet',
  'archive',
  'search',
  'train-ai',
  'ai-input',
  'text-and-data-mining',
] as const

/** Returns the value of `--dialect`. Commands without the flag read robots.txt by its default. */
export function dialectOf(args: Arguments): DialectName {
  return (args.get('dialect') ?? sharedFlag('--dialect').byDefault) as DialectName // `parseCommand` has checked it
}
