// Replaces fetched-body.ts in runtimes without sockets. Nothing shows what was received there, so the
// decoded body has to be believed.
import type { Body, Headers } from '@politely/core/engine'
import { type Failure, isText } from '@politely/core/internal'
import { onAbort } from '../base/abort-listeners.ts'
import { BodyBuffer, bodyWithin } from '../base/byte-buffer.ts'
import { failure, shortBody } from '../fetch/failure.ts'

/** Reads up to `maxBytes` of a decoded body. The abort of the signal cancels the rest. */
export async function readStream(stream: ReadableStream, maxBytes: number, signal: AbortSignal): Promise<Body> {
  const reader = (stream as ReadableStream<Uint8Array>).getReader()
  const cancel = () => void reader.cancel(signal.reason).catch(() => undefined)
  const unlisten = onAbort(signal, cancel)
  const bytes = new BodyBuffer(maxBytes + 1)
  try {
    for (let part = await reader.read(); !part.done; part = await reader.read()) {
      bytes.add(part.value)
      if (bytes.size <= maxBytes) continue
      cancel()
      break
    }
  } finally {
    unlisten()
  }
  return bodyWithin(bytes.take(), maxBytes)
}

export class FetchObserver {
  readonly truncation: undefined

  wasRedirected(): boolean {
    return false
  }

  stop(): void {}

  /** Returns why a body that was read to its end cannot be used, if so. */
  async problemOfBody(
    body: Body,
    _status: number,
    headers: Headers,
    codings: readonly string[],
  ): Promise<Failure | undefined> {
    if (codings.length === 0) return body.truncated ? undefined : shortBody(body, headers)
    return isText(body.bytes)
      ? undefined
      : failure('undecodable', `the fetch did not decode Content-Encoding ${JSON.stringify(codings.join(', '))}`)
  }
}
