// Throws if Node is too old. scripts/bundle-package.mjs makes this the first import of every entry
// point, so that an old Node fails here, and not in the middle of a library that it can't load.
import { PolitelyError } from '../errors.ts'

/** As `engines` of package.json says; a test compares them. */
const MAJOR = 22
const MINOR = 19

/**
 * Node is older than the packages need. Importing a package throws this, and the commands print the
 * message and exit with 70.
 *
 * Remedy: Install Node 22.19 or later.
 */
class OldNodeError extends PolitelyError {
  override readonly name = 'OldNodeError'
  readonly code = 'ERR_POLITELY_NODE'

  constructor(version: string) {
    super(`politely needs Node 22.19 or later; this is ${version}`)
  }
}

// Bun and Deno name the Node that they resemble, which says little. A browser has no versions.
type Runtime = { readonly process?: { readonly versions?: Readonly<Record<string, string>> } }
const { node, bun, deno } = (globalThis as Runtime).process?.versions ?? {}
if (node !== undefined && bun === undefined && deno === undefined) {
  const [major = 0, minor = 0] = node.split('.').map(Number)
  if (major < MAJOR || (major === MAJOR && minor < MINOR)) throw new OldNodeError(node)
}
