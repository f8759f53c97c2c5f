// A request for robots.txt with the option `sign`: signs it, and sends it once more if the site
// asks for a signature.
import { type AttemptRequest, headerOf, type Reply } from '@politely/core/internal'
import { challengeOf, type RequestSigner, type SignatureHeaders } from '../options/request-signer.ts'
import type { Deadline } from './deadline.ts'

/** What signers threw. */
const signingErrors = new WeakSet<object>()

/** Returns whether a signer threw this error. Such an error says nothing about the site. */
export function isSigningError(error: unknown): boolean {
  return signingErrors.has(Object(error))
}

/**
 * Returns the reply to the signed request.
 * @throws what the signer throws, and a `TimeoutError` if the deadline passes before it settles.
 * The request is then not sent.
 */
export async function sendSigned(
  signer: RequestSigner,
  request: AttemptRequest,
  deadline: Deadline,
  send: (request: AttemptRequest) => Promise<Reply>,
): Promise<Reply> {
  const { url, conditions } = request
  for (let isFirst = true; ; isFirst = false) {
    const signature = await signatureOf(signer, url, deadline)
    const reply = await send({ ...request, conditions: { ...conditions, ...signature } })
    if (!isFirst || reply.kind !== 'response') return reply
    const wish = challengeOf('GET', reply.status, () => headerOf(reply.headers, 'accept-signature'))
    if (wish === undefined || !signer.challenged(url, wish, signature)) return reply
  }
}

async function signatureOf(
  signer: RequestSigner,
  url: string,
  deadline: Deadline,
): Promise<SignatureHeaders | undefined> {
  const signing = async () => signer.sign({ method: 'GET', url })
  try {
    return await deadline.orBefore(signing())
  } catch (thrown) {
    const given = thrown instanceof Error ? thrown : new Error(`\`sign\` threw ${thrown}`, { cause: thrown })
    const error = deadline.isOver
      ? new DOMException(
          `\`sign\` has not settled, and the request was not sent: ${deadline.explanation}`,
          'TimeoutError',
        )
      : given
    signingErrors.add(error)
    throw error
  }
}
