// Writes files so that a failure, such as a full disk, loses nothing.
import {
  accessSync,
  chmodSync,
  chownSync,
  constants,
  createReadStream,
  createWriteStream,
  lstatSync,
  realpathSync,
  renameSync,
  rmSync,
  type Stats,
  statSync,
} from 'node:fs'
import { type FileHandle, open } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { writeError } from '../errors.ts'

/**
 * Calls `work`, which writes to a file.
 * @throws {UsageError} if the operating system refuses.
 */
export async function writing<T>(flag: string, file: string, work: () => T): Promise<Awaited<T>> {
  try {
    return await work()
  } catch (error) {
    if ((error as NodeJS.ErrnoException).syscall === undefined) throw error
    throw writeError(`--${flag}: ${JSON.stringify(file)}`, error as NodeJS.ErrnoException)
  }
}

/**
 * Writes a whole file, or leaves it as it is: the content goes into a temporary file, which then
 * takes the place of the file. Follows symbolic links, and keeps mode, owner and hard links. Writes
 * directly into pipes and devices.
 *
 * @param chunks If they throw an error, it is thrown unchanged.
 * @throws {UsageError} if the operating system refuses to write.
 */
export async function replaceFile(
  flag: string,
  file: string,
  chunks: Iterable<string | Uint8Array> | AsyncIterable<string | Uint8Array>,
): Promise<void> {
  const temporary = await writing(flag, file, () => temporaryFor(file))
  const handle = temporary?.handle ?? (await writing(flag, file, () => open(file, 'w')))
  const remove = () => temporary && rmSync(temporary.path, { force: true })
  const stop = (signal: NodeJS.Signals) => {
    remove()
    process.kill(process.pid, signal) // now without a listener, so the process ends
  }
  for (const signal of SIGNALS) process.once(signal, stop)
  try {
    try {
      for await (const chunk of chunks) await writing(flag, file, () => handle.appendFile(chunk))
      if (temporary !== undefined) await writing(flag, file, () => handle.sync())
    } finally {
      await handle.close()
    }
    if (temporary !== undefined) await writing(flag, file, () => takePlace(temporary))
  } finally {
    for (const signal of SIGNALS) process.off(signal, stop)
    remove()
  }
}

const SIGNALS = ['SIGINT', 'SIGTERM'] as const

interface Temporary {
  readonly path: string
  readonly handle: FileHandle
  /** The file that it will replace, after all links. */
  readonly target: string
  /** Undefined if there is no such file yet. */
  readonly old: Stats | undefined
}

/** Returns undefined for a file that can only be written directly. */
async function temporaryFor(file: string): Promise<Temporary | undefined> {
  const old = statSync(file, { throwIfNoEntry: false })
  const isNew = old === undefined && lstatSync(file, { throwIfNoEntry: false }) === undefined
  if (!isNew && !old?.isFile()) return undefined // a pipe, a device, or a link to a missing file
  if (!isNew) accessSync(file, constants.W_OK)
  const target = isNew ? file : realpathSync(file)
  const path = join(dirname(target), `.politely-${process.pid}-${process.hrtime.bigint().toString(36)}.tmp`)
  try {
    return { path, handle: await open(path, 'wx', isNew ? 0o666 : 0o600), target, old }
  } catch (error) {
    // The file may be written, and its folder not.
    if (!isNew && ['EACCES', 'EPERM', 'EROFS'].includes(String((error as NodeJS.ErrnoException).code))) return undefined
    throw error
  }
}

/** A temporary file on the same disk has shown that there is room. */
async function takePlace({ path, target, old }: Temporary): Promise<void> {
  if (old === undefined || old.nlink === 1)
    try {
      if (old !== undefined) {
        chownSync(path, old.uid, old.gid)
        chmodSync(path, old.mode)
      }
      return renameSync(path, target)
    } catch {
      // Another user owns the file, or it is mounted on its own (EBUSY).
    }
  await pipeline(createReadStream(path), createWriteStream(target))
}
