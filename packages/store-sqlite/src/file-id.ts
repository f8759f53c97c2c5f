// Which file stands at a path. It is another one when the first was renamed or deleted, even if the path is the same.
import { statSync } from 'node:fs'

/** Device and inode; undefined where there is no file. A file that is open keeps its own to itself. */
export function fileIdOf(path: string): string | undefined {
  const found = statSync(path, { bigint: true, throwIfNoEntry: false })
  return found && `${found.dev}:${found.ino}`
}
