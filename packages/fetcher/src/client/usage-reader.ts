// What `RobotsClient.usage` does after it has loaded robots.txt. A separate module, which the first
// call of `usage` loads: it needs a parser for HTML, and most crawlers never call it.
import { type Attempt, describeReason, type ParsedUrl, type Robots } from '@politely/core'
import {
  decidingAttempt,
  describeCause,
  headerLines,
  isChallengeBy,
  looksLikeMeanings,
  parseUrl,
} from '@politely/core/internal'
import { headReader, type PolicyToken, type TdmrepFile, type Usage, usageOf } from '@politely/core/usage'
import { onAnyAbort } from '../base/abort-listeners.ts'
import { messageOf } from '../base/message-of.ts'
import type { JoinOptions } from '../cache/flights.ts'
import type { CachedTdmrep } from '../cache/memory.ts'
import { TdmrepLoader, type TdmrepParts, tdmrepUrl } from '../cache/tdmrep-loader.ts'
import { type ClientVerdict, loggableVerdict } from '../report/client-verdict.ts'
import { CHALLENGE, type OpenedPage, type PageReadingReport, UNSEEN_TAGS } from './page-response.ts'

/** What may be done with a page, and what the client has looked at to find it out. JSON-safe. */
export interface ClientUsage extends Usage {
  /**
   * The verdict of `check`: whether the crawler may fetch the page, and the state of robots.txt. Its
   * `url` has no credentials.
   */
  readonly verdict: ClientVerdict
  readonly page: PageReadingReport
  /** What is known about the `/.well-known/tdmrep.json` of the origin. JSON-safe. */
  readonly tdmrep: {
    /**
     * What is known of the file:
     *
     * - `read`: its rules are used.
     * - `none`: the site has no such file.
     * - `unreadable`: the response is not a JSON array of rules.
     * - `unreachable`: the fetch failed, so it is unknown whether the site has one.
     * - `disallowed`: robots.txt does not let the crawler fetch it, so this is unknown, too.
     * - `ignored`: the caller did not want it (`tdmrep: 'ignore'`).
     */
    readonly reading: 'read' | 'none' | 'unreadable' | 'unreachable' | 'disallowed' | 'ignored'
    /** One sentence: why it is so. */
    readonly why: string
    /** The URL of the file. */
    readonly url: string
    /** Whether the last attempt confirmed the rules. `stale`: it failed, and the last good copy is used. */
    readonly freshness: 'fresh' | 'stale' | undefined
    /** The last attempt to fetch the file; undefined if the client has made none. */
    readonly attempt: Attempt | undefined
  }
}

/** The content of the file, if it is used, and what is known about it. */
interface LoadedTdmrep {
  readonly file: TdmrepFile | undefined
  readonly report: ClientUsage['tdmrep']
}

/** What was read of a page. */
type ReadPage = Omit<OpenedPage, 'clone' | 'charset'>

export class UsageReader {
  readonly #parts: TdmrepParts
  readonly tdmrep: TdmrepLoader

  constructor(parts: TdmrepParts) {
    this.#parts = parts
    this.tdmrep = new TdmrepLoader(parts)
  }

  /**
   * Reads the head of a page, and cancels the clone. Never rejects. After `timeoutMs` and after an
   * abort, what was read counts.
   */
  async readHead({ clone, charset, ...page }: OpenedPage, signal: AbortSignal | undefined): Promise<ReadPage> {
    if (clone === undefined) return page
    const head = headReader({ charset })
    const body = clone.getReader()
    let problem: string | undefined
    const stop = (why?: string) => {
      problem ??= why
      // Ends a `read` under way. Settles only after the caller has read the body, too.
      body.cancel().catch(() => undefined)
    }
    const { timeoutMs } = this.#parts.settings
    const timer = setTimeout(() => stop(`the rest did not arrive within ${timeoutMs} ms`), timeoutMs)
    const signals = signal === undefined ? [this.#parts.closing] : [this.#parts.closing, signal]
    const removeListeners = onAnyAbort(signals, () => stop('the call was aborted'))
    try {
      for (let isComplete = false; !isComplete; ) {
        const { done, value } = await body.read()
        isComplete = done || head.write(value)
      }
    } catch (error) {
      // The error of undici says only `terminated`; its cause says why.
      const cause = error instanceof Error ? (error.cause ?? error) : error
      problem ??= messageOf(cause)
    } finally {
      clearTimeout(timer)
      removeListeners()
      stop()
    }
    const html = head.end()
    if (!html.isComplete) problem ??= 'the head is longer than 1 MiB, or has too many elements'
    return problem === undefined
      ? { ...page, html }
      : { ...page, html, report: { reading: 'incomplete', why: problem } }
  }

  /**
   * Returns the tdmrep.json of an origin.
   * @param mayFetch Returns whether the crawler may fetch a URL of the origin. Undefined if the caller
   * does without the file.
   */
  async loadTdmrep(
    origin: string,
    mayFetch: ((url: ParsedUrl) => ClientVerdict) | undefined,
    options: JoinOptions,
  ): Promise<LoadedTdmrep> {
    if (mayFetch === undefined) return notFetched(origin, 'ignored', 'the caller does without it')
    const verdict = mayFetch(parseUrl(tdmrepUrl(origin)) as ParsedUrl)
    return verdict.allowed
      ? this.#loaded(origin, await this.tdmrep.load(origin, options))
      : notFetched(origin, 'disallowed', `the crawler may not fetch it: ${describeReason(verdict)}`)
  }

  /** Checks the option before a request is sent. @throws {OptionError} for an invalid token. */
  checkPolicyTokens(policyTokens: readonly PolicyToken[]): void {
    usageOf({ url: '/', tokens: this.#parts.settings.productTokens, policyTokens })
  }

  /** Returns what may be done with a page. @throws {OptionError} for headers of another type. */
  report(
    url: ParsedUrl,
    robots: Robots | undefined,
    verdict: ClientVerdict,
    read: ReadPage,
    { file, report: tdmrep }: LoadedTdmrep,
    policyTokens: readonly PolicyToken[] | undefined,
  ): ClientUsage {
    const isChallenge = isChallengeBy((name) => headerLines(read.headers, name)[0]?.text)
    const { html, headers, report: page } = isChallenge ? CHALLENGE : read
    const isUnseen = page.reading === 'not-given' && verdict.because === 'rule' && !verdict.allowed
    const { productTokens: tokens, now } = this.#parts.settings
    return {
      ...usageOf({ url, tokens, robots, headers, html, tdmrep: file, now: now(), policyTokens }),
      verdict: loggableVerdict(verdict),
      page: isUnseen ? { ...page, why: `${page.why}; ${UNSEEN_TAGS}` } : page,
      tdmrep,
    }
  }

  #loaded(origin: string, { entry, file }: CachedTdmrep): LoadedTdmrep {
    const { now } = this.#parts.settings
    const access = this.tdmrep.accessOf(entry)
    const attempt = structuredClone(decidingAttempt(entry, now(), this.#parts.settings.policy))
    const known = { url: tdmrepUrl(origin), attempt, freshness: undefined } as const
    const cause = describeCause(attempt)
    const looksLike = access.holds === 'rules' ? access.copy.looksLike : attempt.looksLike
    if (looksLike === 'challenge') {
      const why = `the response ${looksLikeMeanings.challenge} (${cause})`
      return { file: undefined, report: { ...known, reading: 'unreachable', why } }
    }
    if (access.holds === 'rules' && file !== undefined) {
      const { freshness } = access
      const reading = file.isReadable ? 'read' : 'unreadable'
      const since = freshness === 'fresh' ? '' : '; the last good copy is used'
      const why = `${file.isReadable ? 'the file was fetched' : file.problems[0]?.why} (${cause})${since}`
      return { file, report: { ...known, reading, why, freshness } }
    }
    const isMissing = access.holds === 'allow-all' && access.because === 'unavailable'
    return isMissing
      ? { file: undefined, report: { ...known, reading: 'none', why: `the site has no such file (${cause})` } }
      : { file: undefined, report: { ...known, reading: 'unreachable', why: `the file is unreachable (${cause})` } }
  }
}

function notFetched(origin: string, reading: 'disallowed' | 'ignored', why: string): LoadedTdmrep {
  return { file: undefined, report: { reading, why, url: tdmrepUrl(origin), freshness: undefined, attempt: undefined } }
}
