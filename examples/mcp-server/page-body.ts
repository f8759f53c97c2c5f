// The body of a page as text: what kind it is, how much of it is read, and in which characters it is written.
import { MIMEType } from 'node:util'
import { pageText } from './page-text.ts'

/** As much of a response as is looked at: that of any fetch. */
export interface BodySource {
  readonly headers: { get(name: string): string | null }
  readonly body: AsyncIterable<Uint8Array> | null
}

/** HTML, other `text`, or something that is none. */
export type BodyKind = 'html' | 'text' | 'other'

/** The media type as a server says it; undefined where it says none, or none that can be read. */
export function mediaTypeOf({ headers }: BodySource): MIMEType | undefined {
  try {
    return new MIMEType(headers.get('content-type') ?? '')
  } catch {
    return undefined
  }
}

/** What says nothing of itself is taken for text. */
export function kindOf(type: MIMEType | undefined): BodyKind {
  if (type === undefined) return 'text'
  if (type.essence === 'text/html' || type.essence === 'application/xhtml+xml') return 'html'
  if (type.type === 'text' || /^(.*\+)?(json|xml|yaml)$|^(x-)?(java|ecma)script$|^x-ndjson$/.test(type.subtype))
    return 'text'
  return 'other'
}

/** Up to so many bytes of a decoded body. */
export async function bytesOf(
  { body }: BodySource,
  maxBytes: number,
): Promise<{ readonly bytes: Buffer; readonly isCut: boolean }> {
  const chunks: Uint8Array[] = []
  let size = 0
  for await (const chunk of body ?? []) {
    chunks.push(chunk)
    size += chunk.length
    if (size > maxBytes) break // which ends the connection, and what would still be unpacked of a bomb
  }
  return { bytes: Buffer.concat(chunks).subarray(0, maxBytes), isCut: size > maxBytes }
}

/** Decoded; HTML is made plain unless it is wanted `raw`. */
export function textOf(bytes: Buffer, type: MIMEType | undefined, base: string, form: 'text' | 'raw'): string {
  const isHtml = kindOf(type) === 'html'
  const inMeta = /<meta[^>]{0,200}?charset\s*=\s*["']?([\w-]+)/i
  const charset =
    type?.params.get('charset') ?? (isHtml ? inMeta.exec(bytes.toString('latin1', 0, 1024))?.[1] : undefined)
  const written = decoded(bytes, charset)
  return isHtml && form === 'text' ? pageText(written, base) : written
}

/** By the charset that a page names; UTF-8 where it names none, or none that is known. */
function decoded(bytes: Buffer, charset: string | undefined): string {
  try {
    return new TextDecoder(charset).decode(bytes)
  } catch (error) {
    if (!(error instanceof RangeError)) throw error
    return new TextDecoder().decode(bytes)
  }
}
