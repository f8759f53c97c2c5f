// Evidence as files: NDJSON, and each robots.txt once.
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { zstdCompressSync } from 'node:zlib'
import { Folder, type Format } from './folder.ts'
import { type Evidence, Journal } from './journal.ts'
import { type EvidenceFileOptions, folderSettings } from './options.ts'

/**
 * Creates a sink that writes a folder: `2026-11-28T16.ndjson` while it is written, with one record
 * a line, `2026-11-28T16.ndjson.zst` when it is finished, and each robots.txt once, as
 * `files/ab/cdef….txt.zst` by its SHA-256. What a killed process has left in the folder is finished
 * in the background.
 * @throws {OptionError} for an invalid or unknown option.
 * @throws {EvidenceError} if nothing can be written, unless `onFailure` is `continue`.
 */
export function evidenceFiles(options: EvidenceFileOptions): Evidence {
  const settings = folderSettings(options)
  const format: Format = {
    compresses: true,
    openName: (now, n) => `${new Date(now).toISOString().slice(0, 13)}${n === 1 ? '' : `.${n}`}.ndjson`,
    doneName: (name) => (name.endsWith('.ndjson') ? `${name}.zst` : undefined),
    prologue: () => new Uint8Array(),
    bytesOf: (line) => Buffer.from(`${line}\n`),
    textOf: (bytes) => bytes.toString(),
    keep: ({ sha256, bytes }, folder) => {
      const path = join(settings.dir, 'files', sha256.slice(0, 2), `${sha256.slice(2)}.txt.zst`)
      if (!existsSync(path)) folder.store(path, zstdCompressSync(bytes))
    },
  }
  return new Journal(settings, () => new Folder(settings, format))
}
