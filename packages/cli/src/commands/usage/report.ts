// What `politely usage` reports about a URL.
import type { Verdict } from '@politely/core'
import type { Usage } from '@politely/core/usage'
import type { ClientUsage, ClientVerdict } from '@politely/fetcher'

/** The answers about one URL, and what the command has read for them. */
export interface UsageReport {
  /** As it was given, without credentials. */
  readonly url: string
  /** The names that the crawler looks for in robots.txt. */
  readonly productTokens: readonly string[]
  /** The answers, about the URL after redirects. */
  readonly usage: Usage
  /** Whether the crawler may fetch that URL. */
  readonly verdict: ClientVerdict | Verdict
  /** The name or URL of the robots.txt. */
  readonly robots: string
  readonly page: ClientUsage['page'] & {
    /** The status of the response, if one arrived. */
    readonly status?: number
    /** The command has requested the page, and it could not be read. */
    readonly isMissing?: true
  }
  readonly tdmrep:
    | Pick<ClientUsage['tdmrep'], 'reading' | 'why'>
    | { readonly reading: 'not-given'; readonly why: string }
}

/** Returns the JSON of a report. */
export function jsonOf({ url, productTokens, usage, verdict, robots, page, tdmrep }: UsageReport): object {
  const { purposes, conflicts, signalUse, licenses, tdmPolicy, directives, problems } = usage
  const { isMissing: _, ...pageJson } = page
  return {
    url,
    finalUrl: usage.url,
    productTokens,
    purposes,
    conflicts,
    signalUse,
    licenses,
    tdmPolicy,
    directives,
    problems,
    robots,
    page: pageJson,
    tdmrep,
    verdict: { ...verdict, url: usage.url },
  }
}
