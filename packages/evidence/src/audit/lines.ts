// Cuts the bytes of a file into lines, or into the records of a WARC file (WARC 1.1). One piece at a
// time is in memory.
import { zstdCompressSync } from 'node:zlib'

/** A line without its line end, or a robots.txt; neither for a WARC record of another program. */
export interface Piece {
  /** With everything that separates it from the next piece. */
  readonly length: number
  readonly text?: string
  readonly robotsTxt?: { readonly sha256: string; readonly compressed: Buffer }
}

/** A longer line is damage: it is several times longer than the longest robots.txt as JSON. */
const MAX_PIECE_BYTES = 64 * 2 ** 20
const HEADER_END = '\r\n\r\n'

/**
 * Yields the pieces; at the end undefined if the last piece is cut.
 * @param first Returns the piece at the start of the bytes; undefined if its end is missing.
 */
export async function* piecesOf(
  chunks: AsyncIterable<Buffer>,
  first: typeof firstLine,
): AsyncGenerator<Piece | undefined> {
  let bytes: Buffer = Buffer.alloc(0)
  let skipped = 0 // so many bytes of the last piece have not come yet
  for await (const chunk of chunks) {
    bytes = Buffer.concat([bytes, chunk.subarray(skipped)])
    skipped = Math.max(0, skipped - chunk.length)
    for (let piece = first(bytes); piece !== undefined; piece = first(bytes)) {
      yield piece
      skipped = Math.max(0, piece.length - bytes.length)
      bytes = bytes.subarray(piece.length)
    }
    if (bytes.length > MAX_PIECE_BYTES) throw Object.assign(new Error('too long'), { code: 'ERR_LINE_TOO_LONG' })
  }
  if (bytes.length > 0 || skipped > 0) yield undefined
}

export function firstLine(bytes: Buffer): Piece | undefined {
  const end = bytes.indexOf(10)
  return end === -1 ? undefined : { text: bytes.toString('utf8', 0, end), length: end + 1 }
}

/** A record is headers, an empty line, as many bytes as Content-Length says, and two line ends. */
export function firstWarcRecord(bytes: Buffer): Piece | undefined {
  const end = bytes.indexOf(HEADER_END)
  if (end === -1) return undefined
  const headers = bytes.toString('latin1', 0, end)
  const field = (name: string) => new RegExp(`^${name}:(.*)`, 'im').exec(headers)?.[1]?.trim() ?? ''
  const size = field('content-length')
  if (!headers.startsWith('WARC/') || !/^\d+$/.test(size))
    throw Object.assign(new Error('not a record'), { code: 'ERR_NO_WARC_RECORD' })
  const start = end + HEADER_END.length
  const length = start + Number(size) + HEADER_END.length
  const type = field('warc-type')
  const [, sha256] = /^sha256:([\da-f]{64})$/.exec(field('warc-payload-digest')) ?? []
  const isLine = type === 'metadata' && field('content-type') === 'application/json'
  const isFile = (type === 'response' || type === 'resource') && sha256 !== undefined
  if ((!isLine && !isFile) || length > MAX_PIECE_BYTES) return { length }
  if (bytes.length < length) return undefined
  const block = bytes.subarray(start, length - HEADER_END.length)
  if (sha256 === undefined) return { text: block.toString(), length }
  const payload = type === 'resource' ? block : block.subarray(block.indexOf(HEADER_END) + HEADER_END.length)
  return { robotsTxt: { sha256, compressed: zstdCompressSync(payload) }, length }
}
