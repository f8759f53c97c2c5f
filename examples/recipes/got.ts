// got: every request is allowed by robots.txt and waits its turn; so does every hop of a redirect, and every retry.
import { globalAgent as httpAgent } from 'node:http'
import { globalAgent as httpsAgent } from 'node:https'
import { type PoliteGate, politeHttpAgent } from '@politely/gate'
import got, { type Got } from 'got'
import { showOnSmallWeb } from './small-web.ts'

export function politeGot(gate: PoliteGate): Got {
  return got.extend({
    agent: { http: politeHttpAgent(httpAgent, gate), https: politeHttpAgent(httpsAgent, gate) },
    headers: { 'user-agent': gate.robots.userAgent },
    hooks: { beforeRequest: [refuseHttp2] },
  })
}

/** For the `beforeRequest` of got, which with HTTP/2 would go round its agent. */
export function refuseHttp2({ http2 }: { readonly http2?: boolean }): void {
  if (http2) throw new TypeError('http2 goes round the gate; leave it out')
}

if (import.meta.main) {
  await showOnSmallWeb((gate) => {
    const get = politeGot(gate)
    return { visit: async (url) => (await get(url)).statusCode }
  })
}
