// Measures the memory of the rules of many origins, in a child process for each measurement. Needs
// --expose-gc.
//   node --expose-gc memory-child.ts KEEPER generated COUNT
//   node --expose-gc memory-child.ts KEEPER real FOLDER BYTES
// KEEPER is a library, `nothing`, or `raw bytes`.
import { filesIn } from '../files/corpus.ts'
import { type SiteFile, siteFiles } from '../files/site-file.ts'
import { urlsFor } from '../files/site-urls.ts'
import { heldBytes } from '../held-bytes.ts'
import { libraries, ours } from '../libraries/libraries.ts'
import type { MemoryMessage } from './memory.ts'
import { SMALL_FILE_BYTES } from './plan.ts'

/** Files that are parsed before the measurement, so that compiled code does not count. */
const WARM_UP_FILES = 300
/**
 * One URL of each origin is checked, and of every tenth origin 100. After that, a library that
 * builds an index has built it.
 */
const MANY_CHECKS = 100
const MANY_CHECKS_EVERY = 10

const [keeper = '', kind = '', amount = '', bytesWanted = ''] = process.argv.slice(2)
const library = libraries.find(({ name }) => name === keeper)
if (library === undefined && keeper !== 'nothing' && keeper !== 'raw bytes')
  throw new Error(`there is no library called ${keeper}; write one, "nothing" or "raw bytes"`)

let reportedBytes: number | null = null
let rawBytes = 0
let failures = 0

const warming = kind === 'real' ? filesIn(amount, WARM_UP_FILES) : siteFiles(WARM_UP_FILES, SMALL_FILE_BYTES)
let i = 0
for (const file of warming) await keep(file, i++)

const held: unknown[] = new Array(1_000_000).fill(undefined) // allocated now, so that its own size does not count
reportedBytes = null
rawBytes = 0
failures = 0
const before = await heldBytes()
let origins = 0
for (const file of files()) {
  held[origins] = await keep(file, origins)
  origins++
}
const after = await heldBytes()
const totalReportedBytes = reportedBytes as number | null
process.send?.({
  origins,
  rawBytes,
  heldBytes: after - before,
  reportedBytes: totalReportedBytes,
  failures,
} satisfies MemoryMessage)
process.disconnect?.()
// Keeps `held` alive until here.
if (held.length === 0) throw new Error('the list of kept rules is empty')

/** Yields files with different origins and separate buffers. */
function* files(): Generator<SiteFile> {
  if (kind === 'generated') {
    let n = 0
    for (const file of siteFiles(Number(amount), SMALL_FILE_BYTES)) {
      yield { ...file, origin: file.origin.replace('https://', `https://n${n++}.`) }
    }
    return
  }
  for (let copy = 1, bytes = 0; bytes < Number(bytesWanted); copy++) {
    for (const file of filesIn(amount)) {
      bytes += file.bytes.length
      yield { ...file, origin: `${file.origin}:${copy}` }
      if (bytes >= Number(bytesWanted)) return
    }
  }
}

/**
 * Returns what the keeper keeps of a file after the checks. Contains no closures, which would keep
 * the text alive.
 */
async function keep(file: SiteFile, n: number): Promise<unknown> {
  rawBytes += file.bytes.length
  if (keeper === 'nothing') return undefined
  if (library === undefined) return file.bytes.toString('latin1') // a string with one byte for each character, without the size of a Buffer object
  const robotsUrl = `${file.origin}/robots.txt`
  try {
    const rules =
      library === ours
        ? library.prepareBytes(file.bytes, robotsUrl)
        : await library.prepare(file.bytes.toString('utf8'), robotsUrl)
    for (const url of urlsFor(file, n + 1, n % MANY_CHECKS_EVERY === 0 ? MANY_CHECKS : 1)) library.isAllowed(rules, url)
    const reported = library.reportedBytes(rules)
    if (reported !== undefined) reportedBytes = (reportedBytes ?? 0) + reported
    return rules
  } catch {
    failures++
    rawBytes -= file.bytes.length
    return undefined
  }
}
