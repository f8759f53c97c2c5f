// What the change from the earlier file to this file does, by the line that causes it: as
// `politely diff` counts it.
import { rulesFor } from '@politely/core/crawlers'
import { ChangeCounter, type CrawlerChange, crawlersIn, samplePaths, sampleUrl } from '@politely/core/review'
import { robotsOf } from './matrix.ts'
import type { PlaygroundState } from './state.ts'

export interface Comparison {
  /** The crawlers of the matrix, on its URLs. */
  readonly given: readonly CrawlerChange[]
  /**
   * Every crawler that one of the files names, and `*`, on paths made from the rules. It finds
   * changes that the URLs of the matrix do not show.
   */
  readonly sampled: readonly CrawlerChange[]
  /** How many paths were made from the rules. */
  readonly samples: number
  /** How many crawlers of the files were not compared on these paths, because the files are large. */
  readonly leftOut: number
}

// Both files are parsed for each crawler, after each key. So the more text there is, the fewer
// crawlers are compared on the sample paths, and the more crawlers, the fewer paths.
const MAX_CHECKS = 50_000
const MAX_PARSED_CHARACTERS = 3_000_000

/** Returns undefined without an earlier file. */
export function compareFiles(state: PlaygroundState): Comparison | undefined {
  if (state.before === undefined) return undefined
  const before = robotsOf(state.before, state)
  const after = robotsOf(state.robots, state)
  const changesOf = (crawlers: readonly string[], count: (counter: ChangeCounter) => void) =>
    crawlers
      .map((crawler) => {
        const counter = new ChangeCounter(crawler, rulesFor(before, crawler), rulesFor(after, crawler))
        count(counter)
        return counter.result()
      })
      .filter(hasChanged)
  const files = [before, after]
  const all = crawlersIn(files)
  const characters = state.before.length + state.robots.length
  const crawlers = all.slice(0, Math.max(1, Math.floor(MAX_PARSED_CHARACTERS / characters)))
  const paths = samplePaths(files).slice(0, Math.ceil(MAX_CHECKS / crawlers.length))
  return {
    given: changesOf(state.crawlers, (counter) => {
      for (const url of state.urls) counter.add(url)
    }),
    sampled: changesOf(crawlers, (counter) => {
      for (const path of paths) counter.add(sampleUrl(path), path)
    }),
    samples: paths.length,
    leftOut: all.length - crawlers.length,
  }
}

function hasChanged({ disallowed, allowed }: CrawlerChange): boolean {
  return disallowed.length + allowed.length > 0
}
