// Which crawler a User-Agent of a log names. Everyone can send any name, so it is only a claim.
import { productTokenOf } from '@politely/core'
import { findCrawler, knownCrawlers } from '@politely/core/crawlers'

/** The name of a crawler whose header has no clear product token. Such a crawler obeys the groups for `*`. */
export const UNCLEAR = '*'

/**
 * Returns the name of a known crawler as its operator writes it, any other product token, `UNCLEAR`, or
 * undefined for a browser. A browser is a header that begins as browsers do, and names neither a crawler
 * nor a URL.
 */
export function crawlerOfAgent(userAgent: string): string | undefined {
  const token = productTokenOf(userAgent)
  const known = token === undefined ? knownIn(userAgent) : findCrawler(token)
  if (known !== undefined) return known.name
  if (!/^(?:Mozilla|Opera|Dalvik)\b/i.test(userAgent)) return token ?? UNCLEAR
  // CUBOT is a maker of phones.
  return /(?<!\bcu)bot\b|crawl|spider|https?:|www\./i.test(userAgent) ? (token ?? UNCLEAR) : undefined
}

/** Returns the known crawler among the several names of a header. */
function knownIn(userAgent: string) {
  const text = userAgent.replace(/(?:https?:\/\/|www\.)[^\s;,()]*/gi, '')
  // No request carries the name of a control. Some names have spaces.
  return (
    text
      .split(/[^\w.-]+/)
      .map(findCrawler)
      .find((crawler) => crawler?.isControl === false) ??
    knownCrawlers.find(({ name }) => name.includes(' ') && text.includes(name))
  )
}
