// The option `sign`: what adds a signature to each request.
import { OptionError } from '@politely/core'
import { describeValue } from '../base/option-checks.ts'

/** A request that is about to be sent. */
export interface RequestToSign {
  /** In upper case. */
  readonly method: string
  /** The URL of this request: each hop of a redirect has its own. */
  readonly url: string
}

/** The headers of a signature, by their names in lower case. */
export type SignatureHeaders = Readonly<Record<string, string>>

/**
 * Signs requests: the option `sign`. `signer` of `@politely/web-bot-auth` creates one.
 * Experimental.
 */
export interface RequestSigner {
  /**
   * Returns the headers that sign a request; undefined if it is sent unsigned. Called just before
   * each request is sent, after its wait. If it throws or rejects, the request is not sent.
   */
  sign(request: RequestToSign): SignatureHeaders | undefined | PromiseLike<SignatureHeaders | undefined>
  /**
   * Called for a response of status 403 with Accept-Signature (RFC 9421 §5.1) to a GET or HEAD.
   * Returns whether to send the request once more, since `sign` now returns what the site asks for.
   * @param sent What `sign` returned for the request.
   */
  challenged(url: string, acceptSignature: string, sent: SignatureHeaders | undefined): boolean
}

/** @throws {OptionError} for a value that is not a signer. */
export function checkedSigner(signer: unknown): RequestSigner | undefined {
  if (signer === undefined) return undefined
  const { sign, challenged } = Object(signer) as Partial<Record<keyof RequestSigner, unknown>>
  if (typeof sign === 'function' && typeof challenged === 'function') return signer as RequestSigner
  throw new OptionError(
    'sign',
    `${describeValue(signer)} is not a signer; write signer({ key, agent, profile }) of @politely/web-bot-auth`,
  )
}

/**
 * Returns the header Accept-Signature if a response asks for a signed request.
 * @param acceptSignature Reads the header. Only called if the response can ask.
 */
export function challengeOf(
  method: string,
  status: number,
  acceptSignature: () => string | null | undefined,
): string | undefined {
  const isRepeatable = method === 'GET' || method === 'HEAD'
  return status === 403 && isRepeatable ? (acceptSignature() ?? undefined) : undefined
}

/**
 * Returns the headers of a dispatched request with others, which replace equal names. The result is
 * a list `[name, value, …]`, or an object if the headers were one: undici accepts several values
 * for one name only there.
 * @param headers In any form that undici accepts.
 */
export function withHeaders(headers: unknown, added: SignatureHeaders): string[] | Record<string, unknown> {
  const isReplaced = (name: unknown) => Object.hasOwn(added, String(name).toLowerCase())
  const given = Object(headers ?? {}) as Record<string, unknown> | Iterable<string | readonly string[]>
  if (Symbol.iterator in given) {
    const list = [...(given as Iterable<string | readonly string[]>)].flat()
    return [...list.filter((_, n) => !isReplaced(list[n - (n % 2)])), ...Object.entries(added).flat()]
  }
  return { ...Object.fromEntries(Object.entries(given).filter(([name]) => !isReplaced(name))), ...added }
}
