// Knows which responses are still on their way. The permit of a request ends with the headers of its
// response, and a long page takes longer. Only for a site queue that waits for such a page.
import { subscribe } from 'node:diagnostics_channel'
import type { EnteredRequest } from './reserved-permits.ts'

/** The permits of each response that has begun and not ended. A request would keep its response alive. */
const open = new Set<readonly EnteredRequest[]>()
const byRequest = new WeakMap<object, readonly EnteredRequest[]>()
let isNoting = false

/** Notes the responses of this process from now on. Only the first call has an effect. */
export function noteOpenBodies(): void {
  if (isNoting) return
  isNoting = true
  for (const end of ['undici:request:trailers', 'undici:request:error'])
    subscribe(end, (message) => endBody((message as { readonly request: object }).request))
}

/** @param permits The permits of the request. */
export function beginBody(request: object, permits: readonly EnteredRequest[] | undefined): void {
  if (!isNoting || permits === undefined) return
  byRequest.set(request, permits)
  open.add(permits)
}

export function endBody(request: object): void {
  const permits = byRequest.get(request)
  if (permits !== undefined) open.delete(permits)
}

/** The requests, in whatever gate, whose responses are under way. */
export function requestsWithOpenBodies(): readonly EnteredRequest[] {
  return [...open].flat()
}
