// What `politely match --by-agent` counts.
import type { Rule } from '@politely/core'
import type { KnownCrawler } from '@politely/core/crawlers'
import type { Identity } from './ip-ranges.ts'

/** A rule that a crawler broke. */
export interface BrokenRule {
  readonly rule: Rule
  requests: number
  /** The URL of the first of these requests, cut after 500 characters. */
  readonly example: string
}

/** The requests of one crawler, with one identity. */
export interface AgentRow {
  /** `UNCLEAR` for names that are not clear, and for unknown names after the first thousand. */
  readonly crawler: string
  readonly identity: Identity
  readonly known: KnownCrawler | undefined
  /** The first User-Agent that named the crawler. */
  readonly userAgent: string
  allowed: number
  disallowed: number
  /** Requests for robots.txt, which are always allowed and count nowhere else. */
  robotsTxt: number
  /** By line. */
  readonly rules: Map<number, BrokenRule>
}

/** Lines of the log that are in no row. */
export interface LeftOut {
  browsers: number
  withoutAgent: number
  otherHosts: number
  /** Lines without a request that robots.txt could allow or disallow. */
  odd: number
  firstOdd: string
}
