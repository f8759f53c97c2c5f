// Reads JSON bodies. `JSON.parse` needs seconds for megabytes of brackets, so their depth is bounded
// before.
import type { FastifyInstance, FastifyRequest } from 'fastify'
import type { Turns } from '../turns.ts'
import { Fault } from './problem.ts'

/** The bodies of this API have four. */
const MAX_DEPTH = 8
/** About 100 URLs. A larger body waits for its turn before it is parsed. Our choice. */
const LARGE_LENGTH = 16_384

/** Makes a server read JSON. @param turns Large bodies of calls for permits take turns with the permits. */
export function readJsonBodies(app: FastifyInstance, turns: Turns): void {
  const parse = app.getDefaultJsonParser('error', 'error')
  app.addContentTypeParser('application/json', { parseAs: 'string' }, async (request: FastifyRequest, body: string) => {
    if (body.length > LARGE_LENGTH && request.routeOptions.url === '/v1/permits')
      await turns.next(request.tenant.name, '', false)
    assertShallow(body, 'the body')
    return new Promise((resolve, reject) =>
      parse(request, body, (error, value) => (error === null ? resolve(value) : reject(error))),
    )
  })
}

/** @throws {Fault} for JSON with too many levels. @param what What the text is, for the message. */
export function assertShallow(text: string, what: string): void {
  let depth = 0
  for (let at = 0; at < text.length; at++) {
    const character = text[at]
    if (character === '"') at = endOfString(text, at)
    else if (character === ']' || character === '}') depth--
    else if ((character === '[' || character === '{') && ++depth > MAX_DEPTH)
      throw new Fault('invalid-request', `${what} has more than ${MAX_DEPTH} levels of arrays and objects`)
  }
}

/** Returns the position of the quote that ends a string. */
function endOfString(text: string, start: number): number {
  for (let end = text.indexOf('"', start + 1); end !== -1; end = text.indexOf('"', end + 1)) {
    let backslashes = 0
    while (text[end - 1 - backslashes] === '\\') backslashes++
    if (backslashes % 2 === 0) return end
  }
  return text.length
}
