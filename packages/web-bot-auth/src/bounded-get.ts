// One GET of a URL that someone else may have chosen: public addresses only, no redirect, and
// bounds of time and size.
import { cacheControlOf, foreignFormatOf, headerOf } from '@politely/core/internal'
import type { NetworkGuard } from '@politely/fetcher'
import { loadUndici } from '@politely/fetcher/internal'
import { DIRECTORY_TYPE } from './profiles.ts'

export const ACCEPT_KEYS: string = `${DIRECTORY_TYPE}, application/jwk-set+json, application/json`

export interface BoundedGetOptions {
  readonly guard: NetworkGuard
  readonly timeoutMs: number
  readonly maxBodyBytes: number
  readonly accept: string
  readonly userAgent?: string | undefined
}

export interface Got {
  readonly status: number
  readonly headers: Readonly<Record<string, string | string[] | undefined>>
  /** Its bytes as the server sent them. Empty for another status than 200. */
  readonly body: Buffer
}

/** @throws {Error} of undici or of the guard; and for a body over the limit. */
export async function boundedGet(url: string, options: BoundedGetOptions): Promise<Got> {
  const { guard, timeoutMs, maxBodyBytes, accept, userAgent } = options
  const { Agent, request } = await loadUndici()
  const dispatcher = new Agent({ connect: guard.connector({ reach: 'public', timeout: timeoutMs }), pipelining: 0 })
  try {
    const { statusCode, headers, body } = await request(url, {
      dispatcher,
      signal: AbortSignal.timeout(timeoutMs),
      headers: { accept, 'accept-encoding': 'identity', ...(userAgent !== undefined && { 'user-agent': userAgent }) },
    })
    const chunks: Buffer[] = []
    let size = 0
    for await (const chunk of statusCode === 200 ? (body as AsyncIterable<Buffer>) : []) {
      size += chunk.length
      if (size > maxBodyBytes) throw new Error(`${url} is longer than ${maxBodyBytes} bytes`)
      chunks.push(chunk)
    }
    return { status: statusCode, headers, body: Buffer.concat(chunks) }
  } finally {
    void dispatcher.destroy()
  }
}

/** Returns `max-age` of Cache-Control in seconds, and 0 for a response that must not be kept. */
export function maxAgeOf({ headers }: Got): number | undefined {
  const { noStore, noCache, maxAge } = cacheControlOf(headerOf(headers, 'cache-control'))
  return noStore || noCache ? 0 : maxAge
}

/** Returns what to add to a message about a body that is not JSON, if it is a web page. */
export function pageNote(body: Buffer | string): string {
  return foreignFormatOf(body.toString()) === 'html' ? ': the server sent a web page' : ''
}
