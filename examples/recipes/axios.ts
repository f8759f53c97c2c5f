// axios: its fetch adapter calls a polite fetch. Interceptors are not enough, because they do not
// see the hops of a redirect; `beforeRedirect` sees them, but cannot wait.
import { type PoliteGate, politely } from '@politely/gate'
import axios, { type AxiosInstance } from 'axios'
import { runDemo } from './demo.ts'

export function politeAxios(gate: PoliteGate): AxiosInstance {
  const fetch = politely(globalThis.fetch, { gate })
  const client = axios.create({
    adapter: 'fetch',
    env: { fetch },
    headers: { 'User-Agent': gate.robots.userAgent }, // the default is axios/1.21
  })
  // axios runs the first interceptor last, right before the adapter.
  client.interceptors.request.use((config) => {
    if (config.adapter !== 'fetch')
      throw new TypeError('adapter: another adapter bypasses the gate; remove this option')
    if (config.env?.fetch !== fetch)
      throw new TypeError('env.fetch: another fetch bypasses the gate; remove this option')
    return config
  })
  return client
}

if (import.meta.main) {
  await runDemo((gate) => {
    const client = politeAxios(gate)
    return { fetchPage: async (url) => (await client.get(url)).status }
  })
}
