// Runs one library on the hostile files, starting with file FIRST, in a child process. The parent
// kills the process if a file takes too long.
//   node --expose-gc hostile-child.ts LIBRARY text|bytes FIRST STEP ROUNDS
import { hostileFiles, ORIGIN } from '../files/hostile-file.ts'
import { libraries } from '../libraries/libraries.ts'
import { median } from '../median.ts'
import { collectGarbage, nowNs } from '../rounds.ts'
import type { HostileMessage } from './hostile.ts'

/** A file that takes longer is measured once. */
const MAX_REPEATED_MS = 200
/**
 * The time limit of the checks after the first one. During these, the library may build an index.
 */
const MAX_LATER_CHECKS_MS = 100
const LATER_CHECKS = 40

const [name, source, first, step, rounds] = process.argv.slice(2)
const library = libraries.find((one) => one.name === name)
if (library === undefined) throw new Error(`there is no library called ${name}`)
const robotsUrl = `${ORIGIN}/robots.txt`

for (let i = Number(first); i < hostileFiles.length; i += Number(step)) {
  const { bytes, url } = hostileFiles[i] as (typeof hostileFiles)[number]
  try {
    const text = bytes.toString('utf8')
    const parse = () => (source === 'bytes' ? library.prepareBytes(bytes, robotsUrl) : library.prepare(text, robotsUrl))
    const firstCheckMs: number[] = []
    const laterCheckMs: number[] = []
    for (let round = 0; round < Number(rounds) && (firstCheckMs.at(-1) ?? 0) <= MAX_REPEATED_MS; round++) {
      send({ file: i, state: 'begun' })
      collectGarbage()
      const start = nowNs()
      const rules = await parse()
      library.isAllowed(rules, url)
      firstCheckMs.push((nowNs() - start) / 1e6)
      laterCheckMs.push(slowestLaterCheck(rules, url))
    }
    // The median ignores a delay that the machine caused.
    send({ file: i, state: 'done', ms: median(firstCheckMs), laterMs: median(laterCheckMs) })
  } catch {
    // Does not send the error: some error messages contain the whole file, which is too much for
    // the channel.
    send({ file: i, state: 'failed' })
  }
}
process.disconnect?.()

/** Returns the time of the slowest check after the first one. */
function slowestLaterCheck(rules: unknown, url: string): number {
  let slowest = 0
  let remainingMs = MAX_LATER_CHECKS_MS
  for (let i = 0; i < LATER_CHECKS && remainingMs > 0; i++) {
    const start = nowNs()
    library?.isAllowed(rules, `${url}${i}`)
    const ms = (nowNs() - start) / 1e6
    slowest = Math.max(slowest, ms)
    remainingMs -= ms
  }
  return slowest
}

function send(message: HostileMessage): void {
  process.send?.(message)
}
