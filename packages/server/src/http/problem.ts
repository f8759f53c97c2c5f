// Faults of a call or of the server, as RFC 9457 documents. Verdicts, waits and permits are never
// faults: client libraries repeat 429 and 503 by themselves.
import type { FastifyError, FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { describeInvalidField } from './invalid-field.ts'

/** The kinds of faults, with their status and title. */
const problems = {
  'invalid-request': { status: 400, title: 'The request is not valid' },
  unauthorized: { status: 401, title: 'A bearer token is needed' },
  forbidden: { status: 403, title: 'Only programs may call this server' },
  'not-found': { status: 404, title: 'There is no such resource' },
  'not-allowed': { status: 405, title: 'The resource has no such method' },
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

function sendProblem(reply: FastifyReply, kind: ProblemKind, detail: string | undefined): FastifyReply {
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
    if (validation !== undefined)
      return sendProblem(reply, 'invalid-request', describeInvalidField(validation, validationContext ?? 'body'))
    const kind = KIND_OF_STATUS[statusCode] ?? (statusCode < 500 ? 'invalid-request' : 'internal')
    if (kind === 'internal') log(error)
    return sendProblem(reply, kind, kind === 'internal' ? undefined : message)
  }
}

const METHODS = ['GET', 'HEAD', 'POST'] as const

/** Answers a call that no route takes. If only the method is wrong, names the right one. */
export function handleNotFound(app: FastifyInstance) {
  return ({ method, url }: FastifyRequest, reply: FastifyReply): FastifyReply => {
    const [path = ''] = url.split('?')
    const methods = METHODS.filter((one) => app.hasRoute({ method: one, url: path }))
    if (methods.length === 0) {
      const hint = path === '/v1/fetch' ? 'start the server with --fetch' : 'see /openapi.json'
      return sendProblem(reply, 'not-found', `${path} does not exist; ${hint}`)
    }
    reply.header('allow', methods.join(', '))
    return sendProblem(reply, 'not-allowed', `${path} has no ${method}; send ${methods[0]}, as /openapi.json describes`)
  }
}
