// Reads a stream of bytes up to a limit. With a reader, because Safari cannot iterate a stream.

/** Larger files are cut off. Bytes, after decompression. */
export const MAX_INTAKE_BYTES: number = 64 * 1024 * 1024

export interface ReadBytes {
  readonly bytes: Uint8Array<ArrayBuffer>
  /** Whether the stream has more bytes than the limit. */
  readonly isCut: boolean
}

export async function readStream(stream: ReadableStream<Uint8Array>, maxBytes: number): Promise<ReadBytes> {
  const chunks: Uint8Array[] = []
  let size = 0
  const reader = stream.getReader()
  while (size <= maxBytes) {
    const { done, value } = await reader.read()
    if (done) break
    chunks.push(value)
    size += value.length
  }
  const isCut = size > maxBytes
  if (isCut) void reader.cancel()
  const bytes = new Uint8Array(Math.min(size, maxBytes))
  let at = 0
  for (const chunk of chunks) {
    bytes.set(chunk.subarray(0, maxBytes - at), at)
    at = Math.min(maxBytes, at + chunk.length)
  }
  return { bytes, isCut }
}
