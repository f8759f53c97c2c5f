// The bodies of requests and answers. One schema serves for the checks, for the OpenAPI document and
// for the types.
import { type Static, type TProperties, type TSchema, Type } from 'typebox'

/**
 * The version of the API, which the clients in examples/clients have too. The first number is the
 * number in the paths, and the second number grows with each new field.
 */
export const API_VERSION = '1.1.0'
/** The header of every answer with the version of the API. */
export const API_VERSION_HEADER = 'politely-api'

export const MAX_URL_LENGTH = 8_192
const MAX_BATCH = 500
const MAX_HOLD_MS = 20_000
/** A server that has just started allows for a request that its predecessor has granted: so it is short. */
export const MAX_START_WITHIN_MS = 1_000
const LEASE_MS = { minimum: 1_000, maximum: 600_000, default: 60_000 }

/** The body or the query of a call: it has no other fields. */
const Strict = <P extends TProperties>(properties: P) => Type.Object(properties, { additionalProperties: false })
/** A field with a default. A caller may leave it out; a route always gets it, since the check fills it in. */
const Default = <T extends TSchema>(schema: T) => Type.Optional(schema) as unknown as T
const Milliseconds = (description: string, options: { minimum: number; maximum: number; default?: number }) =>
  Type.Integer({ ...options, description: `${description} Milliseconds.` })
const Batch = <T extends TSchema>(items: T) => Type.Array(items, { minItems: 1, maxItems: MAX_BATCH })

const Id = Type.String({ maxLength: 256, description: 'Chosen by the client, and repeated in the result.' })
const Url = Type.String({ maxLength: MAX_URL_LENGTH, description: 'An absolute URL.' })
const Token = Type.String({ maxLength: 2_500 })

/** What a verdict looks like; `politely check --format json` prints the same fields. */
const Verdict = Type.Object(
  {
    url: Type.String(),
    allowed: Type.Boolean(),
    because: Type.String({
      description: 'Why: rule, no-rule, no-group, robots-txt-url, unavailable, unreachable, invalid-url …',
    }),
  },
  { additionalProperties: true, description: 'The verdict on a URL, with the rule and the state of the origin.' },
)

export const PermitsBody = Strict({
  client: Type.Optional(
    Type.String({
      maxLength: 128,
      description: 'A name of the client. The clients of one caller take turns; without names they count as one.',
    }),
  ),
  start_within_ms: Default(
    Milliseconds(
      'How long after the grant the client may send the request. The next slot comes later by this time, unless the client reports sent_after_ms.',
      { minimum: 1, maximum: MAX_START_WITHIN_MS, default: 100 },
    ),
  ),
  hold_ms: Default(
    Milliseconds('How long the call may wait until a request may start.', {
      minimum: 0,
      maximum: MAX_HOLD_MS,
      default: 0,
    }),
  ),
  lease_ms: Default(
    Milliseconds('For how long a permit counts as under way, unless the client ends or renews it.', LEASE_MS),
  ),
  requests: Batch(Strict({ id: Type.Optional(Id), url: Url, ticket: Type.Optional(Token) })),
})

const WaitMs = Type.Integer({ minimum: 0, description: 'When to ask again. Milliseconds from now.' })

const Message = Type.String({
  description: 'What the result means, in a sentence for people and logs. Its words may change.',
})
const Because = (description: string) =>
  Type.String({ description: `${description} Later versions may have further values.` })
const Ticket = Type.Optional(
  Type.String({
    description:
      'The place of the URL in the order of arrival. Send it with the next call. Absent while the URL has no place, as with robots-txt or server-busy: then send the ticket that it had before, if there is one.',
  }),
)

const Result = <P extends TProperties>(state: string, more: P) =>
  Type.Object({ id: Type.Optional(Id), state: Type.Literal(state), message: Message, ...more })

export const PermitsAnswer = Type.Object({
  held_ms: Type.Integer({ minimum: 0, description: 'How long the call waited before the grants. Milliseconds.' }),
  results: Type.Array(
    Type.Union([
      Result('go', {
        permit: Type.String(),
        url: Type.String(),
        start_within_ms: Type.Integer(),
        lease_ms: Type.Integer(),
        user_agent: Type.String({ description: 'The User-Agent that the request has to send.' }),
      }),
      Result('wait', {
        wait_ms: WaitMs,
        because: Because(
          'What the URL waits for: crawl-delay, own-delay, retry-after, concurrency, robots-txt, queue, server-busy, draining …',
        ),
        ticket: Ticket,
      }),
      Result('refused', {
        because: Because('The reason of the verdict, budget or circuit.'),
        verdict: Verdict,
        retry_at: Type.Optional(Type.String({ format: 'date-time' })),
      }),
      Result('full', {
        wait_ms: WaitMs,
        because: Because('The quota: permits, rate, share, waiting or bytes.'),
        ticket: Ticket,
      }),
      Result('unknown', { because: Type.Literal('ticket') }),
    ]),
  ),
})

const PermitReport = Strict({
  permit: Token,
  status: Type.Optional(Type.Integer({ minimum: 100, maximum: 999, description: 'The status of the response.' })),
  retry_after: Type.Optional(
    Type.Union([Type.String({ maxLength: 64 }), Type.Number({ minimum: 0 })], {
      description: 'The header Retry-After, as received, or seconds.',
    }),
  ),
  ratelimit: Type.Optional(
    Type.Record(Type.String({ maxLength: 64 }), Type.String({ maxLength: 1_000 }), {
      description: 'RateLimit headers as received, with names in lower case.',
    }),
  ),
  sent_after_ms: Type.Optional(
    Milliseconds(
      'How long after the grant the request was sent: the time since the call for the permit, less held_ms.',
      { minimum: 0, maximum: 600_000 },
    ),
  ),
  took_ms: Type.Optional(
    Milliseconds('The time from sending to the end of the response.', { minimum: 0, maximum: 86_400_000 }),
  ),
  outcome: Type.Optional(
    Type.Union([Type.Literal('failed'), Type.Literal('rate-limited'), Type.Literal('not-sent')], {
      description:
        'What happened if there is no status: `failed` (no response), `not-sent` (the slot is given back). `rate-limited`: the page asks for fewer requests, whatever its status is.',
    }),
  ),
  end: Type.Optional(Type.Boolean({ default: true, description: 'Whether the request has ended.' })),
})

export const ReportsBody = Strict({ reports: Batch(PermitReport) })

const Done = Type.Object({
  state: Type.String({
    description:
      '`done`: the report counts. `counted`: it counts too, but its lease is over, or is not kept here. `repeated`: this permit has reported before. `gone`: nothing counts. `unknown`: not a permit of this caller.',
  }),
  message: Message,
})

export const ReportsAnswer = Type.Object({ results: Type.Array(Done) })

export const RenewalsBody = Strict({ lease_ms: Default(Milliseconds('From now.', LEASE_MS)), permits: Batch(Token) })

export const UrlQuery = Strict({ url: Url })

export const FetchBody = Strict({
  url: Url,
  method: Default(Type.Union([Type.Literal('GET'), Type.Literal('HEAD')], { default: 'GET' })),
  headers: Type.Optional(
    Type.Record(Type.String({ maxLength: 100 }), Type.String({ maxLength: 4_096 }), { maxProperties: 50 }),
  ),
  timeout_ms: Default(Milliseconds('For the whole response.', { minimum: 100, maximum: 120_000, default: 30_000 })),
  max_wait_ms: Default(
    Milliseconds('How long the request may wait for its slot.', { minimum: 0, maximum: 60_000, default: 20_000 }),
  ),
  max_bytes: Default(Type.Integer({ minimum: 0, maximum: 104_857_600, default: 10_485_760 })),
})

/** RFC 9457 §3. */
const Problem = Type.Object({
  type: Type.String(),
  title: Type.String(),
  status: Type.Integer(),
  detail: Type.Optional(Type.String()),
})

const answer = (description: string, type: string, schema: TSchema) => ({
  description,
  content: { [type]: { schema } },
})
const fault = answer('A fault of the call or of the server (RFC 9457).', 'application/problem+json', Problem)

const answers = (own: object) => ({ 200: own, '4xx': fault, '5xx': fault })

/** An answer that is a stream: its type, and what it contains. */
export const streamAnswer = (type: string, description: string) => answers(answer(description, type, Type.String()))

/** A JSON value whose fields the types of the SDK describe. */
const Json = Type.Object({}, { additionalProperties: true })

/** Describes a route that answers with JSON. @param takes Its body, or its query. */
export const jsonRoute = (operationId: string, summary: string, takes: object = {}, own: TSchema = Json) => ({
  schema: { operationId, summary, ...takes, response: answers(own) },
})

export type PermitsBody = Static<typeof PermitsBody>
export type ReportsBody = Static<typeof ReportsBody>
export type PermitReport = Static<typeof PermitReport>
export type RenewalsBody = Static<typeof RenewalsBody>
export type UrlQuery = Static<typeof UrlQuery>
export type FetchBody = Static<typeof FetchBody>
