// The state of the playground as a link. The state is in the hash of the link, which no browser
// sends to a server.
//
//   #1q1YqSy0qzs…
//    ^ the version, one character
//     ^ base64url of raw deflate of UTF-8 JSON
//
// A mistake of the gallery has a link with its name: `#mistake=own-group`.
//
// People keep links in bug reports and mails for years, so a reader of each version stays here for
// ever. A new version gets a new character, and a row in test/links.json.
import { type DialectName, dialects } from '@politely/core'
import { mistakeOf } from './gallery.ts'
import { readStream } from './read-stream.ts'
import { bounded, type PlaygroundState } from './state.ts'

/** Longer links are cut off by mail programs and chats. Characters of the hash. */
export const MAX_LINK_LENGTH = 8_000

/** A link with more text than this is not one of ours. Bytes. */
const MAX_INFLATED_BYTES = 4 * 1024 * 1024

/**
 * The work that a link may ask for, in characters that are read: about a second on a phone. The
 * page that opens it cannot do anything else meanwhile, and a few kilobytes of a link can hold
 * megabytes of rules and URLs. Links that people share ask for a hundredth of it. Our choice.
 */
const MAX_WORK = 50_000_000
/** How often the findings, the fixes and the panel of a cell read the files, together. Measured. */
const READINGS = 200
/** What one verdict costs without its rules and its URL, as characters. Measured. */
const VERDICT_COST = 100

/** What version 1 keeps. Keys are short, because they are in each link. */
interface StateV1 {
  /** robots */
  readonly r: string
  /** before */
  readonly b?: string
  /** urls */
  readonly u: readonly string[]
  /** crawlers */
  readonly c: readonly string[]
  /** dialect, if it is not `rfc9309` */
  readonly d?: string
  /** headers and HTML of the page */
  readonly p?: readonly [string, string]
  /** the open cell: URL, crawler */
  readonly o?: readonly [number, number]
}

/** Returns the hash of a link, with `#`. */
export async function linkHash(state: PlaygroundState): Promise<string> {
  return `#1${base64url(await deflate(JSON.stringify(toV1(state))))}`
}

function toV1({ robots, before, urls, crawlers, dialect, page, open }: PlaygroundState): StateV1 {
  return {
    r: robots,
    ...(before !== undefined && { b: before }),
    u: urls,
    c: crawlers,
    ...(dialect !== 'rfc9309' && { d: dialect }),
    ...(page !== undefined && { p: [page.headers, page.html] as const }),
    ...(open !== undefined && { o: [open.url, open.crawler] as const }),
  }
}

/** The state of a link, with what was left out of it, or what is wrong with the link. */
export type OpenedLink = { readonly state: PlaygroundState; readonly note?: string } | { readonly problem: string }

/**
 * Reads the hash of a link.
 * @returns Undefined for an empty hash.
 */
export async function openLink(hash: string): Promise<OpenedLink | undefined> {
  const text = hash.replace(/^#/, '')
  if (text === '') return undefined
  if (text.startsWith('mistake=')) {
    const mistake = mistakeOf(`#${text}`)
    return mistake
      ? { state: mistake.state }
      : { problem: `There is no mistake with the name ${JSON.stringify(text.slice('mistake='.length))}.` }
  }
  const [version = ''] = text
  if (!Object.hasOwn(READERS, version)) {
    return { problem: `This link has version ${JSON.stringify(version)}, which this page does not know.` }
  }
  const read = READERS[version as keyof typeof READERS]
  let inflated: string
  try {
    inflated = await inflate(bytesOf(text.slice(1)))
  } catch {
    return { problem: 'This link is damaged: a part of it is missing or was changed.' }
  }
  const state = read(inflated)
  return state === undefined ? { problem: 'This link does not hold a state of the playground.' } : affordable(state)
}

/** Leaves out the URLs whose verdicts would take too long. */
function affordable(state: PlaygroundState): OpenedLink {
  const { robots, before = '', urls, crawlers, open } = state
  const size = robots.length + before.length
  let left = MAX_WORK - size * READINGS
  const end = urls.findIndex((url) => {
    left -= crawlers.length * (size + url.length + VERDICT_COST)
    return left < 0
  })
  if (left < 0 && end <= 0) {
    const kilobytes = Math.round(size / 1000).toLocaleString('en')
    return {
      problem: `This link holds ${kilobytes} KB of rules, too much for a link. Ask for the file, and drop it here.`,
    }
  }
  if (end === -1) return { state }
  const note = `Of the ${urls.length.toLocaleString('en')} URLs in this link, only the first ${end.toLocaleString('en')} are checked, because its file is long.`
  return { state: { ...state, urls: urls.slice(0, end), open: open && open.url < end ? open : undefined }, note }
}

const READERS = { '1': readV1 }

/** Returns the text of a file that holds a state too large for a link. */
export function stateText(state: PlaygroundState): string {
  return `${JSON.stringify({ version: 1, ...toV1(state) })}\n`
}

/** Reads a text of `stateText`. Returns undefined for another text. */
export function stateIn(text: string): PlaygroundState | undefined {
  return text.startsWith('{"version":1,') ? readV1(text) : undefined
}

function readV1(text: string): PlaygroundState | undefined {
  const json = parsed(text)
  if (typeof json !== 'object' || json === null) return undefined
  const { r, b, u, c, d = 'rfc9309', p = [], o } = json as Partial<Record<keyof StateV1, unknown>>
  if (typeof r !== 'string' || !isTexts(u) || !isTexts(c)) return undefined
  if (b !== undefined && typeof b !== 'string') return undefined
  if (typeof d !== 'string' || !Object.hasOwn(dialects, d)) return undefined
  if (!isTexts(p)) return undefined
  const [headers, html] = p
  const page = headers !== undefined && html !== undefined ? { headers, html } : undefined
  const [url, crawler] = Array.isArray(o) ? o : []
  const open = isIndex(url) && isIndex(crawler) ? { url, crawler } : undefined
  return bounded({ robots: r, before: b, urls: u, crawlers: c, dialect: d as DialectName, page, open })
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

function isTexts(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.every((item) => typeof item === 'string')
}

function isIndex(value: unknown): value is number {
  return Number.isInteger(value) && (value as number) >= 0
}

async function deflate(text: string): Promise<Uint8Array> {
  const stream = new Blob([text]).stream().pipeThrough(new CompressionStream('deflate-raw'))
  return new Uint8Array(await new Response(stream).arrayBuffer())
}

/** @throws {Error} if the bytes are not deflated text, or hold more of it than a state has. */
async function inflate(deflated: Uint8Array): Promise<string> {
  const compressed = new Blob([deflated as Uint8Array<ArrayBuffer>]).stream()
  const { bytes, isCut } = await readStream(
    compressed.pipeThrough(new DecompressionStream('deflate-raw')),
    MAX_INFLATED_BYTES,
  )
  if (isCut) throw new Error('too long')
  return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes)
}

function base64url(bytes: Uint8Array): string {
  let text = ''
  for (const byte of bytes) text += String.fromCharCode(byte)
  return btoa(text).replace(/\+/g, '-').replace(/\//g, '_').replace(/=+$/, '')
}

/** @throws {Error} for a character that base64url does not have. */
function bytesOf(text: string): Uint8Array {
  return Uint8Array.from(atob(text.replace(/-/g, '+').replace(/_/g, '/')), (c) => c.charCodeAt(0))
}
