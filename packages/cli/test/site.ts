// A site on loopback, under a name that a process of its own can resolve.
import { type Answer, type Sites, startSites } from '@politely/testkit/sites'
import { onTestFinished } from 'vitest'

export interface Site {
  readonly origin: string
  /** What was asked for. */
  readonly seen: Sites
}

/** Serves until the test is over: one answer at one path, 404 at all others. */
export async function startSite(answer: Answer, path = '/robots.txt'): Promise<Site> {
  const seen = await startSites()
  onTestFinished(() => seen.close())
  seen.answer(`http://127.0.0.1:PORT${path}`, answer)
  return { origin: seen.withPort('http://127.0.0.1:PORT'), seen }
}

/** The origin of a site with this robots.txt. */
export async function originWith(body: string, headers: Readonly<Record<string, string>> = {}): Promise<string> {
  return (await startSite({ status: 200, headers, body })).origin
}

/** The origin of a site that answers with a status and no robots.txt. */
export async function originAnswering(status: number, headers: Readonly<Record<string, string>> = {}): Promise<string> {
  return (await startSite({ status, headers })).origin
}

/** What a server does that never answers. */
export const SILENCE: Answer = () => undefined
