// The client of a command line, made from the flags of crawler and network.
import { describeValue } from '@politely/core/engine'
import { withoutCredentials } from '@politely/core/internal'
import { NetworkGuard, RobotsClient, type RobotsClientOptions } from '@politely/fetcher'
import type { Dispatcher } from 'undici'
import type { Arguments } from '../command-line.ts'
import { crawlerOptionsOf } from '../crawler.ts'
import { UsageError } from '../exit-code.ts'
import { dialectOf } from '../flags.ts'

/**
 * Opens a client, and closes it and the connections to a proxy when `use` is done. `use` also gets
 * the dispatcher of the proxy, if `--proxy` is given.
 */
export async function withClient<T>(
  args: Arguments,
  use: (client: RobotsClient, proxy: Dispatcher | undefined) => Promise<T>,
  more: Partial<RobotsClientOptions> = {},
): Promise<T> {
  const dispatcher = await proxyOf(args)
  const client = new RobotsClient({ ...clientOptionsOf(args), ...(dispatcher && { dispatcher }), ...more })
  try {
    return await use(client, dispatcher)
  } finally {
    await client.close()
    await dispatcher?.destroy()
  }
}

/** The options that the flags give. The client checks the names and the addresses. */
function clientOptionsOf(args: Arguments): RobotsClientOptions {
  const addresses = allowedAddresses(args)
  return {
    userAgent: args.get('user-agent') ?? '',
    ...crawlerOptionsOf(args, dialectOf(args)),
    ...(addresses.length > 0 && { allowAddresses: addresses }),
    timeoutMs: timeoutOf(args),
  }
}

/** Returns the values of `--allow-address`. @throws {UsageError} for an invalid one. */
export function allowedAddresses(args: Arguments): readonly string[] {
  const given = args.all('allow-address')
  const invalid = given.find((address) => !isAddressOrBlock(address))
  if (invalid === undefined) return given
  const problem = `${describeValue(invalid)} is neither an address nor a block`
  throw new UsageError(`--allow-address: ${problem}; write one such as 10.1.2.3 or 10.0.0.0/8`)
}

function isAddressOrBlock(text: string): boolean {
  try {
    return new NetworkGuard({ allowAddresses: [text] }) !== undefined
  } catch {
    return false
  }
}

/** Returns `--timeout` in milliseconds. @throws {UsageError} for another value than 0.001 to 600. */
export function timeoutOf(args: Arguments): number {
  const given = args.get('timeout')
  const ms = Number(given) * 1000
  if (ms >= 1 && ms <= 600_000) return ms
  throw new UsageError(
    `--timeout: ${describeValue(given)} is out of range; write seconds from 0.001 to 600, such as 10`,
  )
}

/** @throws {UsageError} if the value of `--proxy` is not an http or https URL. */
async function proxyOf(args: Arguments): Promise<Dispatcher | undefined> {
  const given = args.get('proxy')
  if (given === undefined) return undefined
  if (!/^https?:\/\//i.test(given) || !URL.canParse(given)) {
    const problem = `${JSON.stringify(withoutCredentials(given))} is not the URL of an HTTP proxy`
    throw new UsageError(`--proxy: ${problem}; write one such as http://localhost:8080`, given)
  }
  const { ProxyAgent } = await import('undici')
  return new ProxyAgent(given)
}
