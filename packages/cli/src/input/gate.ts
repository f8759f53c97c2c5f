// The gate of a command line: the pace of its requests for pages.
import type { RobotsClient } from '@politely/fetcher'
import { type PoliteFetch, PoliteGate, politely } from '@politely/gate'
import type { Arguments } from '../command-line.ts'
import { errorLine } from '../output/style.ts'
import { maxWaitMsOf, minDelayMsOf, retryOptionsOf } from './numbers.ts'
import { withPackage } from './optional-package.ts'
import { type Fetch, withPages } from './pages.ts'

/** What a command that requests pages works with. */
export interface OpenSite {
  readonly client: RobotsClient
  readonly gate: PoliteGate
  /** Makes requests without the gate. */
  readonly fetch: Fetch
  /** Makes requests through the gate, again after failures as `--retry` says. */
  readonly polite: PoliteFetch<Fetch>
}

/**
 * Opens a gate with the client and the store of the command line, and closes them when `use` is done.
 * @param logsWaits Whether stderr says that a request waits for more than ten seconds. If not, the
 * output of the command shows its waits, or leaves them out.
 */
export function withGate<T>(
  args: Arguments,
  use: (site: OpenSite) => Promise<T>,
  {
    logsWaits = args.get('format') === 'text',
    maxConcurrent,
  }: { readonly logsWaits?: boolean; readonly maxConcurrent?: number } = {},
): Promise<T> {
  const limits = { maxWaitMs: maxWaitMsOf(args), minDelayMs: minDelayMsOf(args), maxConcurrent }
  const info = logsWaits ? (message: string) => process.stderr.write(errorLine(message)) : () => undefined
  return withPages(args, async (client, fetch) => {
    const evidence = await evidenceOf(args)
    const gate = new PoliteGate({ robots: client, logger: { info }, evidence, ...limits })
    try {
      return await use({ client, gate, fetch, polite: politely(fetch, { gate, retry: retryOptionsOf(args) }) })
    } finally {
      gate.close()
      await evidence?.close()
    }
  })
}

/** Opens the folder of `--evidence`. @throws {UsageError} if its package is missing, or nothing can be written. */
async function evidenceOf(args: Arguments) {
  const dir = args.get('evidence')
  if (dir === undefined) return undefined
  const load = () => import('@politely/evidence')
  return withPackage('@politely/evidence', load, '--evidence', async ({ evidenceFiles }) => evidenceFiles({ dir }))
}
