// What the tests of the recipes share.
import { RobotsClient, type RobotsClientOptions } from '@politely/fetcher'
import { PoliteGate, type PoliteGateOptions } from '@politely/gate'
import { type Sites, startSites } from '@politely/testkit/sites'
import { onTestFinished } from 'vitest'

export const HOME = 'http://localhost:PORT'

type Pacing = Omit<PoliteGateOptions, 'robots'>

export function openGate(
  client: RobotsClientOptions,
  pacing: Pacing,
): { gate: PoliteGate; robots: RobotsClient; close: () => Promise<void> } {
  const robots = new RobotsClient(client)
  const gate = new PoliteGate({ robots, ...pacing })
  const close = async () => {
    gate.close()
    await robots.close()
  }
  return { gate, robots, close }
}

export interface NarrowWeb {
  readonly sites: Sites
  readonly gate: PoliteGate
  readonly robots: RobotsClient
}

/** A web where `/private` is disallowed, and a gate with one place for each origin: who does not give it back stops everybody. */
export async function openNarrowWeb(pacing: Pacing = {}): Promise<NarrowWeb> {
  const sites = await startSites()
  sites.answer(`${HOME}/robots.txt`, { status: 200, body: 'User-agent: *\nDisallow: /private\n' })
  sites.answer(`${HOME}/open`, { status: 200, headers: { 'content-type': 'text/html' }, body: '<title>a page</title>' })
  const client = { userAgent: 'RecipeBot/1.0', retries: 0 }
  const { gate, robots, close } = openGate(client, { minDelayMs: 0, maxConcurrentPerOrigin: 1, ...pacing })
  onTestFinished(async () => {
    await close()
    await sites.close()
  })
  return { sites, gate, robots }
}

/** The codes in an error and in what caused it. */
export function codesIn(error: unknown): readonly unknown[] {
  return error instanceof Error ? [(error as { code?: unknown }).code, ...codesIn(error.cause)] : []
}
