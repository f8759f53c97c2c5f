// Converts responses of Crawlee's HTTP clients to responses of fetch, and back.
import { pipeline, Readable } from 'node:stream'
import type { ReadableStream as NodeWebStream } from 'node:stream/web'
import type { HttpRequest, StreamingHttpResponse } from '@crawlee/basic'
import { type BodyCheck, type loadTransports, makeResponse, messageOf, NULL_BODY } from '@politely/fetcher/internal'
import type { FetchResponse } from '@politely/gate'

const PROGRESS = { percent: 1, transferred: 0 }

/** The body is read when the result's body is read. It has been decoded. */
export function toWeb(response: StreamingHttpResponse): FetchResponse {
  const { statusCode: status, statusMessage, stream, url } = response
  const codings = rawHeaderLines(response, 'content-encoding')
  const fields = Object.entries(response.headers).flatMap(([name, value]) =>
    codings.length > 0 && name === 'content-length'
      ? []
      : [value ?? []].flat().map((line): [string, string] => [name, line]),
  )
  // got removes it. Like a response of fetch, the result says which coding its body had.
  if (codings.length > 0 && response.headers['content-encoding'] === undefined)
    fields.push(['content-encoding', codings.join(', ')])
  return makeResponse(bodyOf(stream), { status, statusText: statusMessage, headers: fields, url })
}

function bodyOf(stream: Readable): ReadableStream<Uint8Array> {
  let chunks: AsyncIterator<Uint8Array | string> | undefined
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        chunks ??= stream[Symbol.asyncIterator]()
        const { done, value } = await chunks.next()
        if (done) controller.close()
        else controller.enqueue(Buffer.from(value))
      },
      cancel() {
        stream.on('error', () => undefined) // destroying the stream breaks off the body
        stream.destroy()
      },
    },
    { highWaterMark: 0 },
  )
}

/**
 * Decodes a body that the client has left coded. A gzip that is cut ends where it is cut, as got lets it
 * end; the result's `codedBody` then says so.
 */
export function decodedResponse(
  response: StreamingHttpResponse,
  { decodersOf }: Awaited<ReturnType<typeof loadTransports>>,
): {
  readonly response: StreamingHttpResponse
  readonly codedBody?: BodyCheck
} {
  const { 'content-encoding': coding, 'content-length': length, ...headers } = response.headers
  const hasBody = !NULL_BODY.has(response.statusCode) && length !== '0'
  const decoders = hasBody ? decodersOf({ 'content-encoding': coding }) : undefined
  const last = decoders?.at(-1)
  if (decoders === undefined || last === undefined) return { response }
  let size = 0
  let problem: string | undefined = 'its end was not reached'
  const counted = async function* () {
    for await (const chunk of response.stream) {
      size += chunk.length
      yield chunk
    }
  }
  const chunks = async function* () {
    try {
      pipeline([Readable.from(counted()), ...decoders], () => undefined) // `last` gets the errors of all
      yield* last
      problem = undefined
    } catch (error) {
      problem = messageOf(error)
      const isCut = (error as { readonly code?: unknown }).code === 'Z_BUF_ERROR'
      if (!isCut || (size > 0 && !/gzip/i.test(String(coding)))) throw error
    }
  }
  const stream = Object.assign(Readable.from(chunks()), { redirectUrls: response.redirectUrls })
  stream.on('error', () => undefined) // its reader gets it, if there is one
  stream.once('close', () => response.stream.destroy()) // also if it was not read
  const fields = { headers: { value: headers, enumerable: true }, stream: { value: stream, enumerable: true } }
  return {
    response: Object.create(response, fields),
    codedBody: { problem: async () => problem, stop: () => undefined },
  }
}

/** Returns the response with another body. */
export function withStream(response: StreamingHttpResponse, { body }: FetchResponse): StreamingHttpResponse {
  const { redirectUrls } = response
  const stream = Object.assign(toNode(body), { redirectUrls })
  // The client changes `complete` and `trailers` when the body has ended.
  return Object.create(response, { stream: { value: stream, enumerable: true } })
}

/** Returns a stored response as a client of Crawlee returns it. Its body was stored decoded. */
export function storedResponse(
  { status, statusText, headers, body }: Response,
  request: HttpRequest,
  url: URL,
  robotsTags: readonly string[],
): StreamingHttpResponse {
  const isDecoded = headers.has('content-encoding')
  const lines = [...headers].filter(
    ([name]) => name !== 'x-robots-tag' && !(isDecoded && /^content-(encoding|length)$/.test(name)),
  )
  const all = [...lines, ...robotsTags.map((line): [string, string] => ['x-robots-tag', line])]
  const byName = Map.groupBy(all, ([name]) => name)
  const fields = Array.from(byName, ([name, same]): [string, string | string[]] => {
    const values = same.map(([, value]) => value)
    return [name, name === 'set-cookie' ? values : values.join(', ')]
  })
  const response: StreamingHttpResponse & { readonly rawHeaders: readonly string[] } = {
    stream: Object.assign(toNode(body), { redirectUrls: [] }),
    request,
    url: url.href,
    redirectUrls: [],
    statusCode: status,
    statusMessage: statusText,
    headers: Object.fromEntries(fields),
    rawHeaders: all.flat(),
    trailers: {},
    complete: true,
    downloadProgress: PROGRESS,
    uploadProgress: PROGRESS,
  }
  return response
}

function toNode(body: object | null): Readable {
  return body === null ? Readable.from([]) : Readable.fromWeb(body as NodeWebStream)
}

/** Returns the lines of a header, as received. */
export function rawHeaderLines(response: object | undefined, wanted: string): readonly string[] {
  const { rawHeaders = [] } = (response ?? {}) as { readonly rawHeaders?: readonly string[] }
  return rawHeaders.filter((_, n) => n % 2 === 1 && rawHeaders[n - 1]?.toLowerCase() === wanted)
}
