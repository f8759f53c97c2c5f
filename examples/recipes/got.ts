// got: every request is allowed by robots.txt and waits its turn; so does every hop of a redirect, and every retry.
import { type Agent as HttpAgent, globalAgent as httpAgent } from 'node:http'
import { type Agent as HttpsAgent, globalAgent as httpsAgent } from 'node:https'
import { type PoliteGate, politeHttpAgent } from '@politely/gate'
import got, { type Got } from 'got'
import { showOnSmallWeb } from './small-web.ts'

export function politeGot(gate: PoliteGate): Got {
  const agent = politeAgents(gate)
  return got.extend({
    agent,
    headers: { 'user-agent': gate.robots.userAgent },
    hooks: { beforeRequest: [refuseBypass(agent)] },
  })
}

export interface PoliteAgents {
  readonly http: HttpAgent
  readonly https: HttpsAgent
}

export function politeAgents(gate: PoliteGate): PoliteAgents {
  return { http: politeHttpAgent(httpAgent, gate), https: politeHttpAgent(httpsAgent, gate) }
}

/** Returns a `beforeRequest` hook for got that rejects the options of a single call that would go around these agents. */
export function refuseBypass(polite: PoliteAgents) {
  return ({ agent, http2, request }: Bypass): void => {
    if (http2) throw new TypeError('http2: true goes around the gate; leave it out')
    if (request !== undefined) throw new TypeError('request: a custom function goes around the gate; leave it out')
    if (agent?.http !== polite.http || agent?.https !== polite.https)
      throw new TypeError('agent: another agent goes around the gate; leave it out')
  }
}

interface Bypass {
  readonly agent?: { readonly http?: unknown; readonly https?: unknown }
  readonly http2?: boolean
  readonly request?: unknown
}

if (import.meta.main) {
  await showOnSmallWeb((gate) => {
    const get = politeGot(gate)
    return { visit: async (url) => (await get(url)).statusCode }
  })
}
