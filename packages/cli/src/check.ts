// `politely check`: asks each site.
import { once } from 'node:events'
import { explainUrlProblem } from '@politely/core'
import { type ClientVerdict, RobotsClient, type RobotsClientOptions } from '@politely/fetcher'
import { EXIT_CODES, type Exit, exitOf, graver } from './exit-code.ts'
import { Interrupted, line, UsageError } from './failure.ts'
import { inOrder } from './in-order.ts'
import { isTooLong, linesOf, TOO_LONG } from './lines.ts'
import { write } from './output.ts'
import { reportOn } from './report.ts'
import { shortened } from './shortened.ts'

export interface CheckOptions extends Partial<Pick<RobotsClientOptions, 'userAgent' | 'productToken' | 'dialect'>> {
  /** Milliseconds. */
  readonly timeout: number
  readonly json?: true
}

/** Questions under way. Answers come in order, so a slow site holds up no more than this many. */
const AT_ONCE = 16

/** Returns the exit code. */
export async function check(
  urls: readonly string[],
  { json, timeout: timeoutMs, userAgent = '', ...options }: CheckOptions,
): Promise<number> {
  if (urls.length === 0) {
    throw new UsageError('no URL was given; write one such as https://example.com/page, or - to read them from stdin')
  }
  const client = new RobotsClient({ userAgent, timeoutMs, ...options })
  const done = new AbortController()
  const interrupted = once(process, 'SIGINT', { signal: done.signal }).then(() => {
    throw new Interrupted()
  })
  interrupted.catch(() => undefined) // it rejects when `done` ends it, after the race
  try {
    const exit = await Promise.race([checkAll(client, urls, json ? 'json' : 'reports'), interrupted])
    return EXIT_CODES[exit].code
  } finally {
    done.abort()
    await client.close()
  }
}

async function checkAll(client: RobotsClient, urls: readonly string[], form: 'json' | 'reports'): Promise<Exit> {
  let exit: Exit = 'fine'
  let reports = 0
  for await (const verdict of inOrder(givenIn(urls), AT_ONCE, (url) => ask(client, url))) {
    exit = graver(exit, exitOf(verdict))
    if (verdict.because === 'invalid-url') {
      const url = JSON.stringify(shortened(verdict.url))
      process.stderr.write(line(`${url}: ${explainUrlProblem(verdict.problem)}`))
    }
    if (form === 'json') {
      await write(`${JSON.stringify(verdict)}\n`)
    } else if (verdict.because !== 'invalid-url') {
      await write(`${reports++ === 0 ? '' : '\n'}${reportOn(verdict, Date.now())}`)
    }
  }
  return exit
}

/** The URLs of the command line; `-` stands for the lines of stdin. */
async function* givenIn(urls: readonly string[]): AsyncGenerator<string> {
  for (const url of urls) {
    if (url !== '-') yield url
    else for await (const lines of linesOf(process.stdin)) yield* lines
  }
}

async function ask(client: RobotsClient, url: string): Promise<ClientVerdict> {
  return isTooLong(url) ? { url, ...TOO_LONG } : await client.check(url)
}
