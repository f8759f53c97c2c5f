// Chooses the reader for a format.

import { AccessLog, COMMENT, isOfAccessLog } from '../access-log.ts'
import { JsonUrls } from './json-urls.ts'
import { isTable, TableUrls } from './table-urls.ts'
import { isUrlOrPath, urlIn } from './url-in-text.ts'
import type { UrlReader } from './url-reader.ts'

/** @param column The column of a table, or the field of JSON (`request.uri`). By default, it is found. */
export function urlReaderFor(format: Exclude<UrlFormat, 'sitemap'>, column?: string): UrlReader {
  if (format === 'csv') return new TableUrls(column)
  return format === 'ndjson' ? new JsonUrls(column) : new LineUrls(format)
}

// Recognises the format of a list of URLs: by the name of its file, or by its first lines.

/**
 * `text`: one URL on each line; `ndjson`: JSON, mostly one object on each line; `csv`: a table;
 * `log`: an access log; `sitemap`: XML, such as a sitemap, RSS or Atom.
 */
export type UrlFormat = 'text' | 'ndjson' | 'csv' | 'log' | 'sitemap'

/** By the end of a name, without `.gz`. With other names, the first lines show the format. */
const BY_ENDING: Readonly<Record<string, UrlFormat>> = {
  csv: 'csv',
  tsv: 'csv',
  ndjson: 'ndjson',
  jsonl: 'ndjson',
  log: 'log',
  xml: 'sitemap',
  rss: 'sitemap',
  atom: 'sitemap',
}

/** Returns the format that the name of a file says. */
export function formatOfName(name: string): UrlFormat | undefined {
  return BY_ENDING[/\.(\w+)(?:\.gz)?$/.exec(name)?.[1]?.toLowerCase() ?? '']
}

/** The number of lines that show the format. A log may begin with lines that are about no request. */
const HEAD_LINES = 20

/** @param start The first characters of the text; a few thousand are enough. */
export function formatOfText(start: string): UrlFormat {
  const text = start.replace(/^[\ufeff\s]+/, '')
  if (text.startsWith('<') && !/^<https?:/i.test(text)) return 'sitemap'
  if (/^(?:\{|\[\s*["{[\]])/.test(text)) return 'ndjson'
  const lines = text.split(/\r\n|\r|\n/, HEAD_LINES)
  if (lines.some(isOfAccessLog)) return 'log'
  return isTable(lines) ? 'csv' : 'text'
}

// Reads the URLs of a list, or of an access log.

/** Reads lines without line ends. */
class LineUrls implements UrlReader {
  readonly problem = undefined
  skipped = 0
  firstSkipped = 0
  readonly #log: AccessLog | undefined
  #line = 0

  constructor(format: 'text' | 'log') {
    this.#log = format === 'log' ? new AccessLog() : undefined
  }

  write(lines: readonly string[]): readonly string[] {
    const urls: string[] = []
    for (const line of lines) {
      this.#line++
      const url = this.#log === undefined ? ofList(line) : this.#log.urlOf(line)
      if (typeof url === 'string') urls.push(url)
      else if (url !== COMMENT && ++this.skipped === 1) this.firstSkipped = this.#line
    }
    return urls
  }

  end(): readonly string[] {
    return []
  }
}

function ofList(line: string): string | typeof COMMENT {
  if (isUrlOrPath(line.trimStart())) return line
  return line.startsWith('#') ? COMMENT : (urlIn(line) ?? line)
}
