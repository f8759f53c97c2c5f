// Faults of a call or of the server, as RFC 9457 documents. Verdicts, waits and permits are never
// faults: client libraries repeat 429 and 503 by themselves.
import type { FastifyError, FastifyReply, FastifyRequest } from 'fastify'

/** The kinds of faults, with their status and title. */
const problems = {
  'invalid-request': { status: 400, title: 'The request is not valid' },
  unauthorized: { status: 401, title: 'A bearer token is needed' },
  forbidden: { status: 403, title: 'Only programs may call this server' },
  'not-found': { status: 404, title: 'There is no such resource' },
  'too-large': { status: 413, title: 'The body is too large' },
  'not-fetched': { status: 502, title: 'The page could not be fetched' },
  overloaded: { status: 503, title: 'The server is overloaded, or is stopping' },
  'timed-out': { status: 504, title: 'The page took too long' },
  internal: { status: 500, title: 'The server has failed' },
} as const satisfies Readonly<Record<string, { status: number; title: string }>>

export type ProblemKind = keyof typeof problems

/** A fault that a handler throws. */
export class Fault extends Error {
  readonly kind: ProblemKind

  constructor(kind: ProblemKind, detail: string) {
    super(detail)
    this.kind = kind
  }
}

const KIND_OF_STATUS: Readonly<Record<number, ProblemKind>> = Object.fromEntries(
  Object.entries(problems).map(([kind, { status }]) => [status, kind as ProblemKind]),
)

export function sendProblem(reply: FastifyReply, kind: ProblemKind, detail: string | undefined): FastifyReply {
  const { status, title } = problems[kind]
  // Without a schema: a problem is the same for all routes.
  return reply
    .code(status)
    .header('content-type', 'application/problem+json')
    .serializer(JSON.stringify)
    .send({ type: `urn:politely:problem:${kind}`, title, status, detail })
}

/** Turns every error of a handler or of Fastify into a problem. */
export function handleError(log: (error: Error) => void) {
  return (error: FastifyError | Fault, _: FastifyRequest, reply: FastifyReply): FastifyReply => {
    if (error instanceof Fault) return sendProblem(reply, error.kind, error.message)
    const { statusCode = 500, validation, validationContext, message } = error
    if (validation !== undefined) {
      const [first] = validation
      const where = `${validationContext ?? 'body'}${first?.instancePath ?? ''}`.replaceAll('/', '.')
      return sendProblem(reply, 'invalid-request', `${where} ${first?.message ?? 'is not valid'}`)
    }
    const kind = KIND_OF_STATUS[statusCode] ?? (statusCode < 500 ? 'invalid-request' : 'internal')
    if (kind === 'internal') log(error)
    return sendProblem(reply, kind, kind === 'internal' ? undefined : message)
  }
}
