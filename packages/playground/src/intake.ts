// Reads what the user pastes or drops: a robots.txt, a list of URLs, a sitemap or an access log.
import { parseRobots } from '@politely/core'
import { AccessLog, COMMENT, fieldsOf, isOfAccessLog } from '@politely/core/internal'
import { stateIn } from './link.ts'
import { MAX_ROBOTS_LENGTH, MAX_URL_LENGTH, MAX_URLS, type PlaygroundState } from './state.ts'

/** Larger files are cut off. Bytes, after decompression. */
export const MAX_INTAKE_BYTES: number = 64 * 1024 * 1024

export type Intake =
  | { readonly kind: 'robots'; readonly text: string; readonly note: string }
  | {
      readonly kind: 'urls'
      readonly from: 'list' | 'sitemap' | 'log'
      readonly urls: readonly string[]
      readonly note: string
    }
  | { readonly kind: 'state'; readonly state: PlaygroundState; readonly note: string }
  | { readonly kind: 'nothing'; readonly note: string }

/** @param name The name of the file; an empty text if it was pasted. */
export function readIntake(text: string, name: string): Intake {
  if (text === '') return emptyIntake(name)
  if (isBinary(text, name)) return { kind: 'nothing', note: `${name} is not a text file, so nothing was read.` }
  const start = text.replace(/^\ufeff/, '').trimStart()
  const state = stateIn(text)
  if (state !== undefined) return { kind: 'state', state, note: 'Opened a file of the playground.' }
  if (/robots/i.test(name)) return robotsIntake(text)
  if (/^<\?xml|^<(?:\w+:)?(?:urlset|sitemapindex)\b/.test(start)) return sitemapIntake(text)
  const lines = text.split(/\r\n|\r|\n/).filter((line) => line.trim() !== '')
  const head = lines.slice(0, 20)
  if (head.some(isOfAccessLog)) return logIntake(lines)
  if (/^<!doctype|^<html/i.test(start) || head.some(isOfRobots)) return robotsIntake(text)
  return listIntake(lines)
}

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

function listIntake(lines: readonly string[]): Intake {
  const trimmed = lines.map((line) => line.trim()).filter((line) => !line.startsWith('#'))
  const urls = trimmed.filter(isUrlOrPath)
  const skipped = trimmed.length - urls.length
  return urlsIntake(
    urls,
    'list',
    'a list',
    'URL',
    skipped === 0 ? [] : [`${counted(skipped, 'line')} without a URL or a path`],
  )
}

function isUrlOrPath(text: string): boolean {
  return text.startsWith('/') || /^(?:https?|ftp):\/\//i.test(text)
}

function sitemapIntake(text: string): Intake {
  if (/<(?:\w+:)?sitemapindex\b/.test(text))
    return {
      kind: 'nothing',
      note: 'This is an index of sitemaps, which names no pages. Drop one of the sitemaps that it names.',
    }
  const found = Array.from(text.matchAll(/<((?:\w+:)?)loc\b[^>]*>([^<]*|\s*<!\[CDATA\[.*?\]\]>\s*)<\/\1loc>/gs))
  // `image:loc` and `video:content_loc` are not pages.
  const pages = found.filter(([, prefix]) => !/^(?:image|video|news):$/.test(prefix ?? ''))
  const urls = pages.map(([, , loc = '']) => decodeXml(loc))
  const empty = urls.filter((url) => url === '').length
  return urlsIntake(
    urls.filter((url) => url !== ''),
    'sitemap',
    'a sitemap',
    'page',
    empty === 0 ? [] : [`${counted(empty, 'entry', 'entries')} without a URL`],
  )
}

const ENTITIES: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" }

function decodeXml(text: string): string {
  const cdata = /^\s*<!\[CDATA\[(.*)\]\]>\s*$/s.exec(text)?.[1]
  if (cdata !== undefined) return cdata.trim()
  return text
    .replace(/&(?:#(\d{1,7})|#x([\da-f]{1,6})|(\w+));/gi, (all, decimal, hex, name) => {
      if (name !== undefined) return ENTITIES[name] ?? all
      const code = decimal !== undefined ? Number(decimal) : Number.parseInt(hex, 16)
      return code <= 0x10ffff ? String.fromCodePoint(code) : all
    })
    .trim()
}

/** The URLs of a log, the most requested first. */
function logIntake(lines: readonly string[]): Intake {
  const log = new AccessLog()
  const counts = new Map<string, number>()
  let requests = 0
  let skipped = 0
  for (const line of lines) {
    const url = log.urlOf(line)
    if (url === COMMENT) continue
    if (url === undefined || !isUrlOrPath(url)) skipped++
    else {
      requests++
      counts.set(url, (counts.get(url) ?? 0) + 1)
    }
  }
  const urls = [...counts].sort(([, a], [, b]) => b - a).map(([url]) => url)
  return urlsIntake(
    urls,
    'log',
    `an access log with ${counted(requests, 'request')}, the most frequent first`,
    'URL',
    skipped === 0 ? [] : [`${counted(skipped, 'line')} without a request`],
  )
}

/** @param skipped What else was skipped, such as `3 lines without a request`. */
function urlsIntake(
  all: readonly string[],
  from: 'list' | 'sitemap' | 'log',
  what: string,
  item: string,
  skipped: readonly string[],
): Intake {
  const distinct = [...new Set(all)]
  const short = distinct.filter((url) => url.length <= MAX_URL_LENGTH)
  const urls = short.slice(0, MAX_URLS)
  const left = [
    ...skipped,
    ...(distinct.length === all.length ? [] : [`${counted(all.length - distinct.length, 'repetition')}`]),
    ...(short.length === distinct.length
      ? []
      : [`${counted(distinct.length - short.length, 'URL')} over ${MAX_URL_LENGTH.toLocaleString('en')} characters`]),
    ...(urls.length === short.length
      ? []
      : [`${counted(short.length - urls.length, item)} after the first ${MAX_URLS.toLocaleString('en')}`]),
  ]
  const skippedText = left.length === 0 ? '' : ` Skipped: ${left.join(', ')}.`
  if (urls.length === 0) return { kind: 'nothing', note: `Found no URLs in ${what}.${skippedText}` }
  return { kind: 'urls', from, urls, note: `Read ${counted(urls.length, item)} of ${what}.${skippedText}` }
}

function counted(count: number, one: string, many = `${one}s`): string {
  return `${count.toLocaleString('en')} ${count === 1 ? one : many}`
}
