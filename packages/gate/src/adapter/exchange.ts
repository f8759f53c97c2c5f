// One request of an HTTP client, on its way through a gate.
//
// Five clients send requests through a gate: `politely(fetch)`, `politeInterceptor`,
// `politeHttpAgent`, the HTTP client of Crawlee, and the guard of a browser. Each holds a request
// back in its own way. What it owes the gate is the same for all: it makes an `Exchange` when it
// has a request, and tells the exchange about each step.
//
// An example: `http.request(url, { agent })` calls the agent. The agent reads the URL, makes an
// exchange, and calls `enter`, which waits for the permit. `run` hands the request to Node's own
// agent. `connected` says that it has a connection, and `responded` that the headers have arrived.
// When the request is closed, `fail` releases the permit.
//
// The table shows the next state after each call. In an empty cell, the state stays as it is.
//
//   | state      | enter     | run    | responded  | redirected | end, fail |
//   |------------|-----------|--------|------------|------------|-----------|
//   | `new`      | `entered` |        |            |            |           |
//   | `entered`  |           | `sent` |            |            | `ended`   |
//   | `sent`     |           |        | `answered` |            | `ended`   |
//   | `answered` |           |        |            | `released` | `ended`   |
//   | `released` |           |        |            |            | `ended`   |
//   | `ended`    | `entered` |        |            |            |           |
//
// - `new`: the gate may still refuse the request. A request that skips the gate, such as the
//   RobotsClient's own for robots.txt, stays `new`.
// - `entered`: it has a permit. A request that fails now says nothing about its site.
// - `released`: a redirect has no permit any more, since many clients never read its body. What
//   waits for that body is held until the end.
// - `ended`: if `isChallenge` was true, `enter` begins the second and last try.
//
// The steps of each client, in their order:
//
//   | step                               | fetch | interceptor | node:http | Crawlee | browser |
//   |------------------------------------|-------|-------------|-----------|---------|---------|
//   | `isOwnRequest` of the RobotsClient | yes   | yes         | yes       |         |         |
//   | User-Agent: `warnOfOtherName`      | yes   | yes         | yes       |         | yes     |
//   | `assertOwnHost`                    | yes   | yes         | yes       | yes     |         |
//   | `enter`                            | yes   | yes         | yes       | yes     | yes     |
//   | `sign`                             | yes   | yes         |           |         |         |
//   | `run`                              | yes   | yes         | yes       | yes     |         |
//   | `connected`                        |       | yes         | yes       |         |         |
//   | `responded`                        | yes   | yes         | yes       |         |         |
//   | `isChallenge`                      | yes   | yes         |           |         |         |
//   | `redirected`                       |       | yes         | yes       |         |         |
//   | `end`, `fail`                      | yes   | yes         | yes       | yes     | yes     |
//
// Crawlee's client and a browser get no requests of the RobotsClient. A browser sends the request
// itself after `enter`. `fetch` and Crawlee see no connection: the gate finds out by channels of
// Node (`permit/sent-requests.ts`). They follow redirects themselves, so `end` reports the response
// when its headers arrive. `fetch` makes the step `responded` only if it asks `isRateLimited`.

import { isPromise } from '@politely/core/internal'
import type { SignatureHeaders } from '@politely/fetcher'
import { type RequestSigner, withoutCredentials } from '@politely/fetcher'
import { challengeOf, clientPort, withTimeout } from '@politely/fetcher/internal'
import { type GatePort, gatePort, type PoliteGate } from '../gate.ts'
import { GrantedPermit } from '../lane/granted-permit.ts'
import type { Permit } from '../permit/permit.ts'
import { headerTextOf, type RequestReport, type ResponseLike, reportOfFailure } from '../permit/request-report.ts'
import { endNesting } from '../permit/sending.ts'
import { durationRoundedUp } from '../report/duration.ts'
import type { OpenRedirectError } from '../report/errors.ts'
import { CLIENT_COUNTS, warnOfQueueTimeout } from './queue-timeout.ts'

/** What the exchanges of one client share. */
export interface Sender {
  readonly gate: PoliteGate
  readonly port: GatePort
  readonly client: ReturnType<typeof clientPort>
  /** The option `sign` of the RobotsClient. */
  readonly signer: RequestSigner | undefined
}

export function senderOf(gate: PoliteGate): Sender {
  const client = clientPort(gate.robots)
  return { gate, client, port: gatePort(gate), signer: client.settings().sign }
}

/** What an exchange needs to know of a request. */
export interface ExchangeRequest {
  /** The URL to check against robots.txt. The request goes to exactly this URL. */
  readonly url: string
  /**
   * Ends the wait for the permit and for the signature. After an abort, a failure is not the site's.
   */
  readonly signal: AbortSignal | undefined
  /** The URLs that led to this URL. */
  readonly redirectedFrom: readonly string[]
}

export class Exchange {
  readonly #request: ExchangeRequest
  readonly #sender: Sender | undefined
  readonly #timeoutRemedy: string
  #state: 'new' | 'entered' | 'sent' | 'answered' | 'released' | 'ended' = 'new'
  #permit: Permit | undefined
  #signature: SignatureHeaders | undefined
  #isChallenged = false
  /** Ends the wait of `drain` for the next hop. */
  #endHold: (() => void) | undefined
  /** Set while the body of a redirect has not ended. */
  #bodyEnded: (() => void) | undefined

  /**
   * @param sender Undefined for a client that calls the gate itself, and passes the permit.
   * @param timeoutRemedy What to write so that a timeout of the caller does not count the wait.
   */
  constructor(request: ExchangeRequest, sender?: Sender, timeoutRemedy: string = CLIENT_COUNTS) {
    this.#request = request
    this.#sender = sender
    this.#timeoutRemedy = timeoutRemedy
  }

  get url(): string {
    return this.#request.url
  }

  /** Whether the request has its permit. */
  get hasEntered(): boolean {
    return this.#state !== 'new'
  }

  get #port(): Sender['port'] {
    if (this.#sender === undefined) throw new TypeError('an exchange without a sender only gets permits')
    return this.#sender.port
  }

  /**
   * Returns the permit when the request may start, and no promise if it may start now.
   * @param entering The permit, for a client that calls the gate itself.
   * @throws what `enter` of the gate throws.
   */
  enter(entering?: Permit | Promise<Permit>): Permit | Promise<Permit> {
    const { url, signal, redirectedFrom } = this.#request
    const permit = entering ?? this.#port.enter(url, signal, redirectedFrom)
    if (isPromise(permit)) {
      const granted = (one: Permit) => this.enter(one)
      return signal === undefined || signal.aborted
        ? permit.then(granted)
        : permit.then(granted, this.#waitFailed(signal, performance.now()))
    }
    this.#state = 'entered'
    this.#permit = permit
    return permit
  }

  #waitFailed(signal: AbortSignal, since: number): (error: unknown) => never {
    return (error) => {
      const { url } = this.#request
      const sinceMs = performance.now() - since
      warnOfQueueTimeout({ url, signal, error, sinceMs, remedy: this.#timeoutRemedy })
      throw error
    }
  }

  /**
   * Returns the headers that sign the request; undefined without a signature. A signer that answers
   * at once costs no promise. The wait for another one ends with the signal, the gate and the limit.
   * @param option The option that sets the limit.
   * @param ms The limit. Milliseconds; undefined for none.
   * @throws what the signer throws, the reason of the signal, a `GateClosedError`, or a
   * `TimeoutError`.
   */
  sign(
    method: string,
    option: string,
    ms: number | undefined,
  ): SignatureHeaders | undefined | Promise<SignatureHeaders | undefined> {
    const { url, signal } = this.#request
    const signature = this.#sender?.signer?.sign({ method, url })
    if (isPromise(signature)) {
      const limited = withLimit(Promise.resolve(signature), url, option, ms)
      return this.#port.robots.whileOpen(limited, signal).then((late) => {
        this.#noteSignature(late)
        return late
      })
    }
    this.#noteSignature(signature)
    return signature
  }

  #noteSignature(signature: SignatureHeaders | undefined): void {
    this.#signature = signature
    if (this.#permit instanceof GrantedPermit) this.#permit.signature = signature
  }

  /** Calls `send`, which sends the request. Without a permit, it only calls it. */
  run<T>(send: () => T): T {
    if (this.#permit === undefined) return send()
    this.#state = 'sent'
    return this.#permit.run(send)
  }

  /** The request has a socket, which may still connect. A later request of `send` is a new request. */
  hasSocket(): void {
    if (this.#permit !== undefined) endNesting(this.#permit)
  }

  /** The request has a connection, and its headers are written. */
  connected(): void {
    this.hasSocket()
    this.#permit?.sent()
  }

  /** The headers of the response have arrived. Its body may follow. */
  responded(response: ResponseLike): void {
    if (this.#state === 'sent') this.#state = 'answered'
    this.#permit?.report(response)
  }

  /**
   * Returns whether the response asks for a signature which `sign` has not given yet, but can give
   * now. Then end this try, and begin the second one.
   */
  isChallenge(method: string, response: ResponseLike): boolean {
    const signer = this.#isChallenged ? undefined : this.#sender?.signer
    if (signer === undefined) return false
    const wish = challengeOf(method, response.status, () => headerTextOf(response, 'accept-signature'))
    this.#isChallenged = wish !== undefined && signer.challenged(this.url, wish, this.#signature)
    return this.#isChallenged
  }

  /**
   * The response is a redirect that the client follows: releases the permit. `drain` waits for the
   * next hop.
   * @param from When the next hop enters the gate: in this `turn` of the event loop, or at the end
   * of the `body`.
   * @param close Closes the connection, which must lead to a call of `end`.
   */
  redirected(from: 'turn' | 'body', close: (error: OpenRedirectError) => void): void {
    if (this.#permit === undefined) return
    const { activity, openRedirects } = this.#port
    const endHold = activity.hold()
    if (from === 'turn') setImmediate(endHold)
    else this.#endHold = endHold
    this.#state = 'released'
    this.#permit.release()
    this.#bodyEnded = openRedirects.add(this.url, close)
  }

  /** The client has stopped reading the body of a redirect, so its end may never come. */
  stopHolding(): void {
    this.#endHold?.()
    this.#endHold = undefined
  }

  /** The request has ended. @param report The response, if none was reported before. */
  end(report?: RequestReport): void {
    if (this.#permit === undefined) return
    this.#state = 'ended'
    try {
      this.#permit.release(report)
    } finally {
      this.#bodyEnded?.()
      this.stopHolding()
    }
  }

  /** The request has ended, possibly with an error. Without a response, it has failed. */
  fail(error?: unknown): void {
    if (error !== undefined && this.#permit instanceof GrantedPermit) this.#permit.failure ??= { error }
    this.end(this.#state === 'sent' ? reportOfFailure(this.#request.signal, error) : undefined)
  }
}

function withLimit<T>(work: Promise<T>, url: string, option: string, ms: number | undefined): Promise<T> {
  if (ms === undefined) return work
  return withTimeout(work, ms, () => {
    throw new DOMException(
      `${withoutCredentials(url)}: \`sign\` has not settled within ${durationRoundedUp(ms)} (${option}), so the request was not sent`,
      'TimeoutError',
    )
  })
}
