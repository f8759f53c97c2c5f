// The bodies of requests and answers. One schema serves for the checks, for the OpenAPI document and
// for the types.
import { type Static, type TSchema, Type } from 'typebox'

export const MAX_URL_LENGTH = 8_192
const MAX_BATCH = 500
const MAX_HOLD_MS = 20_000
/** A server that has just started allows for a request that its predecessor has granted: so it is short. */
export const MAX_START_WITHIN_MS = 1_000
export const DEFAULT_START_WITHIN_MS = 100
export const DEFAULT_LEASE_MS = 60_000

const Id = Type.String({ maxLength: 256, description: 'Chosen by the client, and repeated in the result.' })
const Url = Type.String({ maxLength: MAX_URL_LENGTH, description: 'An absolute URL.' })
const Token = Type.String({ maxLength: 2_500 })
const Milliseconds = (description: string, options: { minimum: number; maximum: number; default?: number }) =>
  Type.Integer({ ...options, description: `${description} Milliseconds.` })

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

export const PermitsBody = Type.Object(
  {
    client: Type.Optional(
      Type.String({
        maxLength: 128,
        description: 'A name of the client. The clients of one caller take turns; without names they count as one.',
      }),
    ),
    start_within_ms: Type.Optional(
      Milliseconds(
        'How long after the grant the client may send the request. The next slot comes later by this time, unless the client reports sent_after_ms.',
        { minimum: 1, maximum: MAX_START_WITHIN_MS, default: DEFAULT_START_WITHIN_MS },
      ),
    ),
    hold_ms: Type.Optional(
      Milliseconds('How long the call may wait until a request may start.', {
        minimum: 0,
        maximum: MAX_HOLD_MS,
        default: 0,
      }),
    ),
    lease_ms: Type.Optional(
      Milliseconds('For how long a permit counts as under way, unless the client ends or renews it.', {
        minimum: 1_000,
        maximum: 600_000,
        default: DEFAULT_LEASE_MS,
      }),
    ),
    requests: Type.Array(
      Type.Object({ id: Type.Optional(Id), url: Url, ticket: Type.Optional(Token) }, { additionalProperties: false }),
      { minItems: 1, maxItems: MAX_BATCH },
    ),
  },
  { additionalProperties: false },
)

const WaitMs = Type.Integer({ minimum: 0, description: 'When to ask again. Milliseconds from now.' })

const PermitResultSchema = Type.Union([
  Type.Object({
    id: Type.Optional(Id),
    state: Type.Literal('go'),
    permit: Type.String(),
    url: Type.String(),
    start_within_ms: Type.Integer(),
    lease_ms: Type.Integer(),
    user_agent: Type.String({ description: 'The User-Agent that the request has to send.' }),
  }),
  Type.Object({
    id: Type.Optional(Id),
    state: Type.Literal('wait'),
    wait_ms: WaitMs,
    because: Type.String(),
    ticket: Type.Optional(Type.String({ description: 'The place of the URL. Send it with the next call.' })),
  }),
  Type.Object({
    id: Type.Optional(Id),
    state: Type.Literal('refused'),
    because: Type.String(),
    verdict: Verdict,
    retry_at: Type.Optional(Type.String({ format: 'date-time' })),
  }),
  Type.Object({
    id: Type.Optional(Id),
    state: Type.Literal('full'),
    wait_ms: WaitMs,
    because: Type.String(),
    ticket: Type.Optional(Type.String()),
  }),
  Type.Object({ id: Type.Optional(Id), state: Type.Literal('unknown'), because: Type.Literal('ticket') }),
])

export const PermitsAnswer = Type.Object({
  held_ms: Type.Integer({ minimum: 0, description: 'How long the call waited before the grants. Milliseconds.' }),
  results: Type.Array(PermitResultSchema),
})

const Report = Type.Object(
  {
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
  },
  { additionalProperties: false },
)

export const ReportsBody = Type.Object(
  { reports: Type.Array(Report, { minItems: 1, maxItems: MAX_BATCH }) },
  { additionalProperties: false },
)

const Done = Type.Object({
  state: Type.String({
    description:
      '`done`; `gone`: the lease was over, or the server has restarted; `repeated`: this permit has reported before; `unknown`: not a permit of this tenant.',
  }),
})

export const ReportsAnswer = Type.Object({ results: Type.Array(Done) })

export const RenewalsBody = Type.Object(
  {
    lease_ms: Type.Optional(Milliseconds('From now.', { minimum: 1_000, maximum: 600_000, default: DEFAULT_LEASE_MS })),
    permits: Type.Array(Token, { minItems: 1, maxItems: MAX_BATCH }),
  },
  { additionalProperties: false },
)

export const UrlQuery = Type.Object({ url: Url }, { additionalProperties: false })

export const FetchBody = Type.Object(
  {
    url: Url,
    method: Type.Optional(Type.Union([Type.Literal('GET'), Type.Literal('HEAD')], { default: 'GET' })),
    headers: Type.Optional(
      Type.Record(Type.String({ maxLength: 100 }), Type.String({ maxLength: 4_096 }), { maxProperties: 50 }),
    ),
    timeout_ms: Type.Optional(
      Milliseconds('For the whole response.', { minimum: 100, maximum: 120_000, default: 30_000 }),
    ),
    max_wait_ms: Type.Optional(
      Milliseconds('How long the request may wait for its slot.', { minimum: 0, maximum: 60_000, default: 20_000 }),
    ),
    max_bytes: Type.Optional(Type.Integer({ minimum: 0, maximum: 104_857_600, default: 10_485_760 })),
  },
  { additionalProperties: false },
)

/** RFC 9457 §3. */
const Problem = Type.Object({
  type: Type.String(),
  title: Type.String(),
  status: Type.Integer(),
  detail: Type.Optional(Type.String()),
})

const ProblemAnswer = {
  description: 'A fault of the call or of the server (RFC 9457).',
  content: { 'application/problem+json': { schema: Problem } },
}

/** The answers of every route that are not its own. */
export const faults = { '4xx': ProblemAnswer, '5xx': ProblemAnswer } as const

/** An answer that is a stream: its type, and what it contains. */
export const streamAnswer = (type: string, description: string) => ({
  200: { description, content: { [type]: { schema: Type.String() } } },
  ...faults,
})

/** A JSON value whose fields the types of the SDK describe. */
export const Json: TSchema = Type.Object({}, { additionalProperties: true })

export type PermitsBody = Static<typeof PermitsBody>
export type ReportsBody = Static<typeof ReportsBody>
export type Report = Static<typeof Report>
export type RenewalsBody = Static<typeof RenewalsBody>
export type UrlQuery = Static<typeof UrlQuery>
export type FetchBody = Static<typeof FetchBody>
