// Watches the bodies of responses that a cache may store, if neither their length nor a last chunk
// shows a cut: coded bodies, and bodies that end with their connection. Of the latter, undici takes a
// reset of the connection for the end.
//
// 1. `expectCodedBody` marks the permit of a request whose response may be stored.
// 2. When undici has the headers of the response, a watch begins if the body needs one.
// 3. undici publishes each chunk, and the end. The watch decodes them, or looks at the connection.
// 4. The cache takes the watch with the response, and asks it when the decoded body has ended.
import { subscribe } from 'node:diagnostics_channel'
import type { Socket } from 'node:net'
import {
  type BodyCheck,
  type CodingWatch,
  endsWithConnection,
  framingOf,
  isDecodedByFetch,
  problemOfConnection,
  watchCoding,
} from '@politely/fetcher/internal'
import type { Permit } from './permit.ts'

type BodyWatch = Pick<CodingWatch, 'add' | 'end' | 'fail' | 'problem' | 'stop'>

/**
 * Properties of a request of undici, and of the permit of a request whose response may be stored. They
 * are cheaper than a WeakMap.
 */
const WATCH: unique symbol = Symbol('politely.body')
const SOCKET: unique symbol = Symbol('politely.socket')
interface Watched {
  /** Undefined: no watch has begun. */
  [WATCH]?: BodyWatch | undefined
  [SOCKET]?: Socket
}

/** The classes of requests that publish no chunks: those of undici 6, which is in Node 22. */
const silent = new WeakSet<object>()

let isExpecting = false
let isSubscribed = false

/** The response to the request of this permit may be stored. */
export function expectCodedBody(permit: Permit): void {
  if (!isExpecting) {
    subscribe('undici:client:sendHeaders', (message) => {
      const { request, socket } = message as Message & { readonly socket: Socket }
      ;(request as Watched)[SOCKET] = socket
    })
  }
  isExpecting = true
  ;(permit as Watched)[WATCH] = undefined
}

/** Returns the watch of the body of the response. Undefined if it needs none, or nothing shows its bytes. */
export function codedBodyOf(permit: Permit): BodyCheck | undefined {
  return (permit as Watched)[WATCH]
}

/** Begins to watch a response, if it is expected, and if its body is coded or ends with its connection. */
export function watchCodedBody(
  request: object,
  permits: readonly Permit[] | undefined,
  status: number,
  headers: unknown,
): void {
  if (!isExpecting || permits === undefined || status < 200 || status > 499) return
  const expecting = permits.filter((permit) => WATCH in permit)
  if (expecting.length === 0) return
  const requestClass = request.constructor
  const isSilent = silent.has(requestClass)
  const framing = framingOf(headers)
  const watch =
    (isSilent ? undefined : watchCoding(framing, () => silent.add(requestClass))) ??
    watchConnection((request as Watched)[SOCKET], status, headers, framing)
  for (const permit of expecting) (permit as Watched)[WATCH] = watch // of several requests, the last one counts
  if (watch === undefined) return
  ;(request as Watched)[WATCH] = watch
  if (!isSubscribed) subscribeToBodies()
}

/** Watches a body without a coding, if the end of its connection over HTTP/1.1 ends it. */
function watchConnection(
  socket: Socket | undefined,
  status: number,
  headers: unknown,
  framing: ReturnType<typeof framingOf>,
): BodyWatch | undefined {
  const isHttp1 = Array.isArray(headers) // over HTTP/2, undici reports an object
  if (socket === undefined || !isHttp1 || isDecodedByFetch(framing) || !endsWithConnection(status, framing))
    return undefined
  let problem: string | undefined = 'the end of its connection was not seen'
  return {
    add: () => undefined,
    end: () => {
      problem = problemOfConnection(socket)
    },
    fail: (why) => {
      problem = why
    },
    problem: async () => problem,
    stop: () => undefined,
  }
}

function subscribeToBodies(): void {
  isSubscribed = true
  const watched = (listener: (watch: BodyWatch, message: Message) => void) => (message: unknown) => {
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
