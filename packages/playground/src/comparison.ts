// What the change from the earlier file to this file does, by the line that causes it: as
// `politely diff` counts it.
import { rulesFor } from '@politely/core/crawlers'
import { ChangeCounter, type CrawlerChange, crawlersIn, samplePaths } from '@politely/core/internal'
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
  const changesOf = (crawlers: readonly string[], urls: readonly string[]) =>
    crawlers.map((crawler) => {
      const counter = new ChangeCounter(crawler, rulesFor(before, crawler), rulesFor(after, crawler))
      for (const url of urls) counter.add(url)
      return counter.result()
    })
  const texts = [state.before, state.robots]
  const all = crawlersIn(texts)
  const crawlers = all.slice(0, Math.max(1, Math.floor(MAX_PARSED_CHARACTERS / texts.join('').length)))
  const paths = samplePaths(texts).slice(0, Math.ceil(MAX_CHECKS / crawlers.length))
  // With an origin, because `//a` alone would be a URL without a scheme.
  const sampled = changesOf(
    crawlers,
    paths.map((path) => `${SAMPLE_ORIGIN}${path}`),
  ).map(withoutOrigin)
  return {
    given: changesOf(state.crawlers, state.urls).filter(hasChanged),
    sampled: sampled.filter(hasChanged),
    samples: paths.length,
    leftOut: all.length - crawlers.length,
  }
}

const SAMPLE_ORIGIN = 'https://site.example'

function withoutOrigin({ crawler, disallowed, allowed }: CrawlerChange): CrawlerChange {
  const shorten = (changes: CrawlerChange['allowed']) =>
    changes.map((change) => ({ ...change, examples: change.examples.map((url) => url.slice(SAMPLE_ORIGIN.length)) }))
  return { crawler, disallowed: shorten(disallowed), allowed: shorten(allowed) }
}

function hasChanged({ disallowed, allowed }: CrawlerChange): boolean {
  return disallowed.length + allowed.length > 0
}
