// signed(fetch): signs the requests of a fetch that enters no gate.
import { OptionError } from '@politely/core'
import type { RequestSigner, SignatureHeaders } from '@politely/fetcher'
import { challengeOf, checkedSigner, describeValue, discard, orAborted } from '@politely/fetcher/internal'
import type { FetchLike, FetchResponse } from '@politely/gate'
import { isRedirect, MAX_REDIRECTS, methodOf, redirectionOf } from '@politely/gate/internal'

type Init = Omit<RequestInit, 'headers'> & { headers?: Headers }
type Send = (input: unknown, init: Init) => Promise<FetchResponse>

/**
 * Wraps a fetch, so that each request over https is signed, and each redirect hop has its own
 * signature. A request that cannot be signed rejects with a `SigningError`, and is not sent. A
 * response that asks for a signature (`when: 'challenged'`) is returned, and the next requests are
 * signed. For a crawler write `politely(fetch, { userAgent, sign })`, which also sends that request
 * once more; or `politely(signed(fetch, signer), { userAgent })`. Experimental.
 * @throws {OptionError} if `fetch` is not a function or enters a gate, or `signer` is not a signer.
 */
export function signed<F extends FetchLike>(fetch: F, signer: RequestSigner): F {
  if (typeof fetch !== 'function')
    throw new OptionError('fetch', `${describeValue(fetch)} is not a function; write signed(globalThis.fetch, signer)`)
  if ('gate' in fetch)
    throw new OptionError(
      'fetch',
      'enters a gate, where the signature could expire before the request is sent; write politely(signed(fetch, signer), …)',
    )
  const checked = checkedSigner(signer)
  if (checked === undefined)
    throw new OptionError('signer', 'is missing; write signed(fetch, signer({ key, agent, profile }))')
  const send = fetch as unknown as Send
  return ((input: unknown, init?: RequestInit) => fetchSigned(send, checked, input, init ?? {})) as unknown as F
}

async function fetchSigned(
  send: Send,
  signer: RequestSigner,
  input: unknown,
  given: RequestInit,
): Promise<FetchResponse> {
  const request = typeof input === 'object' && input !== null && 'clone' in input ? (input as Request) : undefined
  const mode = given.redirect ?? request?.redirect ?? 'follow'
  const init = {
    ...given,
    headers: new Headers(given.headers ?? request?.headers),
    redirect: mode === 'follow' ? 'manual' : mode,
  } as const
  let url = URL.parse(request?.url ?? String(input))
  if (url === null) return send(input, init) // rejects
  let method = methodOf(given.method ?? request?.method ?? 'GET')
  const signal = given.signal === undefined ? request?.signal : given.signal
  // The body of a Request is a stream. A copy is kept in case a redirect has to send it again.
  const copy = mode === 'follow' && request?.body && !given.body ? request.clone() : undefined
  try {
    let response = await sendOnce(send, signer, method, url.href, signal, input, init)
    let next: Init = { ...init, method, body: given.body ?? null }
    let needsCopy = copy !== undefined
    if (signal) next.signal = signal
    for (let hops = 0; mode === 'follow'; hops++) {
      const location = response.headers.get('location')
      if (!isRedirect(response.status, location)) break
      const redirection = redirectionOf(url, method, response.status, location)
      await (response.body as ReadableStream | null)?.cancel?.()
      if (redirection === undefined || hops === MAX_REDIRECTS)
        throw new TypeError(
          `fetch failed: ${redirection ? `more than ${MAX_REDIRECTS} redirects` : 'the redirect leads to no http or https URL'}`,
        )
      for (const name of redirection.removedHeaders) next.headers?.delete(name)
      if (redirection.becomesGet) next = { ...next, method: 'GET', body: null }
      else if (copy !== undefined && needsCopy) {
        const reading = copy.arrayBuffer()
        next = { ...next, body: await (signal ? orAborted(reading, [signal]) : reading) }
      }
      needsCopy = false
      if (next.body !== null && Symbol.asyncIterator in Object(next.body))
        throw new TypeError('fetch failed: a redirect needs the body again, which was a stream')
      method = next.method as string
      url = redirection.url
      response = await sendOnce(send, signer, method, url.href, signal, url.href, next)
      Object.defineProperty(response, 'redirected', { value: true, configurable: true })
    }
    return response
  } finally {
    // Not awaited: the copy ends only with the original, which may never be read.
    if (copy?.bodyUsed === false) void discard(copy.body)
  }
}

async function sendOnce(
  send: Send,
  signer: RequestSigner,
  method: string,
  url: string,
  signal: AbortSignal | null | undefined,
  input: unknown,
  init: Init,
): Promise<FetchResponse> {
  const signing = Promise.resolve(signer.sign({ method, url }))
  const signature: SignatureHeaders | undefined = await (signal ? orAborted(signing, [signal]) : signing)
  const headers = new Headers(init.headers)
  for (const [name, value] of Object.entries(signature ?? {})) headers.set(name, value)
  const response = await send(input, { ...init, headers })
  const wish = challengeOf(method, response.status, () => response.headers.get('accept-signature'))
  if (wish !== undefined) signer.challenged(url, wish, signature)
  return response
}
