// Makes spans of the messages of clients and gates.
import {
  type Attributes,
  context,
  type Exception,
  type Span,
  SpanStatusCode,
  type Tracer,
  trace,
} from '@opentelemetry/api'
import type { CheckTrace, FetchTrace } from '@politely/fetcher'
import type { WaitMessage } from '@politely/gate'
import { ATTRIBUTES } from './attributes.ts'
import type { TelemetrySettings } from './config.ts'

export class Spans {
  readonly #tracer: Tracer
  readonly #settings: TelemetrySettings
  /** The spans of checks and fetches that have not ended. Their traces keep one message object. */
  readonly #open = new WeakMap<CheckTrace | FetchTrace, Span>()

  constructor(tracer: Tracer, settings: TelemetrySettings) {
    this.#tracer = tracer
    this.#settings = settings
  }

  checkStarted(message: CheckTrace): void {
    this.#start('politely.check', message, message.url)
  }

  checkEnded(message: CheckTrace): void {
    const { result } = message
    const span = this.#ended(message)
    if (span === undefined || result === undefined) return
    span.setAttributes({
      [ATTRIBUTES.verdict]: result.allowed ? 'allowed' : 'disallowed',
      [ATTRIBUTES.because]: result.because,
      [ATTRIBUTES.outcome]: result.access?.outcome,
    })
    span.end()
  }

  fetchStarted(message: FetchTrace): void {
    this.#start('politely.robots.fetch', message, message.robotsUrl)
  }

  fetchEnded(message: FetchTrace): void {
    const { result } = message
    const span = this.#ended(message)
    if (span === undefined || result === undefined) return
    const { kind, reason, status } = result.entry.latest
    span.setAttributes({ [ATTRIBUTES.outcome]: kind, [ATTRIBUTES.state]: result.to, [ATTRIBUTES.status]: status })
    if (kind === 'unreachable') {
      span.setAttribute(ATTRIBUTES.errorType, reason)
      span.setStatus({ code: SpanStatusCode.ERROR })
    }
    span.end()
  }

  /** Other code runs while a request waits, so the span of a wait is never the current one. */
  waited({ url, because, level, ended }: WaitMessage): void {
    const attributes = { ...this.#where(url), [ATTRIBUTES.because]: because, [ATTRIBUTES.level]: level }
    const span = this.#tracer.startSpan('politely.wait', { attributes })
    ended.then(
      ({ waitedFor, waitedLevel }) => {
        span.setAttributes({ [ATTRIBUTES.because]: waitedFor, [ATTRIBUTES.level]: waitedLevel })
        span.end()
      },
      (error) => fail(span, error),
    )
  }

  /** Starts a span, and makes it the current one for the traced work. */
  #start(name: string, message: CheckTrace | FetchTrace, url: string): void {
    const parent = context.active()
    const span = this.#tracer.startSpan(name, { attributes: this.#where(url) }, parent)
    this.#open.set(message, span)
    const inner = message.run
    message.run = (work) =>
      context.with(trace.setSpan(parent, span), () => (inner === undefined ? work() : inner(work)))
  }

  /** Returns the span of a message whose work has a result. Ends the span of failed work. */
  #ended(message: CheckTrace | FetchTrace): Span | undefined {
    const span = this.#open.get(message)
    this.#open.delete(message)
    if (span === undefined || message.result !== undefined) return span
    fail(span, message.error)
    return undefined
  }

  /** Returns what the options let spans say about a URL. */
  #where(url: string): Attributes {
    const { urlFull, serverAddress } = this.#settings
    const parsed = serverAddress ? URL.parse(url) : null
    return {
      ...(urlFull ? { [ATTRIBUTES.url]: url } : {}),
      ...(parsed === null
        ? {}
        : { [ATTRIBUTES.serverAddress]: parsed.hostname, [ATTRIBUTES.serverPort]: portOf(parsed) }),
    }
  }
}

function portOf({ port, protocol }: URL): number | undefined {
  return port === '' ? { 'http:': 80, 'https:': 443 }[protocol] : Number(port)
}

/** Ends the span of work that has failed. An abort is not a failure. */
function fail(span: Span, error: unknown): void {
  const { name, code } = (error ?? {}) as { readonly name?: unknown; readonly code?: unknown }
  span.setAttribute(ATTRIBUTES.errorType, String(typeof code === 'string' ? code : (name ?? 'Error')))
  if (name !== 'AbortError') {
    span.recordException(error instanceof Error ? error : (String(error) satisfies Exception))
    span.setStatus({ code: SpanStatusCode.ERROR })
  }
  span.end()
}
