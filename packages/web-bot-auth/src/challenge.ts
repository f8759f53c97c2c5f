// What a site asks for with Accept-Signature (RFC 9421 §5.1).
import type { SignatureHeaders } from '@politely/fetcher'
import { TAG } from './profiles.ts'
import { isDerived } from './signature-base.ts'
import { isInnerList, strictDictionary } from './structured.ts'

/** How to sign the requests to one authority. */
export interface SigningWish {
  /** The label of the signature. */
  readonly label: string
  /** Components to cover, in addition to the components of the profile. */
  readonly components: readonly string[]
}

const AGENT = 'signature-agent'
/** The longest Accept-Signature that is read. Our choice. */
const MAX_LENGTH = 4_096
/**
 * The longest label, which each later request carries three times. Parsers need to read keys of this
 * length (RFC 9651 §3.2), and may refuse longer ones.
 */
const MAX_LABEL_LENGTH = 64

/**
 * Returns the first wish that a signer can fulfil; undefined for no such wish. A wish for another
 * tag, another algorithm or another key is not for this signer, and neither is one for a nonce or a
 * component that a signer does not know, or that occurs twice (RFC 9421 §2).
 */
export function signingWish(acceptSignature: string, keyid: string | undefined): SigningWish | undefined {
  if (acceptSignature.length > MAX_LENGTH) return undefined
  for (const [label, member] of strictDictionary(acceptSignature) ?? []) {
    if (!isInnerList(member) || label.length > MAX_LABEL_LENGTH) continue
    const [items, params] = member
    const isFor = (name: string, own: string | undefined) => [undefined, true, own].includes(params.get(name) as never)
    if (!isFor('tag', TAG) || !isFor('alg', 'ed25519') || !isFor('keyid', keyid) || !isFor('nonce', undefined)) continue
    const isKnown = items.every(([name, { size }]) => name === AGENT || (size === 0 && isDerived(`${name}`)))
    const names = new Set(items.map(([name]) => `${name}`))
    if (!isKnown || names.size < items.length) continue
    return { label, components: [...names].filter((name) => name !== AGENT) }
  }
  return undefined
}

/** Returns whether the headers of a request have what a site asks for. */
export function isFulfilled(wish: SigningWish, sent: SignatureHeaders | undefined): boolean {
  const signature = strictDictionary(sent?.['signature-input'] ?? '')?.get(wish.label)
  if (signature === undefined || !isInnerList(signature)) return false
  const covered = signature[0].map(([name]) => name)
  return wish.components.every((name) => covered.includes(name))
}
