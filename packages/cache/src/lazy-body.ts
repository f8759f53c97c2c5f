// Gives a response a body from elsewhere: from a store, or from the site by way of a recorder.
//
// The usual way is to make a stream, and a new Response around it. A stream in JavaScript costs more
// than a page of 20 KB: 100 µs. Most callers call `text()`, `json()` or `bytes()`, so these read the
// whole body at once, and a stream is made only for callers that touch `body`.

import { hiddenField, makeResponse } from '@politely/fetcher/internal'
import type { Awaitable } from './page-store.ts'

export interface LazySource {
  /** Reads the whole body. Called at most once, and not after `stream`. The bytes must not be changed. */
  whole(): Awaitable<Uint8Array>
  /** Streams the body, in chunks that may be changed. Called at most once, and not after `whole`. */
  stream(): ReadableStream<Uint8Array>
}

interface LazyBody {
  /**
   * Undefined once it is used. undici registers each response for finalization, so the engine may keep a
   * response, and what is left here, long after its last use.
   */
  source: LazySource | undefined
  /** The body as a stream, if a caller has touched it. */
  streamed: Response | undefined
}

const bodies = hiddenField<LazyBody>()

/** A prototype with other bodies, for each prototype of a Response. */
const prototypes = new WeakMap<object, object>()

/** Replaces the body of a response. Returns the response. */
export function withBody<R extends Response>(response: R, source: LazySource): R {
  const base = Object.getPrototypeOf(response) as object
  let prototype = prototypes.get(base)
  if (prototype === undefined) {
    prototype = Object.create(base, Object.getOwnPropertyDescriptors(LazyResponse.prototype)) as object
    prototypes.set(base, prototype)
  }
  bodies.set(response, { source, streamed: undefined })
  return Object.setPrototypeOf(response, prototype) as R
}

/** Makes a stream of the body now, unless it is being read. */
export function openStream(response: Response): void {
  const body = bodyOf(response)
  if (!isRead(body)) streamedBody(body)
}

const utf8 = new TextDecoder()

/** The methods that differ. They run with responses as `this`. */
class LazyResponse {
  /** Null once one of the methods below has begun to read the body. */
  get body(): ReadableStream<Uint8Array> | null {
    const body = bodyOf(this)
    return isRead(body) ? null : streamedBody(body).body
  }

  get bodyUsed(): boolean {
    const body = bodyOf(this)
    return isRead(body) || body.streamed?.bodyUsed === true
  }

  async text(): Promise<string> {
    const { streamed } = bodyOf(this)
    return streamed === undefined ? utf8.decode(await wholeBody(this)) : streamed.text()
  }

  async json(): Promise<unknown> {
    return JSON.parse(await this.text())
  }

  async bytes(): Promise<Uint8Array<ArrayBuffer>> {
    return new Uint8Array(await wholeBody(this))
  }

  async arrayBuffer(): Promise<ArrayBuffer> {
    return (await this.bytes()).buffer
  }

  async blob(): Promise<Blob> {
    return (await complete(this)).blob()
  }

  async formData(): Promise<FormData> {
    return (await complete(this)).formData()
  }

  clone(): Response {
    return makeResponse(streamedBody(bodyOf(this)).clone().body, this as unknown as Response)
  }
}

async function complete(response: object): Promise<Response> {
  return new Response(new Uint8Array(await wholeBody(response)), { headers: (response as Response).headers })
}

function bodyOf(response: object): LazyBody {
  const body = bodies.get(response)
  if (body === undefined) throw new TypeError('Illegal invocation')
  return body
}

/** Whether a caller has begun to read the whole body. */
const isRead = ({ source, streamed }: LazyBody): boolean => source === undefined && streamed === undefined

function streamedBody(body: LazyBody): Response {
  body.streamed ??= new Response(takeSource(body).stream())
  return body.streamed
}

function wholeBody(response: object): Awaitable<Uint8Array> {
  const body = bodyOf(response)
  if (body.streamed !== undefined) return body.streamed.arrayBuffer().then((buffer) => new Uint8Array(buffer))
  return takeSource(body).whole()
}

function takeSource(body: LazyBody): LazySource {
  const { source } = body
  if (source === undefined) throw new TypeError('Body is unusable: Body has already been read')
  body.source = undefined
  return source
}
