// The fetch of a fake web. It follows redirects as the fetch of Node does. It resolves without
// timers and without I/O, so that fake timers do not stop it.
import { orAborted } from '@politely/fetcher/internal'
import { isRedirect } from '@politely/gate'
import { redirectionOf } from '@politely/gate/internal'

/** Returns the response to one request. */
export type Respond = (request: Request) => Promise<Response>

/** The limit of fetch (WHATWG Fetch, HTTP-redirect fetch). */
const MAX_REDIRECTS = 20

export function fakeFetch(respond: Respond): typeof globalThis.fetch {
  return async (input, init) => {
    const first = new Request(input, init)
    const { signal, redirect: mode } = first
    let body = first.body === null ? undefined : await first.arrayBuffer() // may be sent again
    let { url, method } = first
    let headers = new Headers(first.headers)
    for (let hops = 0; ; hops++) {
      signal.throwIfAborted()
      const request = new Request(url, { method, headers, signal, ...(body && { body }) })
      const response = await orAborted(respond(request), [signal]).catch((error: unknown) => {
        throw signal.aborted ? error : fetchFailed(error)
      })
      Object.defineProperty(response, 'url', { value: url.replace(/#.*/, ''), configurable: true })
      Object.defineProperty(response, 'redirected', { value: hops > 0, configurable: true }) // a wrapper may set it again
      const location = response.headers.get('location')
      if (mode === 'manual' || !isRedirect(response.status, location)) return response
      if (mode === 'error') throw fetchFailed(new Error('unexpected redirect'))
      if (hops >= MAX_REDIRECTS) throw fetchFailed(new Error('redirect count exceeded'))
      const next = redirectionOf(new URL(url), method, response.status, location)
      if (next === undefined) throw fetchFailed(new Error(`the redirect to ${location} is not to an http or https URL`))
      url = next.url.href
      headers = new Headers(headers)
      for (const name of next.removedHeaders) headers.delete(name)
      if (next.becomesGet) [method, body] = ['GET', undefined]
    }
  }
}

function fetchFailed(cause: unknown): TypeError {
  return new TypeError('fetch failed', { cause })
}
