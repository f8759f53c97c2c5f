// Reads the records of a WARC file (WARC 1.1), in bounded memory. A record is a block of headers, an
// empty line, as many bytes as Content-Length says, and two line ends.

/** One record. */
export interface WarcRecord {
  /** By their names in lower case. */
  readonly headers: ReadonlyMap<string, string>
  /** Undefined if the caller skips the record, or if it is longer than `MAX_RECORD_BYTES`. */
  readonly content: Buffer | undefined
}

/** A longer line or record is not read. It is several times longer than the longest robots.txt as JSON. */
export const MAX_RECORD_BYTES: number = 64 * 2 ** 20
const MAX_HEADER_BYTES = 2 ** 20
const HEADER_END = '\r\n\r\n'

/**
 * Yields the records. Yields undefined in the end if the last record is cut, or if the bytes are not
 * those of a WARC.
 * @param wants Returns whether to read the content of a record with these headers.
 */
export async function* warcRecords(
  chunks: AsyncIterable<Buffer>,
  wants: (headers: ReadonlyMap<string, string>) => boolean,
): AsyncGenerator<WarcRecord | undefined> {
  await using input = new Input(chunks)
  for (;;) {
    const block = await input.until(HEADER_END, MAX_HEADER_BYTES)
    if (block === undefined) {
      if (input.hasMore) yield undefined
      return
    }
    const headers = headersIn(block)
    const length = Number(headers.get('content-length') ?? Number.NaN)
    if (!/^\s*WARC\//.test(block) || !Number.isSafeInteger(length) || length < 0) return yield undefined
    const isRead = wants(headers) && length <= MAX_RECORD_BYTES
    const content = await input.take(length, isRead)
    if (content === undefined) return yield undefined
    await input.take(HEADER_END.length, false)
    yield { headers, content: isRead ? content : undefined }
  }
}

/** Returns the header fields of a record or of HTTP. The last of several counts. */
function headersIn(block: string): ReadonlyMap<string, string> {
  const lines = block.split('\r\n').map((line) => line.split(/:(.*)/s))
  return new Map(lines.map(([name = '', value = '']) => [name.trim().toLowerCase(), value.trim()]))
}

/** Returns the payload of a `response` record: what follows the headers of HTTP. */
export function payloadOf({ headers, content }: WarcRecord): Buffer | undefined {
  if (content === undefined || headers.get('warc-type') !== 'response') return content
  if (!headers.get('content-type')?.startsWith('application/http')) return content
  const end = content.indexOf(HEADER_END)
  return end === -1 ? undefined : content.subarray(end + HEADER_END.length)
}

/** Takes bytes from the start of a stream. */
class Input {
  readonly #chunks: AsyncIterator<Buffer>
  #rest: Buffer = Buffer.alloc(0)

  constructor(chunks: AsyncIterable<Buffer>) {
    this.#chunks = chunks[Symbol.asyncIterator]()
  }

  /** Closes the stream. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.#chunks.return?.()
  }

  /** Whether bytes are left that `until` has not taken. */
  get hasMore(): boolean {
    return this.#rest.length > 0
  }

  /** Takes the text before a mark, and the mark. Takes nothing and returns undefined without a mark. */
  async until(mark: string, max: number): Promise<string | undefined> {
    let from = 0
    for (;;) {
      const at = this.#rest.indexOf(mark, from)
      if (at !== -1) {
        const text = this.#rest.toString('latin1', 0, at)
        this.#rest = this.#rest.subarray(at + mark.length)
        return text
      }
      from = Math.max(0, this.#rest.length - mark.length)
      if (from > max || !(await this.#fill())) return undefined
    }
  }

  /** Takes so many bytes. Returns undefined if there are fewer. */
  async take(count: number, isKept: boolean): Promise<Buffer | undefined> {
    const parts: Buffer[] = []
    for (let left = count; ; ) {
      const part = this.#rest.subarray(0, left)
      this.#rest = this.#rest.subarray(part.length)
      left -= part.length
      if (isKept) parts.push(part)
      if (left === 0) return parts.length === 1 ? parts[0] : Buffer.concat(parts)
      if (!(await this.#fill())) return undefined
    }
  }

  async #fill(): Promise<boolean> {
    const { done, value } = await this.#chunks.next()
    if (done) return false
    this.#rest = this.#rest.length === 0 ? value : Buffer.concat([this.#rest, value])
    return true
  }
}
