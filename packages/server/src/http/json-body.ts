// Reads JSON bodies. `JSON.parse` needs a second or more for megabytes of brackets, so the levels and
// the number of arrays and objects are bounded before.
import type { FastifyInstance, FastifyRequest } from 'fastify'
import type { PermitDesk } from '../permits/desk.ts'
import { Fault } from './problem.ts'

/** The bodies of this API have four. */
const MAX_LEVELS = 8
/** Bodies with 500 entries have about 1,000 of them. */
const MAX_NESTED = 5_000
const [QUOTE, BACKSLASH, OPEN_ARRAY, CLOSE_ARRAY, OPEN_OBJECT, CLOSE_OBJECT] = Buffer.from('"\\[]{}')
/** About 100 URLs. A larger body waits for its turn before it is parsed. Our choice. */
const LARGE_LENGTH = 16_384

/** Makes a server read JSON. Large bodies take turns: with the permits, or with the reports. */
export function readJsonBodies(app: FastifyInstance, desk: Pick<PermitDesk, 'turns' | 'reportTurns'>): void {
  const parse = app.getDefaultJsonParser('error', 'error')
  app.addContentTypeParser('application/json', { parseAs: 'string' }, async (request: FastifyRequest, body: string) => {
    const turns = request.routeOptions.url === '/v1/permits' ? desk.turns : desk.reportTurns
    if (body.length > LARGE_LENGTH) await turns.next(request.tenant.name, '', false)
    assertShallow(body, 'the body')
    return new Promise((resolve, reject) =>
      parse(request, body, (error, value) => (error === null ? resolve(value) : reject(error))),
    )
  })
}

/** @throws {Fault} for JSON with too many arrays and objects. @param what What the text is, for the message. */
export function assertShallow(text: string, what: string): void {
  let level = 0
  let nested = 0
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at)
    if (code === QUOTE) at = endOfString(text, at)
    else if (code === CLOSE_ARRAY || code === CLOSE_OBJECT) level--
    else if (code === OPEN_ARRAY || code === OPEN_OBJECT) {
      if (++level > MAX_LEVELS)
        throw new Fault('invalid-request', `${what} has more than ${MAX_LEVELS} levels of arrays and objects`)
      if (++nested > MAX_NESTED)
        throw new Fault('invalid-request', `${what} has more than ${MAX_NESTED} arrays and objects`)
    }
  }
}

/** Returns the position of the quote that ends a string. */
function endOfString(text: string, start: number): number {
  for (let end = text.indexOf('"', start + 1); end !== -1; end = text.indexOf('"', end + 1)) {
    let backslashes = 0
    while (text.charCodeAt(end - 1 - backslashes) === BACKSLASH) backslashes++
    if (backslashes % 2 === 0) return end
  }
  return text.length
}
