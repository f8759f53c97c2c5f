// Unpacks gzip. The magic number decides, never the name or the content type: sites serve plain files
// as `.gz`, and pack files twice. Keeps what came before an error.
import { once } from 'node:events'
import { createGunzip, type Gunzip } from 'node:zlib'

export type Bytes = AsyncIterator<Uint8Array, void>

/** What `unpacked` found. */
export interface PackReport {
  /** How often the file was packed. */
  layers: number
  /** Set if the gzip data ended early or was damaged. */
  error?: 'not-gzip' | 'gzip-damaged' | 'cut-off'
}

/** A file that is packed more often is not unpacked further. */
const MAX_LAYERS = 3
/** Bounds what one call of zlib can produce: gzip shrinks data at most by the factor 1,032. */
const MAX_INPUT = 4 * 1024

/** Unpacks as long as the data begins with the magic number of gzip. RFC 1952 §2.3.1. */
export async function* unpacked(source: Bytes, report: PackReport): AsyncGenerator<Uint8Array, void> {
  const first: Uint8Array[] = []
  let size = 0
  while (size < 2) {
    const next = await source.next()
    if (next.done) break
    first.push(next.value)
    size += next.value.length
  }
  const head = Buffer.concat(first)
  const whole = withHead(head, source)
  if (head[0] !== 0x1f || head[1] !== 0x8b || report.layers >= MAX_LAYERS) return yield* whole
  report.layers++
  yield* unpacked(gunzipped(whole, report), report)
}

async function* withHead(head: Uint8Array, source: Bytes): AsyncGenerator<Uint8Array, void> {
  try {
    if (head.length > 0) yield head
    for (;;) {
      const next = await source.next()
      if (next.done) return
      yield next.value
    }
  } finally {
    await source.return?.()
  }
}

async function* gunzipped(source: AsyncGenerator<Uint8Array, void>, report: PackReport) {
  const gunzip = createGunzip()
  const chunks: Uint8Array[] = []
  let size = 0
  let error: NodeJS.ErrnoException | undefined
  gunzip.on('data', (chunk: Uint8Array) => {
    chunks.push(chunk)
    size += chunk.length
  })
  gunzip.on('error', (cause) => {
    error = cause
  })
  try {
    for await (const chunk of source) {
      for (let at = 0; at < chunk.length && error === undefined; at += MAX_INPUT) {
        await written(gunzip, chunk.subarray(at, at + MAX_INPUT))
        yield* chunks.splice(0)
      }
      if (error !== undefined) break
    }
    if (error === undefined) {
      gunzip.end()
      await once(gunzip, 'end').catch(() => undefined)
    }
    yield* chunks.splice(0)
    if (error !== undefined) report.error ??= errorOf(error, size)
  } finally {
    gunzip.destroy()
  }
}

/** Resolves when zlib has handled the bytes, also if it could not. */
function written(gunzip: Gunzip, bytes: Uint8Array): Promise<void> {
  return new Promise((resolve) => {
    gunzip.write(bytes, () => setImmediate(resolve)) // `error` is emitted after the callback
  })
}

function errorOf({ code }: NodeJS.ErrnoException, bytesOut: number): NonNullable<PackReport['error']> {
  if (code === 'Z_BUF_ERROR') return 'cut-off'
  return bytesOut === 0 ? 'not-gzip' : 'gzip-damaged'
}
