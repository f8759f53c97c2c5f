// Reads a response body as text: checks its media type, limits its size and decodes its charset.
import { MIMEType } from 'node:util'
import { charsetOfMeta } from '@politely/core/internal'
import { onAbort } from '@politely/fetcher/internal'
import { htmlToText, type PageText } from './html-to-text.ts'

/** The parts of a response that this file reads. The responses of every `fetch` have them. */
export interface TextResponse {
  readonly headers: { get(name: string): string | null }
  readonly body: ReadableStream<Uint8Array> | null
}

/** HTML, another `text` format, or binary data. */
export type BodyKind = 'html' | 'text' | 'other'

/** Parses the Content-Type header; undefined if it is missing or invalid. */
export function mediaTypeOf({ headers }: TextResponse): MIMEType | undefined {
  try {
    return new MIMEType(headers.get('content-type') ?? '')
  } catch {
    return undefined
  }
}

/** Classifies a media type. A body without a media type counts as text. */
export function kindOf(type: MIMEType | undefined): BodyKind {
  if (type === undefined) return 'text'
  if (type.essence === 'text/html' || type.essence === 'application/xhtml+xml') return 'html'
  if (type.type === 'text' || /^(.*\+)?(json|xml|yaml)$|^(x-)?(java|ecma)script$|^x-ndjson$/.test(type.subtype))
    return 'text'
  return 'other'
}

/**
 * Reads at most `maxBytes` bytes of the decompressed body.
 * @throws the reason of the signal, even if the body ignores it.
 */
export async function readBytes(
  { body }: TextResponse,
  maxBytes: number,
  signal: AbortSignal,
): Promise<{ readonly bytes: Buffer; readonly isCut: boolean }> {
  const chunks: Uint8Array[] = []
  let size = 0
  const reader = body?.getReader()
  const cancel = (reason?: unknown) => void reader?.cancel(reason).catch(() => undefined) // ends a waiting read
  const unlisten = onAbort(signal, () => cancel(signal.reason))
  try {
    signal.throwIfAborted()
    for (let part = await reader?.read(); part?.value; part = await reader?.read()) {
      chunks.push(part.value)
      size += part.value.length
      if (size > maxBytes) break
    }
    signal.throwIfAborted()
  } finally {
    unlisten()
    cancel() // closes the connection and stops decompression
  }
  return { bytes: Buffer.concat(chunks).subarray(0, maxBytes), isCut: size > maxBytes }
}

/** Decodes a body. Unless `form` is `raw`, converts HTML to text and removes control characters. */
export function decodePage(bytes: Buffer, type: MIMEType | undefined, base: string, form: 'text' | 'raw'): PageText {
  const isHtml = kindOf(type) === 'html'
  const charset =
    charsetOfByteOrderMark(bytes) ??
    type?.params.get('charset') ??
    (isHtml ? charsetOfMeta(bytes.toString('latin1', 0, 1024)) : undefined)
  const decodedText = decode(bytes, charset)
  const asIs = { text: decodedText, isCut: false, lacksUrls: false }
  if (form === 'raw') return asIs
  const pageText = isHtml ? htmlToText(decodedText, base) : asIs
  return { ...pageText, text: withoutControls(pageText.text) }
}

/**
 * Removes control characters except tabs and line ends, and writes each line end as a line feed. A
 * client may print the text to a terminal, where a page could otherwise clear the screen or
 * overwrite lines.
 */
function withoutControls(text: string): string {
  return text.replace(/\r\n?/g, '\n').replace(/(?![\t\n])\p{Cc}/gu, '')
}

/**
 * Returns the charset of a byte order mark, which overrides all others, as in browsers (Encoding
 * Standard, "BOM sniff").
 */
function charsetOfByteOrderMark(bytes: Buffer): string | undefined {
  const start = bytes.toString('latin1', 0, 3)
  if (start === '\xef\xbb\xbf') return 'utf-8'
  if (start.startsWith('\xfe\xff')) return 'utf-16be'
  if (start.startsWith('\xff\xfe')) return 'utf-16le'
  return undefined
}

/**
 * Decodes with the charset that the page declares; with UTF-8 if it declares none or an unknown
 * one.
 */
function decode(bytes: Buffer, charset: string | undefined): string {
  try {
    return new TextDecoder(charset).decode(bytes)
  } catch (error) {
    if (!(error instanceof RangeError)) throw error
    return new TextDecoder().decode(bytes)
  }
}
