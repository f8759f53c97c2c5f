// `politely check`: fetches robots.txt files and prints a verdict for each URL.
import { once } from 'node:events'
import { explainUrlProblem } from '@politely/core'
import { type ClientVerdict, loggableVerdict, type RobotsClient, withoutCredentials } from '@politely/fetcher'
import type { Arguments } from '../../command-line.ts'
import { crawlerText, tokensOf } from '../../crawler.ts'
import { errorLine } from '../../describe-error.ts'
import { Interrupted, UsageError } from '../../errors.ts'
import { EXITS, type ExitName, exitOf, moreSevere } from '../../exit-code.ts'
import { formatOf } from '../../flags.ts'
import { withClient } from '../../input/client.ts'
import { isFile } from '../../input/is-file.ts'
import { isTooLong, readLines, TOO_LONG_VERDICT } from '../../input/read-lines.ts'
import { shorten } from '../../output/shorten.ts'
import { jsonLine, write } from '../../output/write.ts'
import { formatReport } from './format-report.ts'

/**
 * URLs that are checked at the same time. Verdicts are printed in input order, so a slow site holds
 * back at most this many.
 */
const CONCURRENCY = 16

/** Returns the exit code. */
export async function check(args: Arguments): Promise<number> {
  const urls = args.operands
  if (urls.length === 0) {
    throw new UsageError('no URL was given; write one such as https://example.com/page, or - to read URLs from stdin')
  }
  const format = args.has('json') ? 'ndjson' : formatOf(args)
  const done = new AbortController()
  const interrupted = once(process, 'SIGINT', { signal: done.signal }).then(() => {
    throw new Interrupted()
  })
  interrupted.catch(() => undefined) // `done.abort()` rejects it when the race is already over
  try {
    return await withClient(args, async (client) => {
      const exit = await Promise.race([checkAll(client, urls, format, crawlerText(tokensOf(args))), interrupted])
      return EXITS[exit].code
    })
  } finally {
    done.abort()
  }
}

/** @param crawler The crawler of the command line, for people. */
async function checkAll(
  client: RobotsClient,
  urls: readonly string[],
  format: string,
  crawler: string,
): Promise<ExitName> {
  let exit: ExitName = 'success'
  let reports = 0
  const all: object[] = []
  for await (const verdict of verdictsOf(client, urls)) {
    exit = moreSevere(exit, exitOf(verdict))
    process.exitCode = EXITS[exit].code // main.ts exits with it if the reader closes the output
    if (verdict.because === 'invalid-url') {
      const url = JSON.stringify(shorten(withoutCredentials(verdict.url)))
      const problem = isFile(verdict.url)
        ? describeFile(verdict.url, url)
        : explainUrlProblem(verdict.problem, verdict.url)
      process.stderr.write(errorLine(`${url}: ${problem}`))
    }
    const loggable = loggableVerdict(verdict)
    if (format === 'ndjson') await write(jsonLine({ version: 1, ...loggable }))
    else if (format === 'json') all.push(loggable)
    else if (verdict.because !== 'invalid-url') {
      await write(`${reports++ === 0 ? '' : '\n'}${formatReport(verdict, crawler, Date.now())}`)
    }
  }
  if (format === 'json') await write(jsonLine({ version: 1, verdicts: all }))
  return exit
}

/** @param shown The name to print. */
function describeFile(path: string, shown: string): string {
  return /robots[^/]*\.txt$/i.test(path)
    ? `this is a file; to check URLs against it, write politely match --robots ${shown} < urls.txt`
    : `this is a file; to check the URLs in it, write politely check - < ${shown}`
}

/** Yields one verdict for each URL, in input order. */
async function* verdictsOf(client: RobotsClient, args: readonly string[]): AsyncGenerator<ClientVerdict> {
  const pending: string[] = []
  async function* urls() {
    for await (const url of urlsOf(args)) {
      pending.push(url)
      yield isTooLong(url) ? '' : url // the client must not make a request for a URL whose end was cut off
    }
  }
  for await (const verdict of client.checkMany(urls(), { concurrency: CONCURRENCY })) {
    const url = pending.shift() as string
    yield isTooLong(url) ? { url, ...TOO_LONG_VERDICT } : verdict
  }
}

/** Yields the URLs of the command line. Replaces `-` with the lines of stdin. */
async function* urlsOf(args: readonly string[]): AsyncGenerator<string> {
  for (const url of args) {
    if (url !== '-') yield url
    else for await (const lines of readLines(process.stdin)) yield* lines
  }
}
