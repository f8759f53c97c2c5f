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
import { writeError } from '../exit-code.ts'
import { SIGNALS } from '../interrupt.ts'

/**
 * Calls `work`, which writes to a file.
 * @param flag Undefined if the file is an operand.
 * @throws {UsageError} if the operating system refuses.
 */
export async function writing<T>(flag: string | undefined, file: string, work: () => T): Promise<Awaited<T>> {
  try {
    return await work()
  } catch (error) {
    if ((error as NodeJS.ErrnoException).syscall === undefined) throw error
    const what = `${flag === undefined ? '' : `--${flag}: `}${JSON.stringify(file)}`
    throw writeError(what, error as NodeJS.ErrnoException)
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
  flag: string | undefined,
  file: string,
  chunks: Iterable<string | Uint8Array> | AsyncIterable<string | Uint8Array>,
): Promise<void> {
  const place = await writing(flag, file, () => placeOf(file))
  const remove = () => place && rmSync(place.temporary, { force: true })
  const stop = (signal: NodeJS.Signals) => {
    remove()
    process.kill(process.pid, signal) // now without a listener, so the process ends
  }
  for (const signal of SIGNALS) process.once(signal, stop)
  try {
    const temporary = place && (await writing(flag, file, () => openTemporary(place)))
    const handle = temporary ?? (await writing(flag, file, () => open(file, 'w')))
    try {
      for await (const chunk of chunks) await writing(flag, file, () => handle.appendFile(chunk))
      if (temporary !== undefined) await writing(flag, file, () => handle.sync())
    } finally {
      await writing(flag, file, () => handle.close())
    }
    if (temporary !== undefined) await writing(flag, file, () => takePlace(place as Place))
  } finally {
    for (const signal of SIGNALS) process.off(signal, stop)
    remove()
  }
}

/** A file, and the temporary file that will take its place. */
interface Place {
  readonly temporary: string
  /** The file behind all links. */
  readonly target: string
  /** Undefined for a new file. */
  readonly old: Stats | undefined
}

/** Returns undefined for a pipe, a device, or a link to a missing file: they are written directly. */
function placeOf(file: string): Place | undefined {
  const old = statSync(file, { throwIfNoEntry: false })
  if (old === undefined ? lstatSync(file, { throwIfNoEntry: false }) !== undefined : !old.isFile()) return undefined
  if (old !== undefined) accessSync(file, constants.W_OK)
  const target = old === undefined ? file : realpathSync(file)
  const name = `.politely-${process.pid}-${process.hrtime.bigint().toString(36)}.tmp`
  return { temporary: join(dirname(target), name), target, old }
}

/** Returns undefined if the file may be written, and its folder not. */
async function openTemporary({ temporary, old }: Place): Promise<FileHandle | undefined> {
  try {
    return await open(temporary, 'wx', old === undefined ? 0o666 : 0o600)
  } catch (error) {
    const { code = '' } = error as NodeJS.ErrnoException
    if (old !== undefined && ['EACCES', 'EPERM', 'EROFS'].includes(code)) return undefined
    throw error
  }
}

/** A temporary file on the same disk has shown that there is room. */
async function takePlace({ temporary, target, old }: Place): Promise<void> {
  if (old === undefined || old.nlink === 1)
    try {
      if (old !== undefined) {
        chownSync(temporary, old.uid, old.gid)
        chmodSync(temporary, old.mode)
      }
      return renameSync(temporary, target)
    } catch {
      // Another user owns the file, or it is mounted on its own (EBUSY).
    }
  await pipeline(createReadStream(temporary), createWriteStream(target))
}
