// The identity file: all that a crawler's operator says about it, in one JSON object.

import { isProductToken } from '@politely/core'
import { describeValue } from '@politely/core/engine'
import { directoryUrlOf } from '../agent-url.ts'
import { IdentityFileError } from './errors.ts'
import { type IpRange, ipRange } from './ip-range.ts'

/** What an identity file says. Experimental. */
export interface Identity {
  /** The name for people, such as `Example Bot`. */
  readonly name: string
  /** The name in robots.txt (RFC 9309 §2.2.1), such as `ExampleBot`. */
  readonly productToken: string
  /** The User-Agent that the crawler sends. Default `TOKEN/1.0 (+PAGE)`. */
  readonly userAgent: string
  /** The https: URL of the page about the crawler. */
  readonly page: string
  /** A mail address, or the https: URL of a form. */
  readonly contact: string
  /** What the crawler fetches pages for, such as `search`. */
  readonly purposes: readonly string[]
  /** Further sentences for the page. */
  readonly about: string | undefined
  /** Whether the crawler runs the scripts of pages. Default false. */
  readonly renders: boolean
  /** What starts a request: the crawler itself, or a user. Default `crawler`. */
  readonly trigger: 'crawler' | 'fetcher'
  /** The ranges that requests come from. */
  readonly ranges: readonly IpRange[]
  /** Where they are published. Default `/crawler-ranges.json` of the page's origin. */
  readonly rangesUrl: string
  /**
   * The domains of the names in PTR records, such as `crawl.example.com`. Without them, PTR records
   * are optional.
   */
  readonly hostNames: readonly string[]
  /** The URL of the key directory. Undefined if the crawler signs no requests. */
  readonly directory: string | undefined
  /**
   * Where the signature agent card is. Default `/signature-agent-card.json` of the page's origin.
   */
  readonly card: string
}

const PAGE = '"https://bot.example/bot.html"'

/** All fields, each with what may be written. */
const EXAMPLES: Readonly<Record<keyof Identity, string>> = {
  name: '"Example Bot"',
  productToken: '"ExampleBot"',
  userAgent: '"ExampleBot/1.0"',
  page: PAGE,
  contact: '"bot@bot.example"',
  purposes: '["search"]',
  about: '"It reads news pages."',
  renders: 'true',
  trigger: '"fetcher"',
  ranges: '["192.0.2.0/28", "2001:db8::/64"]',
  rangesUrl: PAGE,
  hostNames: '["crawl.bot.example"]',
  directory: '"https://bot.example"',
  card: PAGE,
}

const MAX_LENGTH = 2_000
const MAX_ITEMS = 1_000

/**
 * Reads the text of an identity file. Experimental.
 * @throws {IdentityFileError} that names the field, and says what to write.
 */
export function parseIdentity(text: string): Identity {
  let given: unknown
  try {
    given = JSON.parse(text)
  } catch (error) {
    throw new IdentityFileError('the file', `it is not JSON (${(error as Error).message}); ${WHOLE}`)
  }
  if (typeof given !== 'object' || given === null || Array.isArray(given))
    refuse('the file', given, `is not an object; ${WHOLE}`)
  const fields = given as Readonly<Record<string, unknown>>
  const unknown = Object.keys(fields).find((field) => !Object.hasOwn(EXAMPLES, field))
  if (unknown !== undefined)
    throw new IdentityFileError(unknown, `is not a field; write one of ${Object.keys(EXAMPLES).join(', ')}`)
  const name = line(fields, 'name')
  const productToken = line(fields, 'productToken')
  if (!isProductToken(productToken))
    refuse(
      'productToken',
      productToken,
      `is not a product token; write letters, digits, "-" and "_" (RFC 9309 §2.2.1), such as ${EXAMPLES.productToken}`,
    )
  const page = httpsUrl(fields, 'page')
  const { origin } = new URL(page)
  const directory = fields.directory === undefined ? undefined : directoryOf(fields.directory)
  const rangesUrl = fields.rangesUrl === undefined ? `${origin}/crawler-ranges.json` : httpsUrl(fields, 'rangesUrl')
  const card = fields.card === undefined ? `${origin}/signature-agent-card.json` : httpsUrl(fields, 'card')
  assertDifferent({ page, rangesUrl, card, directory })
  return {
    name,
    productToken,
    page,
    userAgent: fields.userAgent === undefined ? `${productToken}/1.0 (+${page})` : userAgentOf(fields),
    contact: contactOf(fields),
    purposes: lines(fields, 'purposes', 1),
    about: fields.about === undefined ? undefined : line(fields, 'about'),
    renders: oneOf(fields, 'renders', [false, true]),
    trigger: oneOf(fields, 'trigger', ['crawler', 'fetcher']),
    ranges: lines(fields, 'ranges', 0).map(rangeOf),
    rangesUrl,
    hostNames: lines(fields, 'hostNames', 0).map(hostNameOf),
    directory,
    card,
  }
}

const WHOLE = `write {"name": ${EXAMPLES.name}, "productToken": ${EXAMPLES.productToken}, "page": ${EXAMPLES.page}, "contact": ${EXAMPLES.contact}, "purposes": ${EXAMPLES.purposes}, "ranges": ${EXAMPLES.ranges}}`

type Fields = Readonly<Record<string, unknown>>

function refuse(field: string, value: unknown, problem: string): never {
  throw new IdentityFileError(field, `${describeValue(value)} ${problem}`)
}

function line(fields: Fields, field: keyof Identity): string {
  return checkedLine(field, fields[field], EXAMPLES[field])
}

function checkedLine(field: string, value: unknown, example: string): string {
  if (value === undefined) throw new IdentityFileError(field, `is missing; write "${field}": ${example}`)
  const isLine = typeof value === 'string' && value.trim() === value && value !== '' && value.length <= MAX_LENGTH
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they would end a header or a line.
  if (!isLine || /[\u0000-\u001f\u007f]/.test(value))
    refuse(field, value, `is not one line of text; write one such as ${example}`)
  return value
}

function lines(fields: Fields, field: keyof Identity, min: number): readonly string[] {
  const [value, example] = [fields[field], EXAMPLES[field]]
  if (value === undefined && min === 0) return []
  if (value === undefined) throw new IdentityFileError(field, `is missing; write "${field}": ${example}`)
  if (!Array.isArray(value) || value.length < min || value.length > MAX_ITEMS)
    refuse(field, value, `is not a list; write one such as ${example}`)
  return value.map((item, i) => checkedLine(`${field}[${i}]`, item, example))
}

function oneOf<const T>(fields: Fields, field: string, values: readonly [T, ...T[]]): T {
  const value = fields[field] ?? values[0]
  if (values.includes(value as T)) return value as T
  refuse(field, value, `is not known; write ${values.map((each) => JSON.stringify(each)).join(' or ')}`)
}

function httpsUrl(fields: Fields, field: keyof Identity): string {
  const text = line(fields, field)
  const url = URL.parse(text)
  const isPlain = url?.protocol === 'https:' && url.username === '' && url.password === '' && !/[#?\s]/.test(text)
  if (!isPlain || url.pathname.endsWith('/'))
    refuse(
      field,
      text,
      `is not the https: URL of a file without credentials, query and fragment; write one such as ${EXAMPLES.page}`,
    )
  return url.href
}

/** Each URL has its own file, also where the case of letters does not count. */
function assertDifferent(urls: Readonly<Record<string, string | undefined>>): void {
  const fieldOf = new Map<string, string>()
  for (const [field, url] of Object.entries(urls)) {
    if (url === undefined) continue
    if (new URL(url).pathname.toLowerCase() === '/_headers')
      throw new IdentityFileError(field, 'is /_headers, where static hosts have the headers; write another URL')
    const other = fieldOf.get(url.toLowerCase())
    if (other !== undefined) refuse(field, url, `is ${other} too, and each has a file; write another URL`)
    fieldOf.set(url.toLowerCase(), field)
  }
}

function userAgentOf(fields: Fields): string {
  const text = line(fields, 'userAgent')
  if (/^[\x20-\x7e]+$/.test(text)) return text
  refuse('userAgent', text, 'has characters that a header cannot have; write ASCII, such as "ExampleBot/1.0"')
}

function directoryOf(value: unknown): string {
  const url = typeof value === 'string' ? directoryUrlOf(value) : undefined
  if (url !== undefined) return url
  refuse('directory', value, 'is not the https: URL of a key set; write one such as "https://bot.example"')
}

function contactOf(fields: Fields): string {
  const text = line(fields, 'contact')
  if (/^(?:mailto:)?[^\s@<>"]+@[^\s@<>"/]+\.[^\s@<>"/]+$/.test(text)) return text.replace(/^mailto:/, '')
  if (URL.parse(text)?.protocol === 'https:') return text
  refuse('contact', text, `is neither a mail address nor an https: URL; write one such as ${EXAMPLES.contact}`)
}

function rangeOf(text: string, i: number): IpRange {
  const range = ipRange(text)
  if (range === undefined) refuse(`ranges[${i}]`, text, 'is not an IP range; write one such as "192.0.2.0/28"')
  if (range.hasHostBits)
    refuse(`ranges[${i}]`, text, `does not begin with the first address of its range; write "${range.text}"`)
  return range
}

function hostNameOf(text: string, i: number): string {
  const name = text.toLowerCase().replace(/^\*?\.|\.$/g, '')
  if (/^[a-z0-9-]+(?:\.[a-z0-9-]+)+$/.test(name)) return name
  refuse(`hostNames[${i}]`, text, 'is not a domain; write one such as "crawl.bot.example"')
}
