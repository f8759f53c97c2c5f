// Checks the value of a user-agent line. RFC 9309 §2.2.1.
import { bytesOfLatin1 } from '../bytes.ts'
import { namesEveryone } from '../parse/product-token.ts'
import { leadingToken } from '../parse/user-agent-name.ts'
import type { ReportFinding } from './finding.ts'

/**
 * Documented names with a dot, a space or a digit, which a product token cannot have. They get no
 * finding. In lower case; a test compares them with the catalogue of known crawlers.
 */
const DOCUMENTED: ReadonlySet<string> = new Set([
  '360spider',
  'ai2bot',
  'ai2bot-dolma',
  'archive.org_bot',
  'img2dataset',
  'mail.ru_bot',
  'megaindex.ru',
  'mj12bot',
  'panscient.com',
  'peer39_crawler',
  'pingdom.com_bot',
  'screaming frog seo spider',
  'sistrix crawler',
  'site24x7',
  'sogou web spider',
])

/** Returns whether a name is documented, with more than a product token can have. */
export function isDocumented(name: string): boolean {
  return DOCUMENTED.has(name.toLowerCase())
}

/**
 * Product tokens that files shorten to what follows or precedes the name of the operator, by that
 * part. No other known crawler has it as its name; a test compares them with the catalogue.
 */
const SHORTENED: Readonly<Record<string, string>> = {
  cloudvertexbot: 'Google-CloudVertexBot',
  inspectiontool: 'Google-InspectionTool',
  notebooklm: 'Google-NotebookLM',
  feedfetcher: 'FeedFetcher-Google',
  mediapartners: 'Mediapartners-Google',
  storebot: 'Storebot-Google',
  externalagent: 'meta-externalagent',
  externalads: 'meta-externalads',
  externalfetcher: 'meta-externalfetcher',
  webindexer: 'meta-webindexer',
  qbusiness: 'amazon-QBusiness',
  autorag: 'Cloudflare-AutoRAG',
}

export function lintName(value: string, line: number, report: ReportFinding): void {
  const [, name = '', version = ''] = /^(.*?)(\/[^\t /]*)?$/s.exec(value) ?? []
  const isKnown = isDocumented(name)
  const token = isKnown ? name : leadingToken(value)
  const rest = isKnown ? version : value.slice(token.length)
  if (value === '') report('user-agent-without-name', line)
  else if (valueNamesEveryone(value)) {
    if (value !== '*') report('product-token-with-other-characters', line, '*')
  } else if (value.startsWith('*')) report('wildcard-in-name', line)
  else if (token === '') report('unreadable-name', line)
  else if (/^mozilla\/\S*[\t ]/i.test(value)) report('user-agent-header-as-name', line)
  else if (/^[\t ]*[,;|][\t ]*[A-Za-z0-9_*-]/.test(rest)) report('several-names-on-one-line', line)
  else if (VERSION.test(rest)) report('product-token-with-version', line, token)
  else if (rest !== '') report('product-token-with-other-characters', line, token)
  const whole = Object.hasOwn(SHORTENED, token.toLowerCase()) ? SHORTENED[token.toLowerCase()] : undefined
  if (whole !== undefined) report('product-token-without-vendor', line, whole)
  if (/[0-9]/.test(token) && !isKnown) report('product-token-with-digits', line)
}

const VERSION = /^\/\S*$/

/**
 * Returns the name in the form that crawlers compare; an empty string if the line names no crawler.
 */
export function nameOf(value: string): string {
  return valueNamesEveryone(value) ? '*' : leadingToken(value).toLowerCase()
}

/** Returns whether a line has a product token, perhaps with a version, or `*`, and nothing else. */
export function isWholeName(value: string): boolean {
  const rest = value.slice(leadingToken(value).length)
  return rest === '' || VERSION.test(rest) || valueNamesEveryone(value)
}

/**
 * Returns whether a user-agent line with this value (one character for each byte) names every
 * crawler.
 */
export function valueNamesEveryone(value: string): boolean {
  return namesEveryone(bytesOfLatin1(value), 0, value.length)
}
