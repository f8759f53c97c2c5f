// Reads a long body from its file, and checks its blocks.
import { setImmediate } from 'node:timers/promises'
import zlib from 'node:zlib' // crc32 is missing in an old Node, which could not load this module then
import { StoreError } from '@politely/sqlite'
import type { BodyFile } from './body-folder.ts'
import { BLOCK_BYTES, type StoredBody } from './page-file.ts'

/** A file that is not read for so long is closed, and opened again if it is still there. Milliseconds. */
const IDLE_MS = 60_000
/** How many blocks are read in one turn of the event loop. */
const BLOCKS_PER_TURN = 16

export interface ReaderSettings {
  readonly body: StoredBody
  /** Opens the file. Undefined: it is gone. */
  readonly open: () => BodyFile | undefined
  /** The path of the database, for error messages. */
  readonly path: string
  /** Called when the file is not what was written. */
  readonly onDamage: () => Promise<void>
}

/**
 * Returns the blocks of a body. The file is open from now on: it can be read to its end, even if the
 * page is deleted meanwhile. Returns undefined if the file is gone.
 */
export function readStoredBody(settings: ReaderSettings): AsyncIterable<Uint8Array> | undefined {
  const file = settings.open()
  return file && blocksOf(new IdleFile(file, settings.open), settings)
}

async function* blocksOf(file: IdleFile, { body, path, onDamage }: ReaderSettings): AsyncIterable<Uint8Array> {
  try {
    for (const [n, checksum] of body.blocks.entries()) {
      const at = n * BLOCK_BYTES
      const length = Math.min(BLOCK_BYTES, body.bodyBytes - at)
      const block = file.read(at, length)
      if (block?.length !== length || zlib.crc32(block) !== checksum) {
        if (block !== undefined) await onDamage()
        throw new StoreError(
          'ERR_POLITELY_STORE_FAILED',
          path,
          `a stored body ${block === undefined ? 'was deleted before it had been read to its end' : 'is damaged'}; fetch the page again`,
        )
      }
      yield block
      // Files are read synchronously. A fast reader would keep the event loop and its garbage collection waiting.
      if (n % BLOCKS_PER_TURN === BLOCKS_PER_TURN - 1) await setImmediate()
    }
  } finally {
    file.close()
  }
}

/** Closes the file of a reader that has stopped, such as one whose response is never read. */
class IdleFile {
  #file: BodyFile | undefined
  readonly #open: () => BodyFile | undefined
  #timer: NodeJS.Timeout

  constructor(file: BodyFile, open: () => BodyFile | undefined) {
    this.#file = file
    this.#open = open
    this.#timer = this.#startTimer()
  }

  /** Returns undefined if the file is gone. */
  read(at: number, length: number): Uint8Array | undefined {
    this.#file ??= this.#open()
    clearTimeout(this.#timer)
    this.#timer = this.#startTimer()
    return this.#file?.read(at, length)
  }

  close(): void {
    clearTimeout(this.#timer)
    this.#file?.close()
    this.#file = undefined
  }

  #startTimer(): NodeJS.Timeout {
    return setTimeout(() => this.close(), IDLE_MS).unref()
  }
}
