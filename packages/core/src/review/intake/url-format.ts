// Recognises the format of a list of URLs: by the name of its file, or by its first lines.
import { isOfAccessLog } from '../access-log.ts'
import { isTable } from './table-urls.ts'

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
