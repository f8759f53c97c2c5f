// Unpacks gzip. The magic number decides, never the name or the content type: sites serve plain files
// as `.gz`, and pack files twice.
import { ByteReader, type Bytes } from './byte-reader.ts'
import { gunzipped, isGzip, type PackReport } from './gunzip.ts'

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
