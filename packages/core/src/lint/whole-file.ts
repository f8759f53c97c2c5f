// Detects files that are not robots.txt, by their beginning.
import type { Report } from './finding.ts'
import type { FindingCode } from './finding-kinds.ts'

/** How other formats begin, after blanks and a byte order mark. */
const SIGNATURES: readonly (readonly [RegExp, FindingCode])[] = [
  [
    /^(?:<\?xml[^>]{0,200}>\s*)?(?:<!--[^>]{0,500}-->\s*)?<(?:!doctype\s+html|html|head|body|title|meta|script)\b/i,
    'html-instead-of-robots',
  ],
  [/^<(?:\?xml|urlset|sitemapindex|rss)\b/i, 'xml-instead-of-robots'],
  [/^[[{]\s{0,200}["{}[\]]/, 'json-instead-of-robots'],
]

/** The number of bytes that are searched for the beginning of another format. */
const SNIFFED_BYTES = 2000

/** @returns Whether to check the lines. In another format, nearly every line would be a finding. */
export function lintWholeFile(bytes: string, report: Report): boolean {
  const foreign = /^(?:\xff\xfe|\xfe\xff|[^\0]\0[^\0]\0|\0[^\0]\0[^\0])/.test(bytes)
    ? 'utf-16'
    : foreignFormat(bytes.slice(0, SNIFFED_BYTES))
  if (foreign !== undefined) report(foreign, 0)
  return foreign === undefined
}

function foreignFormat(beginning: string): FindingCode | undefined {
  const text = beginning.replace(/^(?:\xef\xbb\xbf)*\s*/, '')
  return SIGNATURES.find(([pattern]) => pattern.test(text))?.[1]
}
