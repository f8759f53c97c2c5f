// Serves a key directory from a program.

import type { IncomingMessage, ServerResponse } from 'node:http'
import { DAY_MS } from '@politely/core/internal'
import { type DirectoryContent, type SignedDirectory, signDirectory } from './directory.ts'

/** Serves a key directory, in the forms of fetch and of Node. Experimental. */
export interface DirectoryHandler {
  /** The URL of the directory. */
  readonly url: string
  /** Responds to a request: 404 for another path, 405 for another method than GET and HEAD. */
  fetch(request: { readonly method: string; readonly url: string }): Promise<Response>
  /**
   * Responds to a request of `node:http`.
   * @param next Called, as Express and Connect do, for another path, and with an error of a key's
   * function.
   */
  node(request: IncomingMessage, response: ServerResponse, next?: (error?: unknown) => void): void
}

/**
 * Returns a handler that serves a key directory. It signs the directory again when half of the time
 * of its signatures has passed, and then leaves out the keys that have expired. Experimental.
 * @param options As for `signDirectory`. `validMs` is 2 days by default.
 * @throws {OptionError} for an invalid or unknown option, and if all keys have expired.
 * @throws {SigningError} for a function that does not sign.
 */
export async function directoryHandler(options: DirectoryContent): Promise<DirectoryHandler> {
  const { now = Date.now, validMs = 2 * DAY_MS } = Object(options) as Partial<DirectoryContent>
  const sign = () => signDirectory(options && { ...options, validMs }) // checks the options
  const first = await sign()
  const { pathname } = new URL(first.url)
  let current = Promise.resolve(first)
  let renewAt = now() + validMs / 2
  const directory = (): Promise<SignedDirectory> => {
    if (now() < renewAt) return current
    renewAt = now() + validMs / 2
    const before = current
    current = sign().catch(async (error) => {
      renewAt = 0 // the next request tries again
      const last = await before
      if (now() >= last.validUntil) throw error
      return last
    })
    return current
  }
  const answer = async (method: string, path: string): Promise<[status: number, headers: object, body: string]> => {
    if (path !== pathname) return [404, {}, '']
    if (method !== 'GET' && method !== 'HEAD') return [405, { allow: 'GET, HEAD' }, '']
    const { headers, body } = await directory()
    return [200, { ...headers, 'content-length': String(Buffer.byteLength(body)) }, method === 'HEAD' ? '' : body]
  }
  return {
    url: first.url,
    async fetch({ method, url }) {
      const [status, headers, body] = await answer(method, new URL(url).pathname)
      return new Response(body === '' ? null : body, { status, headers: headers as Record<string, string> })
    },
    node({ method = 'GET', url = '/' }, response, next) {
      const path = url.split('?', 1)[0] as string
      if (path !== pathname && next !== undefined) return next()
      const send = (status: number, headers: object = {}, body = '') => {
        if (response.headersSent) return // something else has answered, such as a time limit
        response.writeHead(status, headers as Record<string, string>).end(body)
      }
      answer(method, path).then(
        (parts) => send(...parts),
        (error) => (next === undefined ? send(500) : next(error)),
      )
    },
  }
}
