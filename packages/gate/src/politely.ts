// politely(fetch): the same fetch, and every request, redirect hops included, is allowed by robots.txt and waits its turn.
import { OptionError } from '@politely/core'
import { assertOptions, oneOf } from '@politely/fetcher/option-checks'
import { RobotsDisallowedError } from './errors.ts'
import { type FetchInput, fetchInit, fetchInput, type Init, isRequest } from './fetch-input.ts'
import type { PoliteGate } from './gate.ts'
import { isRedirect, type Request, redirected } from './redirect.ts'
import { refusedResponse } from './refused-response.ts'
import { type GateOrOptions, resolveGate } from './resolve-gate.ts'
import { assertOwnHost } from './target.ts'

/** Any function with the shape of fetch: Node's, undici's, your own. */
export type FetchLike = (input: never, init?: never) => Promise<FetchResponse>

interface FetchResponse {
  readonly status: number
  readonly headers: { get(name: string): string | null }
  readonly body: { cancel(): Promise<void> } | null
}

/** How to be polite: a gate of your own, or what to make one of. */
export type PolitelyOptions = GateOrOptions & RefusalOptions

export interface RefusalOptions {
  /**
   * What becomes of a request that robots.txt does not allow. `throw` (the default): a `RobotsDisallowedError`. `response`: an answer of 403,
   * or of 503 with Retry-After where robots.txt is unreachable; `refusalOf` tells it from a site's own.
   */
  readonly onDisallowed?: 'throw' | 'response' | undefined
}

/** Your fetch, with the gate in front of it. */
export type PoliteFetch<F extends FetchLike> = F &
  AsyncDisposable & {
    readonly gate: PoliteGate
    /** Ends the gate and the RobotsClient that were made for this fetch; those you gave stay yours. */
    close(): Promise<void>
  }

/** As fetch has it. */
const MAX_REDIRECTS = 20

/**
 * Wraps a fetch. A request that robots.txt does not allow rejects with `RobotsDisallowedError`, which carries the verdict; at
 * a redirect, the hop that is not allowed is never made. `redirect: 'manual'` and `'error'` mean what they mean in fetch. A request that
 * cannot be judged rejects with `InvalidRequestError`: a relative URL, a scheme that robots.txt says nothing about, a Host header of
 * another site. `data:`, `blob:` and `about:` URLs pass.
 *
 * @throws {OptionError} for an option that cannot be used.
 */
export function politely<F extends FetchLike>(fetch: F, options: PolitelyOptions): PoliteFetch<F> {
  if (typeof fetch !== 'function') throw new OptionError('fetch', 'must be a function such as globalThis.fetch')
  assertOptions(options)
  const { onDisallowed = 'throw', ...others } = options
  const refused = oneOf('onDisallowed', onDisallowed, ['throw', 'response'])
  const { gate, close } = resolveGate(others)
  const send = fetch as unknown as Send
  const politeFetch = async (input: unknown, init?: Init): Promise<FetchResponse> => {
    // A Request may stand for the options, too; what it holds cannot be spread.
    if (isRequest(init)) {
      fetchInput(init) // an object that only looks like a Request would be lost here, and what it asks for
      const { url, request } = fetchInput(input)
      return politeFetch(new (init.constructor as typeof globalThis.Request)(request ?? url.href, init))
    }
    const release = gate.hold() // so that `drain` waits for the hops of a redirect, too
    try {
      return await go(send, gate, fetchInput(input), fetchInit(init))
    } catch (error) {
      if (refused === 'response' && error instanceof RobotsDisallowedError) return refusedResponse(error)
      throw error
    } finally {
      release()
    }
  }
  return Object.assign(politeFetch as unknown as F, { gate, close, [Symbol.asyncDispose]: close })
}

type Send = (input: unknown, init: Init) => Promise<FetchResponse>

/** One call of the wrapped fetch: a pass for every hop. */
async function go(send: Send, gate: PoliteGate, given: FetchInput, init: Init): Promise<FetchResponse> {
  const { url: parsed, request: own } = given
  const url = parsed.href
  // The client's own request for robots.txt, by the fetch that it was given, needs no verdict and no turn.
  if (given.isLocal || gate.robots.isOwnRequest(url)) return send(own ?? url, init)

  const mode = init.redirect ?? own?.redirect ?? 'follow'
  const signal = (init.signal === undefined ? own?.signal : init.signal) ?? null
  let request = firstRequest(url, own, init, gate.robots.userAgent)
  const host = request.headers.get('host')
  if (host !== null) assertOwnHost(url, [host])
  // A Request's body is a stream: a copy is kept back in case a redirect wants it sent again.
  const spare = mode === 'follow' && own?.body && request.body === 'spent' ? own.clone() : undefined
  try {
    for (let hops = 0; ; hops++) {
      // The first hop takes what the caller gave, untouched but for the User-Agent.
      const hop = hops === 0 ? { headers: [...request.headers] } : { ...initOf(request), signal }
      const response = await passed(gate, request.url, signal, () =>
        // Of the modes, `follow` alone is ours to do; with the others fetch makes no second request.
        send(hops === 0 && own ? own : request.url, {
          ...init,
          ...hop,
          redirect: mode === 'follow' ? 'manual' : mode,
        }),
      )
      const location = response.headers.get('location')
      if (mode !== 'follow' || !isRedirect(response.status, location)) {
        return hops === 0 ? response : Object.defineProperty(response, 'redirected', { value: true })
      }
      await response.body?.cancel().catch(() => undefined) // nobody wants it, broken off or not
      if (hops >= MAX_REDIRECTS)
        throw new TypeError(`fetch failed: more than ${MAX_REDIRECTS} redirects, the last from ${request.url}`)
      const next = redirected(request, response.status, location)
      if (next.body === 'spent' && spare === undefined) {
        throw new TypeError(`fetch failed: ${request.url} redirects, and a body that was a stream cannot be sent again`)
      }
      request = next.body === 'spent' && spare ? { ...next, body: { value: await spare.arrayBuffer() } } : next
    }
  } finally {
    // Not awaited: a copy's end waits for that of the original, which nobody may ever read.
    if (spare?.bodyUsed === false) spare.body?.cancel().catch(() => undefined)
  }
}

/** One request with a pass: it is given back whatever becomes of the request. */
async function passed(
  gate: PoliteGate,
  url: string,
  signal: AbortSignal | null,
  send: () => Promise<FetchResponse>,
): Promise<FetchResponse> {
  const pass = await gate.enter(url, { signal })
  try {
    const response = await pass.run(send)
    pass.release(response)
    return response
  } finally {
    pass.release()
  }
}

function firstRequest(url: string, given: globalThis.Request | undefined, init: Init, userAgent: string): Request {
  const headers = new Headers(init.headers ?? given?.headers)
  if (!headers.has('user-agent')) headers.set('user-agent', userAgent)
  const method = (init.method ?? given?.method ?? 'GET').toUpperCase()
  return { url, method, headers, body: bodyOf(init.body ?? given?.body ?? null) }
}

function bodyOf(body: unknown): Request['body'] {
  if (body === null) return 'none'
  // Streams and generators can be read once; text, buffers, blobs and forms as often as one likes.
  return typeof body === 'object' && Symbol.asyncIterator in body ? 'spent' : { value: body }
}

function initOf({ method, headers, body }: Request): Init {
  return {
    method,
    headers: [...headers],
    body: typeof body === 'string' ? null : (body.value as NonNullable<Init['body']>),
  }
}
