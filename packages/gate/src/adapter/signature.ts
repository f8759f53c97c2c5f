// Signs a request that the gate has let in, within the bounds of the request.
import { type RequestSigner, type RequestToSign, type SignatureHeaders, withoutCredentials } from '@politely/fetcher'
import { withTimeout } from '@politely/fetcher/internal'
import { isPromise } from '../pace/is-promise.ts'
import { durationText } from '../report/duration.ts'
import type { RobotsCheck } from '../robots/robots-check.ts'

/** The bounds of a signature. */
export interface SignatureBounds {
  /** Of the gate: its `close` ends the wait. */
  readonly robots: Pick<RobotsCheck, 'whileOpen'>
  readonly signal: AbortSignal | undefined
  /** Milliseconds; undefined for no limit. */
  readonly timeoutMs: number | undefined
  /** The option that set the limit. */
  readonly option: string
}

/**
 * Returns what the signer returns; a known signature costs no turn of the event loop. The request
 * holds a permit meanwhile, so the wait ends with the caller's signal, the gate and the time limit.
 * @throws what the signer throws, the reason of the signal, a `GateClosedError`, or a
 * `TimeoutError`.
 */
export function signatureFor(
  signer: RequestSigner,
  request: RequestToSign,
  { robots, signal, timeoutMs, option }: SignatureBounds,
): SignatureHeaders | undefined | Promise<SignatureHeaders | undefined> {
  const signature = signer.sign(request)
  if (!isPromise(signature)) return signature
  const work = Promise.resolve(signature)
  const limited =
    timeoutMs === undefined
      ? work
      : withTimeout(work, timeoutMs, () => {
          throw new DOMException(
            `${withoutCredentials(request.url)}: \`sign\` has not settled within ${durationText(timeoutMs)} (${option}), so the request was not sent`,
            'TimeoutError',
          )
        })
  return robots.whileOpen(limited, signal)
}
