// Recognises the name of a file that was given in place of a URL.
import { existsSync, statSync } from 'node:fs'

export function isFile(path: string): boolean {
  return existsSync(path) && statSync(path).isFile()
}
