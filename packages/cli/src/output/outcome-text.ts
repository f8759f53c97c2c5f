// What became of the request for a page, in a few words.
import type { PageOutcome } from '@politely/core'
import { printable } from './style.ts'

/**
 * Returns the kind of an outcome, and what the site asks for: `payment-required (USD 0.01)`. Returns
 * undefined for a page or a redirect.
 */
export function outcomeText({ kind, price }: PageOutcome): string | undefined {
  if (kind === 'served' || kind === 'redirect') return undefined
  return price?.amount === undefined ? kind : `${kind} (${printable(`${price.currency} ${price.amount}`)})`
}
