// Finds the URLs of pages in a sitemap, in bounded memory. A sitemap is often one long line.
import { UsageError } from '../errors.ts'

const END = '</loc>'

/** Longer than the tags and the URL of one page. */
const MAX_REST_LENGTH = 2 ** 18

/**
 * Yields the URLs of a sitemap, one array for each chunk of input.
 * @throws {UsageError} if the input is an index of sitemaps, or has no URLs.
 */
export async function* readSitemap(input: AsyncIterable<Uint8Array>, name: string): AsyncGenerator<readonly string[]> {
  const decoder = new TextDecoder()
  let rest = ''
  let count = 0
  for await (const chunk of input) {
    const text = rest + decoder.decode(chunk, { stream: true })
    if (text.includes('<sitemapindex'))
      throw new UsageError(`${name}: this is an index of sitemaps; write the name of one of its sitemaps`)
    const last = text.lastIndexOf(END)
    const end = last === -1 ? 0 : last + END.length
    const urls = Array.from(text.slice(0, end).matchAll(/<loc>(.*?)<\/loc>/gs), ([, xml = '']) => textOf(xml))
    rest = text.slice(end).slice(-MAX_REST_LENGTH)
    count += urls.length
    yield urls
  }
  if (count === 0)
    throw new UsageError(`${name}: this has no <loc>URL</loc> as a sitemap has; write --input with its format`)
}

const ENTITIES: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" }

function textOf(xml: string): string {
  const text = xml.trim()
  const data = /^<!\[CDATA\[(.*)\]\]>$/s.exec(text)?.[1]
  return data?.trim() ?? text.replace(/&(amp|lt|gt|quot|apos);/g, (_, entity) => ENTITIES[entity] as string)
}
