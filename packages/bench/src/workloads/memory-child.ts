// What a process holds more when it keeps the rules of many origins. Run with --expose-gc, in a process for each measurement.
//   node --expose-gc memory-child.ts KEEPER generated COUNT
//   node --expose-gc memory-child.ts KEEPER real FOLDER OCTETS
// KEEPER is a library, `nothing`, or `raw bytes`.
import { filesIn } from '../files/corpus.ts'
import { type SiteFile, siteFiles } from '../files/site-file.ts'
import { questionsFor } from '../files/site-question.ts'
import { heldBytes } from '../held-memory.ts'
import { libraries, ours } from '../libraries/libraries.ts'
import type { MemoryMessage } from './memory.ts'
import { SMALL_OCTETS } from './plan.ts'

/** Files that are parsed and forgotten first, so that compiled code does not count. */
const WARMING = 300
/** Each origin is asked one question, every tenth so many: enough that a library which builds an index has built it. */
const MANY = 100
const EVERY = 10

const [keeper = '', kind = '', amount = '', bytesWanted = ''] = process.argv.slice(2)
const library = libraries.find(({ name }) => name === keeper)
if (library === undefined && keeper !== 'nothing' && keeper !== 'raw bytes')
  throw new Error(`no library is called ${keeper}`)

let claimedBytes: number | null = null
let rawBytes = 0
let failures = 0

const warming = kind === 'real' ? filesIn(amount, WARMING) : siteFiles(WARMING, SMALL_OCTETS)
let i = 0
for (const file of warming) await keep(file, i++)

const held: unknown[] = new Array(1_000_000).fill(undefined) // its own size is there before and after
claimedBytes = null
rawBytes = 0
failures = 0
const before = await heldBytes()
let origins = 0
for (const file of files()) {
  held[origins] = await keep(file, origins)
  origins++
}
const after = await heldBytes()
const claimed = claimedBytes as number | null
process.send?.({
  origins,
  rawBytes,
  heldBytes: after - before,
  claimedBytes: claimed,
  failures,
} satisfies MemoryMessage)
process.disconnect?.()
// Whatever is held is held until here.
if (held.length === 0) throw new Error('nothing was measured')

/** Each file with its own origin, in a buffer of its own. */
function* files(): Generator<SiteFile> {
  if (kind === 'generated') {
    let n = 0
    for (const file of siteFiles(Number(amount), SMALL_OCTETS)) {
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

/** What stays of a file after some questions. Nothing here closes over its text. */
async function keep(file: SiteFile, n: number): Promise<unknown> {
  rawBytes += file.bytes.length
  if (keeper === 'nothing') return undefined
  if (library === undefined) return file.bytes.toString('latin1') // a string of an byte a character, without a buffer's own size
  const robotsUrl = `${file.origin}/robots.txt`
  try {
    const rules =
      library === ours
        ? library.prepareBytes(file.bytes, robotsUrl)
        : await library.prepare(file.bytes.toString('utf8'), robotsUrl)
    for (const url of questionsFor(file, n + 1, n % EVERY === 0 ? MANY : 1)) library.isAllowed(rules, url)
    const claims = library.claimedBytes(rules)
    if (claims !== undefined) claimedBytes = (claimedBytes ?? 0) + claims
    return rules
  } catch {
    failures++
    rawBytes -= file.bytes.length
    return undefined
  }
}
