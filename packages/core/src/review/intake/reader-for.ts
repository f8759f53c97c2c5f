// Chooses the reader for a format.
import { JsonUrls } from './json-urls.ts'
import { LineUrls } from './line-urls.ts'
import { TableUrls } from './table-urls.ts'
import type { UrlFormat } from './url-format.ts'
import type { UrlReader } from './url-reader.ts'

/** @param column The column of a table, or the field of JSON (`request.uri`). By default, it is found. */
export function urlReaderFor(format: Exclude<UrlFormat, 'sitemap'>, column?: string): UrlReader {
  if (format === 'csv') return new TableUrls(column)
  return format === 'ndjson' ? new JsonUrls(column) : new LineUrls(format)
}
