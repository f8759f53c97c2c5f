// politely(fetch): the same fetch, and every request, redirect hops included, is allowed by robots.txt and waits its turn.
import { RobotsClient, type RobotsClientOptions } from '@politely/fetcher'
import { type PacingOptions, PoliteGate } from './gate.ts'
import { isRedirect, type Request, redirected } from './redirect.ts'

/** Any function with the shape of fetch: Node's, undici's, your own. */
export type FetchLike = (input: never, init?: never) => Promise<ResponseLike>

interface ResponseLike {
  readonly status: number
  readonly headers: { get(name: string): string | null }
  readonly body: { cancel(): Promise<void> } | null
}

/** How to be polite: a gate of your own, or what to make one of. */
export type PolitelyOptions = { readonly gate: PoliteGate } | (RobotsClientOptions & PacingOptions)

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
 * a redirect, the hop that is not allowed is never made. `redirect: 'manual'` and `'error'` mean what they mean in fetch.
 *
 * @throws {OptionError} for an option that cannot be used.
 */
export function politely<F extends FetchLike>(fetch: F, options: PolitelyOptions): PoliteFetch<F> {
  const { gate, close } = gateFor(options)
  const send = fetch as unknown as (input: unknown, init: Init) => Promise<ResponseLike>
  const politeFetch = (input: unknown, init?: Init) => go(send, gate, input, init ?? {})
  return Object.assign(politeFetch as unknown as F, { gate, close, [Symbol.asyncDispose]: close })
}

type Init = RequestInit & { readonly duplex?: string }

/** One call of the wrapped fetch: a pass for every hop. */
async function go(
  send: (input: unknown, init: Init) => Promise<ResponseLike>,
  gate: PoliteGate,
  input: unknown,
  init: Init,
): Promise<ResponseLike> {
  const given = isRequest(input) ? input : undefined
  const url = given?.url ?? String(input)
  // `data:`, `blob:` and what is no URL need no network, or fail as they always did.
  if (!/^\s*https?:/i.test(url)) return send(input, init)

  const mode = init.redirect ?? given?.redirect ?? 'follow'
  const signal = init.signal ?? given?.signal ?? null
  let request = firstRequest(url, given, init, gate.robots.userAgent)
  // A Request's body is a stream: a copy is kept back in case a redirect wants it sent again.
  const spare = mode === 'follow' && given?.body && request.body === 'spent' ? given.clone() : undefined
  try {
    for (let hops = 0; ; hops++) {
      // The first hop takes what the caller gave, untouched but for the User-Agent.
      const hop = hops === 0 ? { headers: [...request.headers] } : { ...initOf(request), signal }
      const response = await passed(gate, request.url, signal, () =>
        send(hops === 0 ? input : request.url, { ...init, ...hop, redirect: 'manual' }),
      )
      const location = response.headers.get('location')
      if (mode === 'manual' || !isRedirect(response.status, location)) {
        return hops === 0 ? response : Object.defineProperty(response, 'redirected', { value: true })
      }
      await response.body?.cancel()
      if (mode === 'error') throw new TypeError(`fetch failed: ${request.url} redirects, and redirect is 'error'`)
      if (hops >= MAX_REDIRECTS)
        throw new TypeError(`fetch failed: more than ${MAX_REDIRECTS} redirects, the last from ${request.url}`)
      const next = redirected(request, response.status, location)
      if (next.body === 'spent' && spare === undefined) {
        throw new TypeError(`fetch failed: ${request.url} redirects, and a body that was a stream cannot be sent again`)
      }
      request = next.body === 'spent' && spare ? { ...next, body: { value: await spare.arrayBuffer() } } : next
    }
  } finally {
    if (spare?.bodyUsed === false) await spare.body?.cancel()
  }
}

/** One request with a pass: it is given back whatever becomes of the request. */
async function passed(
  gate: PoliteGate,
  url: string,
  signal: AbortSignal | null,
  send: () => Promise<ResponseLike>,
): Promise<ResponseLike> {
  const pass = await gate.enter(url, { signal })
  try {
    const response = await send()
    pass.leave(response)
    return response
  } finally {
    pass.leave()
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

/** Also a Request of undici, which is of another class than the global one. */
function isRequest(input: unknown): input is globalThis.Request {
  return typeof input === 'object' && input !== null && 'url' in input && 'clone' in input
}

function gateFor(options: PolitelyOptions): { readonly gate: PoliteGate; readonly close: () => Promise<void> } {
  if ('gate' in options) return { gate: options.gate, close: async () => undefined }
  const { minDelayMs, maxDelayMs, maxConcurrent, maxConcurrentPerOrigin, ...forRobots } = options
  const robots = new RobotsClient(forRobots)
  const gate = new PoliteGate({ robots, minDelayMs, maxDelayMs, maxConcurrent, maxConcurrentPerOrigin })
  const close = async () => {
    gate.close()
    await robots.close()
  }
  return { gate, close }
}
