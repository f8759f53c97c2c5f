// The option `sign` of the RobotsClient, for pages of `politely`: signs each request when the gate
// has let it in, and sends it once more if the site asks for a signature.
import type { RequestSigner, SignatureHeaders } from '@politely/fetcher'
import { challengeOf } from '@politely/fetcher/internal'
import { type SignatureBounds, signatureFor } from '../adapter/signature.ts'
import { type Init, isRequest, methodOf } from './fetch-input.ts'
import type { FetchResponse } from './fetch-response.ts'
import { isRefusal } from './refused-response.ts'
import { discard } from './retry.ts'

/**
 * Sends one request through the gate.
 * @param prepare Called when the gate has let the request in. Returns the options to send it with.
 */
export type SendOnce<P> = (
  polite: P,
  url: string,
  signal: AbortSignal | undefined,
  chain: readonly string[],
  input: string | globalThis.Request,
  init: Init,
  prepare?: () => Promise<Init>,
) => Promise<FetchResponse>

/** Returns a function that signs requests, and sends them with `send`. */
export function signing<P>(
  signer: RequestSigner,
  bounds: Pick<SignatureBounds, 'robots' | 'timeoutMs'>,
  send: SendOnce<P>,
): SendOnce<P> {
  return async (polite, url, signal, chain, input, init, prepare) => {
    const method = methodOf(init.method ?? (isRequest(input) ? input.method : 'GET'))
    let signature: SignatureHeaders | undefined
    const signed = async (): Promise<Init> => {
      const prepared = prepare === undefined ? init : await prepare()
      signature = await signatureFor(signer, { method, url }, { ...bounds, signal, option: 'requestTimeoutMs' })
      return signature === undefined ? prepared : { ...prepared, headers: withSignature(prepared.headers, signature) }
    }
    const response = await send(polite, url, signal, chain, input, init, signed)
    const wish = challengeOf(method, response.status, response.headers.get('accept-signature'))
    if (wish === undefined || !signer.challenged(url, wish, signature)) return response
    const again = async () => {
      await discard(response.body)
      return signed()
    }
    try {
      return await send(polite, url, signal, chain, input, init, again)
    } catch (error) {
      if (isRefusal(error)) return response // the circuit has opened, for example
      throw error
    }
  }
}

function withSignature(headers: Init['headers'], signature: SignatureHeaders): NonNullable<Init['headers']> {
  if (headers !== undefined && Object.getPrototypeOf(headers) === Object.prototype)
    return { ...(headers as Record<string, string>), ...signature } // both have names in lower case
  const copy = new Headers(headers)
  for (const [name, value] of Object.entries(signature)) copy.set(name, value)
  return [...copy]
}
