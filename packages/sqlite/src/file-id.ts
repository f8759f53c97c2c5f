// Identifies the file at a path. After a rename or deletion, another file may have the same path.
import { statSync } from 'node:fs'

/**
 * Returns device and inode, or undefined if the file does not exist. An open file keeps its inode
 * even after deletion.
 */
export function fileIdOf(path: string): string | undefined {
  const found = statSync(path, { bigint: true, throwIfNoEntry: false })
  return found && `${found.dev}:${found.ino}`
}
