// `politely fetch`: fetches pages through a gate, and reports what happened to each.
import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { outcomeOf } from '@politely/core'
import { escapeControls } from '@politely/core/internal'
import { loggableVerdict, withoutCredentials } from '@politely/fetcher'
import {
  type PoliteFetch,
  type PoliteGate,
  politely,
  RobotsDisallowedError,
  type StartMessage,
  WaitTooLongError,
} from '@politely/gate'
import type { Arguments } from '../../command-line.ts'
import { type ExitName, exitOf, UsageError } from '../../exit-code.ts'
import { requestFailure } from '../../input/failure.ts'
import { type OpenSite, withGate } from '../../input/gate.ts'
import { rejectFiles } from '../../input/is-file.ts'
import { retryOptionsOf } from '../../input/numbers.ts'
import { type Pages, withOptionalPageFile } from '../../input/page-file.ts'
import { PageStart } from '../../input/page-start.ts'
import type { Fetch } from '../../input/pages.ts'
import { assertUrls, type GivenUrl, hasList, urlsOf } from '../../input/url-source.ts'
import { UnprintableError, writePage } from '../../output/page.ts'
import { printReport } from '../../output/report.ts'
import { waitProblem } from '../../output/sentences.ts'
import { safeText } from '../../output/style.ts'
import { type FetchReport, formatFetch, type SentRequest } from './format-fetch.ts'

/** Returns the exit code. */
export async function fetchPages(args: Arguments): Promise<number> {
  assertUrls(args)
  rejectFiles(args.operands, 'check', 'fetch')
  if ((args.operands.length > 1 || hasList(args)) && args.has('output'))
    throw new UsageError('--output: is for one page, and several URLs were given; write one URL, or > FILE')
  return withOptionalPageFile(args, (pages) =>
    withGate(args, (site) => {
      async function* reports() {
        for await (const given of urlsOf(args, site.polite)) yield await fetchPage(given, args, site, pages)
      }
      return printReport(args, {
        rows: reports(),
        exit: exitOfReport,
        json: (report) => report,
        text: (report) => formatFetch(report, Date.now(), args.get('proxy')),
        write: (text) => process.stderr.write(text), // the pages go to stdout
      })
    }),
  )
}

function exitOfReport({ outcome, verdict }: FetchReport): ExitName {
  if (outcome === 'fetched') return 'success'
  return outcome === 'refused' && verdict !== undefined ? exitOf(verdict) : 'disallowed'
}

async function fetchPage(
  { url, redirectedFrom }: GivenUrl,
  args: Arguments,
  { client, gate, fetch }: OpenSite,
  pages: Pages | undefined,
): Promise<FetchReport> {
  const requests: SentRequest[] = []
  using starts = listenToStarts(gate)
  const politeFetch: PoliteFetch<Fetch> = politely(
    async (...given: Parameters<Fetch>) => {
      const start = starts.last()
      startedAt = performance.now()
      const sent = {
        url: withoutCredentials(String(given[0])),
        waitedMs: Math.round(start?.waitedMs ?? 0),
        waitedFor: start?.waitedFor ?? 'none',
      }
      requests.push({ ...sent, status: undefined })
      const response = await fetch(...given)
      requests.splice(-1, 1, { ...sent, status: response.status })
      return response
    },
    { gate, cache: pages?.cache, retry: retryOptionsOf(args) },
  )
  let startedAt = performance.now()
  let bytes = 0
  const pageStart = new PageStart()
  const report = ({ outcome, ...more }: Pick<FetchReport, 'outcome'> & Partial<FetchReport>): FetchReport => ({
    url: withoutCredentials(url),
    outcome,
    page: undefined,
    problem: undefined,
    requests,
    contentType: undefined,
    bytes,
    tookMs: undefined,
    verdict: undefined,
    ...more,
  })
  try {
    const response = await politeFetch(url, { redirectedFrom })
    const contentType = response.headers.get('content-type') ?? undefined
    // A stored page may be the target of a stored redirect, and no request was sent.
    const last = withoutCredentials(response.url) || (requests.at(-1)?.url ?? url)
    const verdict = loggableVerdict(client.checkNow(last) ?? (await client.check(last)))
    const count = (chunk: Uint8Array) => {
      bytes += chunk.length
      pageStart.write(chunk)
    }
    await writePage(response, { file: args.get('output'), head: args.has('include') ? headOf(response) : '', count })
    return report({
      ...(await pauseOf(last, gate)),
      outcome: 'fetched',
      page: outcomeOf({
        status: response.status,
        headers: response.headers,
        head: pageStart.bytes,
        url: last,
        redirected: response.redirected,
      }),
      cache: pages?.cacheOf(response),
      verdict,
      contentType,
      bytes,
      tookMs: Math.round(performance.now() - startedAt),
    })
  } catch (error) {
    if (error instanceof RobotsDisallowedError) return report({ outcome: 'refused', verdict: error.verdict })
    if (error instanceof WaitTooLongError)
      return report({ outcome: 'wait-too-long', verdict: error.verdict, problem: waitProblem(error) })
    const problem = error instanceof UnprintableError ? error.message : requestFailure(error)?.text
    if (problem === undefined) throw error
    return report({ outcome: 'failed', page: outcomeOf(error), problem, bytes })
  }
}

/** Says how long the site must be left alone, if its last response asked for that: a 429, for example. */
async function pauseOf(url: string, gate: PoliteGate): Promise<Pick<FetchReport, 'waitMs' | 'waitFor'>> {
  const next = await gate.when(url)
  const isAsked = next.allowed && (next.because === 'retry-after' || next.because === 'backoff')
  return isAsked ? { waitMs: Math.round(next.waitMs), waitFor: next.because } : {}
}

function headOf({ status, statusText, headers }: Response): string {
  const lines = [...headers].map(([name, value]) => safeText(`${name}: ${value}`))
  return `${[escapeControls(`${status} ${statusText}`).trim(), ...lines].join('\n')}\n\n`
}

/** Listens to the starts of requests of this gate, until it is disposed. */
function listenToStarts(gate: PoliteGate): Disposable & { last(): StartMessage | undefined } {
  let last: StartMessage | undefined
  const listener = (message: unknown) => {
    if ((message as StartMessage).gate === gate) last = message as StartMessage
  }
  subscribe('politely:gate:start', listener)
  return { last: () => last, [Symbol.dispose]: () => unsubscribe('politely:gate:start', listener) }
}
