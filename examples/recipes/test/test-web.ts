// Opens gates and test sites.
import { RobotsClient, type RobotsClientOptions } from '@politely/fetcher'
import { PoliteGate, type PoliteGateOptions } from '@politely/gate'
import { type Sites, startSites } from '@politely/testkit/servers/sites'
import { onTestFinished } from 'vitest'

export const HOME = 'http://localhost:PORT'

type GateOptions = Omit<PoliteGateOptions, 'robots'>

export function openGate(
  client: RobotsClientOptions,
  pacing: GateOptions,
): { gate: PoliteGate; robots: RobotsClient; close: () => Promise<void> } {
  const robots = new RobotsClient(client)
  const gate = new PoliteGate({ robots, ...pacing })
  const close = async () => {
    gate.close()
    await robots.close()
  }
  return { gate, robots, close }
}

export interface TestWeb {
  readonly sites: Sites
  readonly gate: PoliteGate
  readonly robots: RobotsClient
}

/**
 * Starts a site that disallows `/private`, and a gate with one concurrent request for each origin.
 * A permit that is not released blocks all later requests.
 */
export async function openTestWeb(pacing: GateOptions = {}): Promise<TestWeb> {
  const sites = await startSites()
  sites.respond(`${HOME}/robots.txt`, { status: 200, body: 'User-agent: *\nDisallow: /private\n' })
  sites.respond(`${HOME}/open`, {
    status: 200,
    headers: { 'content-type': 'text/html' },
    body: '<title>a page</title>',
  })
  const client = { userAgent: 'RecipeBot/1.0', retries: 0 }
  const { gate, robots, close } = openGate(client, { minDelayMs: 0, maxConcurrentPerKey: 1, ...pacing })
  onTestFinished(async () => {
    await close()
    await sites.close()
  })
  return { sites, gate, robots }
}

/** Returns the codes of an error and of its causes. */
export function errorCodes(error: unknown): readonly unknown[] {
  return error instanceof Error ? [(error as { code?: unknown }).code, ...errorCodes(error.cause)] : []
}
