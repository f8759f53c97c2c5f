// Crawl-delay, an extension (RFC 9309 §2.2.4) that many sites write and Bing, Yandex and others have read.
import type { WrittenDelay } from './groups.ts'
import type { Selection } from './selection.ts'

/** The longest pause, in milliseconds, that the file asks of a crawler; undefined where it asks for none that can be read. */
export function crawlDelayMsOf(delays: readonly WrittenDelay[], names: Selection['names']): number | undefined {
  let longest: number | undefined
  for (const { agents, value } of delays) {
    const seconds = agents.some(names) ? secondsOf(value) : undefined
    if (seconds !== undefined) longest = Math.max(longest ?? 0, seconds * 1000)
  }
  return longest
}

/** Decimal seconds, `10`, `1.5`, `.5`. Anything else (`10s`, `-1`, `1e3`) is not understood and so not obeyed. */
function secondsOf(value: string): number | undefined {
  return /^(\d+(\.\d*)?|\.\d+)$/.test(value) ? Number(value) : undefined
}
