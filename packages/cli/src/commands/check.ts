// `politely check`: fetches robots.txt files and prints a verdict for each URL.
import { once } from 'node:events'
import { explainUrlProblem } from '@politely/core'
import { type ClientVerdict, loggableVerdict, RobotsClient, withoutCredentials } from '@politely/fetcher'
import type { Arguments } from '../command-line.ts'
import { errorLine } from '../describe-error.ts'
import { Interrupted, UsageError } from '../errors.ts'
import { EXITS, type ExitName, exitOf, moreSevere } from '../exit-code.ts'
import { formatReport } from '../format-report.ts'
import { isFile } from '../is-file.ts'
import { jsonLine, write } from '../output.ts'
import { isTooLong, readLines, TOO_LONG_VERDICT } from '../read-lines.ts'
import { clientOptionsOf } from '../robots-file.ts'
import { shorten } from '../shorten.ts'

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
  const client = new RobotsClient(clientOptionsOf(args))
  const done = new AbortController()
  const interrupted = once(process, 'SIGINT', { signal: done.signal }).then(() => {
    throw new Interrupted()
  })
  interrupted.catch(() => undefined) // `done.abort()` rejects it when the race is already over
  try {
    const exit = await Promise.race([checkAll(client, urls, args.has('json') ? 'json' : 'reports'), interrupted])
    return EXITS[exit].code
  } finally {
    done.abort()
    await client.close()
  }
}

async function checkAll(client: RobotsClient, urls: readonly string[], form: 'json' | 'reports'): Promise<ExitName> {
  let exit: ExitName = 'success'
  let reports = 0
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
    if (form === 'json') {
      await write(jsonLine(loggableVerdict(verdict)))
    } else if (verdict.because !== 'invalid-url') {
      await write(`${reports++ === 0 ? '' : '\n'}${formatReport(verdict, client.productTokens, Date.now())}`)
    }
  }
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
