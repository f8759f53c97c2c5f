// Reads gzip files: RFC 1952. Keeps what came before an error.
//
// Node's Gunzip loses its last output if garbage follows the data, and it is common that a server
// appends some. So the header and the trailer are read here, and zlib inflates what is between.
import zlib, { createInflateRaw, type InflateRaw } from 'node:zlib'

/** What the reader found out about the gzip data of a file, and whether it may go on. */
export class PackReport {
  /** How often the file was packed. */
  layers = 0
  /** The bytes that came out of all layers together, so that an inner layer counts which is not a file. */
  bytes = 0
  /** Set if the gzip data ended early or is damaged. */
  error: 'not-gzip' | 'gzip-damaged' | 'cut-off' | undefined
  /**
   * Called for each piece of each layer, since a layer may unpack to nothing for hours. If it
   * returns false, the data ends.
   */
  readonly mayGoOn: () => Promise<boolean>

  constructor(mayGoOn: () => Promise<boolean>) {
    this.mayGoOn = mayGoOn
  }
}

/**
 * Bounds the output of one call of zlib, since gzip shrinks data at most by the factor 1,032. If the
 * data is damaged, the output of one call is lost.
 */
const MAX_INPUT = 1_024
const TRAILER_BYTES = 8
/** Bounds the time: a member takes a call of zlib even if it is empty. */
const MAX_MEMBERS = 10_000
const MAX_HEADER_BYTES = 4_096

/** The flags of the header. RFC 1952 §2.3.1. */
const FLAGS = { headerCrc: 2, extra: 4, name: 8, comment: 16 } as const

function isGzip(head: Uint8Array): boolean {
  return head[0] === 0x1f && head[1] === 0x8b
}

/** Unpacks all members of a gzip file. Ignores what follows them. */
async function* gunzipped(reader: ByteReader, report: PackReport): AsyncGenerator<Uint8Array, void> {
  try {
    for (let members = 0; isGzip(await reader.peek(2)); members++) {
      if (members >= MAX_MEMBERS) {
        report.error = 'gzip-damaged'
        return
      }
      const head = await reader.peek(MAX_HEADER_BYTES)
      const size = headerSize(head)
      if (size === undefined) {
        if (members === 0) report.error ??= head.length < TRAILER_BYTES ? 'cut-off' : 'not-gzip'
        return
      }
      await reader.take(size)
      yield* member(reader, report)
      if (report.error !== undefined || !(await report.mayGoOn())) return
    }
  } finally {
    await reader.close()
  }
}

/** Returns the size of the header; undefined if it is invalid or not whole. */
function headerSize(head: Uint8Array): number | undefined {
  const flags = head[3] ?? 0xff
  if (head[2] !== 8 || flags > 0x1f) return undefined
  let end = 10
  if (flags & FLAGS.extra) end += 2 + (head[end] ?? 0) + 256 * (head[end + 1] ?? 0)
  for (const flag of [FLAGS.name, FLAGS.comment]) {
    if (!(flags & flag)) continue
    const zero = head.indexOf(0, end)
    if (zero === -1) return undefined
    end = zero + 1
  }
  if (flags & FLAGS.headerCrc) end += 2
  return end <= head.length ? end : undefined
}

/** Unpacks one member, and checks its trailer. */
async function* member(reader: ByteReader, report: PackReport): AsyncGenerator<Uint8Array, void> {
  const inflating = new Inflating(createInflateRaw())
  let crc = 0
  let size = 0
  try {
    while (!inflating.hasEnded) {
      if (!(await report.mayGoOn())) return
      const piece = await reader.take(MAX_INPUT)
      const unused = await inflating.write(piece)
      for (const chunk of inflating.output()) {
        crc = zlib.crc32(chunk, crc)
        size += chunk.length
        report.bytes += chunk.length
        yield chunk
      }
      if (piece !== undefined) reader.putBack(unused)
    }
  } finally {
    inflating.destroy()
  }
  if (inflating.error !== undefined) {
    const isCut = inflating.error.code === 'Z_BUF_ERROR'
    report.error = isCut ? 'cut-off' : size === 0 ? 'not-gzip' : 'gzip-damaged'
    return
  }
  const trailer = Buffer.from(await reader.peek(TRAILER_BYTES))
  await reader.take(TRAILER_BYTES)
  if (trailer.length < TRAILER_BYTES) report.error = 'cut-off'
  else if (trailer.readUInt32LE(0) !== crc || trailer.readUInt32LE(4) !== size % 2 ** 32) report.error = 'gzip-damaged'
}

const NOTHING = new Uint8Array(0)

/** A call of zlib for each piece. */
class Inflating {
  hasEnded = false
  error: NodeJS.ErrnoException | undefined
  readonly #inflate: InflateRaw
  readonly #ended: Promise<void>
  #chunks: Uint8Array[] = []
  #written = 0

  constructor(inflate: InflateRaw) {
    this.#inflate = inflate
    inflate.on('data', (chunk: Uint8Array) => this.#chunks.push(chunk))
    this.#ended = new Promise((resolve) => {
      inflate.on('end', () => {
        this.hasEnded = true
        resolve()
      })
      inflate.on('error', (error) => {
        this.error = error
        this.hasEnded = true
        resolve()
      })
    })
  }

  /** Inflates a piece; undefined is the end of the file. Returns the bytes after the data. */
  async write(piece: Uint8Array | undefined): Promise<Uint8Array> {
    if (piece === undefined) {
      this.#inflate.end()
      await this.#ended
      return NOTHING
    }
    this.#written += piece.length
    // After the end of the data, and after an error, zlib does not call back.
    await Promise.race([new Promise<void>((resolve) => this.#inflate.write(piece, () => resolve())), this.#ended])
    const unused = this.#written - this.#inflate.bytesWritten
    return this.hasEnded && this.error === undefined ? piece.subarray(piece.length - unused) : NOTHING
  }

  output(): Uint8Array[] {
    const chunks = this.#chunks
    this.#chunks = []
    return chunks
  }

  destroy(): void {
    this.#inflate.destroy()
  }
}

// Unpacks gzip. The magic number decides, never the name or the content type: sites serve plain files
// as `.gz`, and pack files twice.

/** A file that is packed more often is not unpacked further. */
const MAX_LAYERS = 3

/** Unpacks as long as the data begins with the magic number of gzip. RFC 1952 §2.3.1. */
export async function* unpacked(source: Bytes, report: PackReport): AsyncGenerator<Uint8Array, void> {
  const reader = new ByteReader(source)
  if (report.layers < MAX_LAYERS && isGzip(await reader.peek(2))) {
    report.layers++
    return yield* unpacked(gunzipped(reader, report), report)
  }
  try {
    for (let chunk = await reader.take(); chunk !== undefined; chunk = await reader.take()) yield chunk
  } finally {
    await reader.close()
  }
}

// Reads bytes from a source that yields chunks, with a look ahead.

type Bytes = AsyncIterator<Uint8Array, void>

class ByteReader {
  readonly #source: Bytes
  #bytes: Uint8Array = new Uint8Array(0)
  #isAtEnd = false

  constructor(source: Bytes) {
    this.#source = source
  }

  /** Returns this many bytes, or all that are left, and does not consume them. */
  async peek(size: number): Promise<Uint8Array> {
    while (this.#bytes.length < size && (await this.#fill()));
    return this.#bytes.subarray(0, size)
  }

  /** Consumes and returns at most this many bytes; undefined at the end. */
  async take(maxSize: number = Number.POSITIVE_INFINITY): Promise<Uint8Array | undefined> {
    while (this.#bytes.length === 0) if (!(await this.#fill())) return undefined
    const taken = this.#bytes.subarray(0, maxSize)
    this.#bytes = this.#bytes.subarray(taken.length)
    return taken
  }

  /** Puts back bytes that were taken last. */
  putBack(bytes: Uint8Array): void {
    this.#bytes = bytes.length === 0 ? this.#bytes : Buffer.concat([bytes, this.#bytes])
  }

  async close(): Promise<void> {
    await this.#source.return?.()
  }

  async #fill(): Promise<boolean> {
    if (this.#isAtEnd) return false
    const next = await this.#source.next()
    if (next.done) this.#isAtEnd = true
    else this.#bytes = this.#bytes.length === 0 ? next.value : Buffer.concat([this.#bytes, next.value])
    return !this.#isAtEnd
  }
}
