// Builds the verdicts of a RobotsClient from an entry and its rules.
import type { Access, CrawlerRules, DayRange, InvalidUrl, ParsedUrl, RequestRate, Rule, Verdict } from '@politely/core'
import { type AccessPolicy, decide, type Entry } from '@politely/core/engine'
import { textWithoutCredentials, withoutCredentials } from '@politely/core/internal'

/** The verdict about one URL. JSON-safe; a discriminated union by `because`. */
export type ClientVerdict =
  | (Verdict & CheckedUrl)
  // An invalid URL has no origin and no robots.txt. So the fields of `CheckedUrl` are absent, and can
  // be read without narrowing.
  | (InvalidUrl & { readonly url: string } & { readonly [Field in Exclude<keyof CheckedUrl, 'url'>]?: undefined })

/** The URL of a verdict, and what the client knows about its origin. */
export interface CheckedUrl {
  readonly url: string
  /** Scheme, host as an A-label, and port unless it is the default. RFC 9309 §2.3. */
  readonly origin: string
  readonly access: Access
  /**
   * When the client tries to fetch robots.txt again, if it is unreachable and therefore disallows
   * the URL: `access.nextAttemptAt`. Milliseconds since 1970; absent with any other reason.
   */
  readonly retryAt?: number | undefined
  /**
   * The delay between requests that the site asks of this crawler, in milliseconds; undefined if it
   * asks for none.
   */
  readonly crawlDelayMs: number | undefined
  /** The request rates that the site asks of this crawler; undefined if it asks for none. */
  readonly requestRates?: readonly RequestRate[] | undefined
  /** The hours in which the site wants visits, any of these; undefined for any time. */
  readonly visitTimes?: readonly DayRange[] | undefined
}

/** What decides about the URLs of one origin. */
interface OriginRules {
  readonly entry: Entry
  readonly rules: CrawlerRules
}

/**
 * Returns the verdict about a URL of this origin.
 * @param text The URL as the caller wrote it.
 * @param url The same URL for the check.
 */
export function clientVerdictOf(
  text: string,
  origin: string,
  url: string | ParsedUrl,
  { entry, rules }: OriginRules,
  now: number,
  policy: AccessPolicy,
): ClientVerdict {
  const { verdict, access } = decide(entry, rules, url, now, policy)
  if (verdict.because === 'rule' || verdict.because === 'no-rule-matched') {
    // Most verdicts. Without a spread they are created in a third of the time.
    const { allowed, because, group } = verdict
    const { crawlDelayMs } = rules
    const requestRates = unlessEmpty(rules.requestRates)
    const visitTimes = unlessEmpty(rules.visitTimes)
    return because === 'rule'
      ? {
          url: text,
          origin,
          allowed,
          because,
          rule: verdict.rule,
          group,
          access,
          crawlDelayMs,
          requestRates,
          visitTimes,
        }
      : { url: text, origin, allowed, because, group, access, crawlDelayMs, requestRates, visitTimes }
  }
  const retryAt = verdict.because === 'unreachable' && { retryAt: access.nextAttemptAt }
  return { url: text, origin, ...verdict, access, ...retryAt, ...(access.copy ? paceOf(rules) : NO_PACE) }
}

export function invalidUrlVerdict(text: string, problem: InvalidUrl['problem']): ClientVerdict {
  return { url: text, allowed: false, because: 'invalid-url', problem }
}

/**
 * Returns a verdict to print or log: one whose `url` and rule have no credentials of a URL
 * (`user:password@`). It is the same object if they have none.
 */
export function loggableVerdict<Verdict extends ClientVerdict>(verdict: Verdict): Verdict {
  const url = withoutCredentials(verdict.url)
  const rule = verdict.because === 'rule' ? loggableRule(verdict.rule) : undefined
  const hasRule = rule !== undefined && (verdict as { readonly rule?: unknown }).rule !== rule
  return url === verdict.url && !hasRule ? verdict : { ...verdict, url, ...(hasRule && { rule }) }
}

function loggableRule(rule: Rule): Rule {
  const text = textWithoutCredentials(rule.text)
  return text === rule.text ? rule : { ...rule, text }
}

type RequestedPace = Pick<CheckedUrl, 'crawlDelayMs' | 'requestRates' | 'visitTimes'>

const NO_PACE: RequestedPace = { crawlDelayMs: undefined, requestRates: undefined, visitTimes: undefined }

function paceOf({ crawlDelayMs, requestRates, visitTimes }: CrawlerRules): RequestedPace {
  return { crawlDelayMs, requestRates: unlessEmpty(requestRates), visitTimes: unlessEmpty(visitTimes) }
}

function unlessEmpty<T>(list: readonly T[]): readonly T[] | undefined {
  return list.length > 0 ? list : undefined
}
