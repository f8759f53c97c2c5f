// axios: its fetch adapter takes a fetch, and that one is polite. Interceptors and `beforeRedirect` do not do: the former see no redirect's
// hops, the latter cannot wait.
import { type PoliteGate, politely } from '@politely/gate'
import axios, { type AxiosInstance } from 'axios'
import { showOnSmallWeb } from './small-web.ts'

export function politeAxios(gate: PoliteGate): AxiosInstance {
  return axios.create({
    adapter: 'fetch',
    env: { fetch: politely(globalThis.fetch, { gate }) },
    headers: { 'User-Agent': gate.robots.userAgent }, // or it would be axios/1.21
  })
}

if (import.meta.main) {
  await showOnSmallWeb((gate) => {
    const client = politeAxios(gate)
    return { visit: async (url) => (await client.get(url)).status }
  })
}
