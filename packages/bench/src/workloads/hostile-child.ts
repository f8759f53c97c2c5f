// One library, all hostile files from a given one on, in a process of its own, which the parent ends if it hangs.
//   node --expose-gc hostile-child.ts LIBRARY text|bytes FIRST STEP ROUNDS
import { hostileFiles, ORIGIN } from '../files/hostile-file.ts'
import { libraries } from '../libraries/libraries.ts'
import { median } from '../median.ts'
import { collectGarbage, nowNs } from '../rounds.ts'
import type { HostileMessage } from './hostile.ts'

/** What is slower is not repeated. */
const REPEATED_MS = 200
/** After the first question others follow, which may find an index in the making; no longer than this. */
const AFTERWARDS_MS = 100
const LATER_QUESTIONS = 40

const [name, source, first, step, rounds] = process.argv.slice(2)
const library = libraries.find((one) => one.name === name)
if (library === undefined) throw new Error(`no library is called ${name}`)
const robotsUrl = `${ORIGIN}/robots.txt`

for (let i = Number(first); i < hostileFiles.length; i += Number(step)) {
  const { bytes, url } = hostileFiles[i] as (typeof hostileFiles)[number]
  try {
    const text = bytes.toString('utf8')
    const read = () => (source === 'bytes' ? library.prepareBytes(bytes, robotsUrl) : library.prepare(text, robotsUrl))
    const all: number[] = []
    const later: number[] = []
    for (let round = 0; round < Number(rounds) && (all.at(-1) ?? 0) <= REPEATED_MS; round++) {
      say({ file: i, state: 'begun' })
      collectGarbage()
      const start = nowNs()
      const rules = await read()
      library.isAllowed(rules, url)
      all.push((nowNs() - start) / 1e6)
      later.push(slowestOf(rules, url))
    }
    // A median, so that a pause of the machine is not taken for the file's doing.
    say({ file: i, state: 'done', ms: median(all), laterMs: median(later) })
  } catch {
    // No word of the error: some have the whole file in them, too much for the channel at once.
    say({ file: i, state: 'failed' })
  }
}
process.disconnect?.()

/** The slowest of the questions that follow the first. */
function slowestOf(rules: unknown, url: string): number {
  let slowest = 0
  let left = AFTERWARDS_MS
  for (let i = 0; i < LATER_QUESTIONS && left > 0; i++) {
    const start = nowNs()
    library?.isAllowed(rules, `${url}${i}`)
    const ms = (nowNs() - start) / 1e6
    slowest = Math.max(slowest, ms)
    left -= ms
  }
  return slowest
}

function say(message: HostileMessage): void {
  process.send?.(message)
}
