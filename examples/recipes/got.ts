// got: every request, every hop of a redirect and every retry passes the gate.
import { type Agent as HttpAgent, globalAgent as httpAgent } from 'node:http'
import { type Agent as HttpsAgent, globalAgent as httpsAgent } from 'node:https'
import { type PoliteGate, politeHttpAgent } from '@politely/gate'
import got, { type Got } from 'got'
import { runDemo } from './demo.ts'

export function politeGot(gate: PoliteGate): Got {
  const agent = politeAgents(gate)
  return got.extend({
    agent,
    headers: { 'user-agent': gate.robots.userAgent },
    hooks: { beforeRequest: [rejectBypass(agent)] },
  })
}

export interface PoliteAgents {
  readonly http: HttpAgent
  readonly https: HttpsAgent
}

export function politeAgents(gate: PoliteGate): PoliteAgents {
  return { http: politeHttpAgent(httpAgent, gate), https: politeHttpAgent(httpsAgent, gate) }
}

/**
 * Returns a `beforeRequest` hook for got. It rejects calls with options that would bypass these
 * agents.
 */
export function rejectBypass(polite: PoliteAgents) {
  return ({ agent, http2, request }: BypassOptions): void => {
    if (http2) throw new TypeError('http2: true bypasses the gate; remove this option')
    if (request !== undefined) throw new TypeError('request: a custom function bypasses the gate; remove this option')
    if (agent?.http !== polite.http || agent?.https !== polite.https)
      throw new TypeError('agent: another agent bypasses the gate; remove this option')
  }
}

interface BypassOptions {
  readonly agent?: { readonly http?: unknown; readonly https?: unknown }
  readonly http2?: boolean
  readonly request?: unknown
}

if (import.meta.main) {
  await runDemo((gate) => {
    const get = politeGot(gate)
    return { fetchPage: async (url) => (await get(url)).statusCode }
  })
}
