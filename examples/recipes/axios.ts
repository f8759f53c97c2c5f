// axios: its fetch adapter calls a polite fetch. Interceptors alone are not enough, because they do not see the hops of a redirect;
// `beforeRedirect` sees them, but cannot wait.
import { type PoliteGate, politely } from '@politely/gate'
import axios, { type AxiosInstance } from 'axios'
import { showOnSmallWeb } from './small-web.ts'

export function politeAxios(gate: PoliteGate): AxiosInstance {
  const fetch = politely(globalThis.fetch, { gate })
  const client = axios.create({
    adapter: 'fetch',
    env: { fetch },
    headers: { 'User-Agent': gate.robots.userAgent }, // or it would be axios/1.21
  })
  // The interceptor that is added first runs last: right before the adapter.
  client.interceptors.request.use((config) => {
    if (config.adapter !== 'fetch') throw new TypeError('adapter: another adapter goes around the gate; leave it out')
    if (config.env?.fetch !== fetch) throw new TypeError('env.fetch: another fetch goes around the gate; leave it out')
    return config
  })
  return client
}

if (import.meta.main) {
  await showOnSmallWeb((gate) => {
    const client = politeAxios(gate)
    return { visit: async (url) => (await client.get(url)).status }
  })
}
