// Watches the coded bodies of responses that a cache may store.
//
// 1. `expectCodedBody` marks the permit of a request whose response may be stored.
// 2. When undici has the headers of the response, a watch begins if the body has a coding.
// 3. undici publishes each chunk, and the end. The watch decodes them.
// 4. The cache takes the watch with the response, and asks it when the decoded body has ended.
import { subscribe } from 'node:diagnostics_channel'
import { type CodedBody, type CodingWatch, framingOf, watchCoding } from '@politely/fetcher/internal'
import type { Permit } from './permit.ts'

/** The permits of requests whose response may be stored. Undefined: no coded body has begun. */
const bodies = new WeakMap<Permit, CodingWatch | undefined>()

/** A property of a request of undici, which is cheaper than a WeakMap. */
const WATCH: unique symbol = Symbol('politely.coding')
interface Watched {
  [WATCH]?: CodingWatch
}

/** The classes of requests that publish no chunks: those of undici 6, which is in Node 22. */
const silent = new WeakSet<object>()

let isExpecting = false
let isSubscribed = false

/** The response to the request of this permit may be stored. */
export function expectCodedBody(permit: Permit): void {
  isExpecting = true
  bodies.set(permit, undefined)
}

/** Returns the coded body of the response. Undefined if it has no coding, or nothing shows its bytes. */
export function codedBodyOf(permit: Permit): CodedBody | undefined {
  return bodies.get(permit)
}

/** Begins to watch a response, if it is expected and coded. */
export function watchCodedBody(
  request: object,
  permits: readonly Permit[] | undefined,
  status: number,
  headers: unknown,
): void {
  if (!isExpecting || permits === undefined || status < 200 || status > 499) return
  const expecting = permits.filter((permit) => bodies.has(permit))
  if (expecting.length === 0) return
  const requestClass = request.constructor
  const isSilent = silent.has(requestClass)
  const watch = isSilent ? undefined : watchCoding(framingOf(headers), () => silent.add(requestClass))
  for (const permit of expecting) bodies.set(permit, watch) // of several requests, the last one counts
  if (watch === undefined) return
  ;(request as Watched)[WATCH] = watch
  if (!isSubscribed) subscribeToBodies()
}

function subscribeToBodies(): void {
  isSubscribed = true
  const watched = (listener: (watch: CodingWatch, message: Message) => void) => (message: unknown) => {
    const watch = ((message as Message).request as Watched)[WATCH]
    if (watch !== undefined) listener(watch, message as Message)
  }
  subscribe(
    'undici:request:bodyChunkReceived',
    watched((watch, { chunk }) => chunk && watch.add(chunk)),
  )
  subscribe(
    'undici:request:trailers',
    watched((watch) => watch.end()),
  )
  subscribe(
    'undici:request:error',
    watched((watch, { error }) => watch.fail(error?.message ?? 'the request failed')),
  )
}

interface Message {
  readonly request: object
  readonly chunk?: Uint8Array
  readonly error?: Error
}
