// Robots.txt by the caller's own fetch: of the platform, of undici, or one that signs requests. It decodes the body itself.
import { Readable } from 'node:stream'
import type { Reply, Headers as ReplyHeaders } from '@politely/core'
import { readBody } from './body.ts'
import type { Deadline } from './deadline.ts'
import { failureOf } from './failure.ts'
import {
  ACCEPT,
  isBodyWanted,
  type RobotsRequest,
  type RobotsTransport,
  type TransportSettings,
} from './robots-transport.ts'

export class FetchTransport implements RobotsTransport {
  readonly #settings: TransportSettings
  readonly #fetch: typeof globalThis.fetch

  constructor(settings: TransportSettings, fetch: typeof globalThis.fetch) {
    this.#settings = settings
    this.#fetch = fetch
  }

  async send({ url, conditions }: RobotsRequest, deadline: Deadline): Promise<Reply> {
    const { policy, maxBodyBytes } = this.#settings
    let phase: 'request' | 'body' = 'request'
    try {
      const response = await this.#ask(url, conditions, deadline)
      phase = 'body'
      const { status, body } = response
      const isRead = body !== null && isBodyWanted(status, policy)
      const wrong = problemOf(response, isRead)
      if (wrong !== undefined || !isRead) {
        discard(response)
        if (wrong !== undefined) return { kind: 'failure', reason: 'malformed', detail: wrong }
        return { kind: 'response', status, headers: headersOf(response) }
      }
      // With the signal, since a fetch may have forgotten it by now. Cancels what is not read.
      const octets = Readable.fromWeb(body, { signal: deadline.signal })
      return {
        kind: 'response',
        status,
        headers: headersOf(response),
        body: await readBody(octets, {}, maxBodyBytes),
      }
    } catch (error) {
      return failureOf(error, phase, deadline)
    }
  }

  async #ask(url: string, conditions: RobotsRequest['conditions'], deadline: Deadline): Promise<Response> {
    const { userAgent } = this.#settings
    const fetch = this.#fetch // a platform's own must not be called as a method of ours
    const asked = fetch(url, {
      method: 'GET',
      // As it is: a fetch hands out what it could decode of a body that ends early, and nobody sees that it is not whole.
      headers: { 'user-agent': userAgent, accept: ACCEPT, 'accept-encoding': 'identity', ...conditions },
      redirect: 'manual', // redirects are ours: each hop is counted, and looked at by the guard
      credentials: 'omit',
      referrer: '',
      referrerPolicy: 'no-referrer',
      signal: deadline.signal,
    })
    try {
      return await deadline.orBefore(asked)
    } catch (error) {
      asked.then(discard, () => undefined) // a fetch that does not heed the signal may answer yet
      throw error
    }
  }
}

/** The codings that every fetch takes off. With another one it hands out the body as it came, which would read as a file without rules. */
const DECODED: ReadonlySet<string> = new Set(['', 'identity', 'gzip', 'x-gzip', 'deflate', 'br'])

/** What makes an answer no answer to what was asked. */
function problemOf({ type, status, redirected, headers }: Response, isRead: boolean): string | undefined {
  if (redirected) return 'the fetch that was given follows redirects itself; it must heed `redirect: "manual"`'
  if (type === 'opaqueredirect' || status === 0) {
    return 'the fetch that was given hides redirects; it must answer `redirect: "manual"` with the 3xx itself, as that of Node does'
  }
  if (!isRead) return undefined
  const codings = (headers.get('content-encoding') ?? '').split(',').map((coding) => coding.trim().toLowerCase())
  const unknown = codings.find((coding) => !DECODED.has(coding))
  return unknown === undefined ? undefined : `content coding ${JSON.stringify(unknown)}`
}

function headersOf({ headers }: Response): ReplyHeaders {
  return Object.fromEntries(headers)
}

/** Nobody is there to hear that what is not wanted could not be given back either. */
function discard({ body }: Response): void {
  body?.cancel().catch(() => undefined)
}
