// Reads what the user pastes or drops: a robots.txt, or URLs in any of the formats of `politely match --urls`.
import { parseRobots } from '@politely/core'
import {
  fieldsOf,
  formatOfName,
  formatOfText,
  isUrlOrPath,
  lacksScheme,
  type UrlFormat,
  type UrlInputProblem,
  type UrlReader,
  urlReaderFor,
} from '@politely/core/review'
import { documentUrls } from '@politely/sitemaps/internal'
import { stateIn } from './link.ts'
import { MAX_ROBOTS_LENGTH, MAX_URL_LENGTH, MAX_URLS, type PlaygroundState } from './state.ts'

type UrlsFrom = 'list' | 'table' | 'json' | 'log' | 'sitemap'

export type Intake =
  | { readonly kind: 'robots'; readonly text: string; readonly note: string }
  | {
      readonly kind: 'urls'
      readonly from: UrlsFrom
      readonly urls: readonly string[]
      readonly note: string
    }
  | { readonly kind: 'state'; readonly state: PlaygroundState; readonly note: string }
  | { readonly kind: 'nothing'; readonly note: string }

/** @param name The name of the file; an empty text if it was pasted. */
export function readIntake(text: string, name: string): Intake {
  if (text === '') return emptyIntake(name)
  if (isBinary(text, name)) return { kind: 'nothing', note: `${name} is not a text file, so nothing was read.` }
  const start = text.replace(/^[\ufeff\s]+/, '')
  const state = stateIn(text)
  if (state !== undefined) return { kind: 'state', state, note: 'Opened a file of the playground.' }
  if (/robots/i.test(name)) return robotsIntake(text)
  const format = formatOfName(name) ?? formatOfText(start.slice(0, HEAD_LENGTH))
  if (format === 'sitemap') return documentIntake(text)
  const lines = start.split(/\r\n|\r|\n/).filter((line) => line.trim() !== '')
  if (format !== 'log' && lines.slice(0, HEAD_LINES).some(isOfRobots)) return robotsIntake(text)
  const reader = urlReaderFor(format)
  const all = [...reader.write(lines), ...reader.end()]
  return urlsIntake(format, all, reader)
}

/** The characters and lines that show the format. */
const HEAD_LENGTH = 8192
const HEAD_LINES = 20

/** An empty robots.txt is valid: it allows everything. */
function emptyIntake(name: string): Intake {
  return /robots/i.test(name)
    ? { kind: 'robots', text: '', note: `Read ${name}, which is empty.` }
    : { kind: 'nothing', note: `${name} is empty.` }
}

/** A file with NUL, such as an image. A `.txt` with a damaged line is read. */
function isBinary(text: string, name: string): boolean {
  return name !== '' && !/\.txt$/i.test(name) && text.slice(0, 1000).includes('\0')
}

function isOfRobots(line: string): boolean {
  const [found] = fieldsOf(parseRobots(new TextEncoder().encode(line))).fields
  return found !== undefined && found.field !== 'unknown'
}

function robotsIntake(text: string): Intake {
  const cut = text.length > MAX_ROBOTS_LENGTH ? '; only its first 500 KiB were taken, as crawlers do' : ''
  const lines = text.split(/\r\n|\r|\n/).length
  const isDamaged = text.includes('\ufffd') ? '; it has bytes that are not UTF-8, shown as \ufffd' : ''
  return {
    kind: 'robots',
    text: text.slice(0, MAX_ROBOTS_LENGTH),
    note: `Read a robots.txt with ${counted(lines, 'line')}${cut}${isDamaged}.`,
  }
}

function documentIntake(text: string): Intake {
  const { urls, skipped, format, problem } = documentUrls(text)
  if (problem === 'html-instead') return robotsIntake(text)
  if (format === 'index')
    return {
      kind: 'nothing',
      note: 'This is an index of sitemaps, which names no pages. Drop one of the sitemaps that it names.',
    }
  if (problem !== undefined)
    return { kind: 'nothing', note: 'This is XML, but neither a sitemap nor a feed, so no URLs were read.' }
  return urlsIntake('sitemap', urls, { skipped, problem: undefined })
}

/** What the formats are called, one line of each, and what it may lack. */
const WORDS: Readonly<Record<UrlFormat, readonly [from: UrlsFrom, what: string, line: string, lack: string]>> = {
  text: ['list', 'a list', 'line', 'a URL or a path'],
  csv: ['table', 'a table', 'row', 'a URL or a path'],
  ndjson: ['json', 'JSON', 'item', 'a URL or a path'],
  log: ['log', 'an access log', 'line', 'a request'],
  sitemap: ['sitemap', 'a sitemap', 'entry', 'a URL'],
}

const PROBLEMS: Readonly<Record<UrlInputProblem['kind'], string>> = {
  'open-quote': 'a quote is not closed',
  'long-row': 'a row is over 1 MB, so a quote may not be closed',
  'long-document': 'it is over 64 MB',
  'no-column': 'no column has URLs',
}

/** @param reading What was skipped, and why the rest could not be read. */
function urlsIntake(
  format: UrlFormat,
  all: readonly string[],
  reading: Pick<UrlReader, 'skipped' | 'problem'>,
): Intake {
  const [from, name, line, lack] = WORDS[format]
  const found = all.map((url) => url.trim()).filter((url) => isUrlOrPath(url) || lacksScheme(url))
  const skipped = reading.skipped + all.length - found.length
  const distinct = format === 'log' || format === 'ndjson' ? mostFrequentFirst(found) : [...new Set(found)]
  const short = distinct.filter((url) => url.length <= MAX_URL_LENGTH)
  const urls = short.slice(0, MAX_URLS)
  const item = format === 'sitemap' ? 'page' : 'URL'
  const left = [
    ...(skipped === 0 ? [] : [`${counted(skipped, line)} without ${lack}`]),
    ...(distinct.length === found.length || format === 'log'
      ? []
      : [counted(found.length - distinct.length, 'repetition')]),
    ...(short.length === distinct.length
      ? []
      : [`${counted(distinct.length - short.length, 'URL')} over ${MAX_URL_LENGTH.toLocaleString('en')} characters`]),
    ...(urls.length === short.length
      ? []
      : [`${counted(short.length - urls.length, item)} after the first ${MAX_URLS.toLocaleString('en')}`]),
  ]
  const schemeless = urls.find(lacksScheme)
  const advice =
    schemeless === undefined ? '' : ` Some have no scheme: write them whole, such as https://${schemeless}.`
  const problem =
    reading.problem === undefined ? '' : ` It could not be read further: ${PROBLEMS[reading.problem.kind]}.`
  const rest = `${left.length === 0 ? '' : ` Skipped: ${left.join(', ')}.`}${advice}${problem}`
  if (urls.length === 0) return { kind: 'nothing', note: `Found no URLs in ${name}.${rest}` }
  const what = format === 'log' ? `${name} with ${counted(found.length, 'request')}, the most frequent first` : name
  return { kind: 'urls', from, urls, note: `Read ${counted(urls.length, item)} of ${what}.${rest}` }
}

function mostFrequentFirst(urls: readonly string[]): readonly string[] {
  const counts = new Map<string, number>()
  for (const url of urls) counts.set(url, (counts.get(url) ?? 0) + 1)
  return [...counts].sort(([, a], [, b]) => b - a).map(([url]) => url)
}

function counted(count: number, one: string): string {
  const many = one === 'entry' ? 'entries' : `${one}s`
  return `${count.toLocaleString('en')} ${count === 1 ? one : many}`
}
