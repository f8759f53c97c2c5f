// What the audit of a file found. `--format json` prints it.
import type { CrawlerAccess } from './crawler-access.ts'
import type { FileName } from './file-names.ts'

export interface Audit {
  /** The name of the file. */
  readonly robots: string
  /** The date of the catalogue. */
  readonly date: string
  readonly paths: readonly string[]
  /** Whether the paths were made from the rules of the file. */
  readonly isSample: boolean
  /** The crawlers of the catalogue that are in use. With `--purpose`, only its crawlers. */
  readonly crawlers: readonly CrawlerAccess[]
  /** The names in the user-agent lines of the file, without `*`. */
  readonly names: readonly FileName[]
}
