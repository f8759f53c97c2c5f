// Describes the outcome of a request for a page in English, for people. The wording may change;
// programs read the data itself.
import { describeValue, escapeControls } from '../describe-value.ts'
import { OptionError } from '../errors.ts'
import { outcomeKinds, type PageOutcome, type PageOutcomeReason } from './outcome.ts'
import type { PagePrice } from './price.ts'

/** What the reasons add that are not clear from their names. */
const CAUSES: Readonly<Partial<Record<PageOutcomeReason, string>>> = {
  'no-usable-location': 'its redirect has no usable Location',
  'too-many-redirects': 'too many redirects',
  'challenge-header': 'by its headers',
  'challenge-page': 'by the start of the page',
  'login-redirect': 'by its redirect',
  'password-form': 'the page has a form for a password',
  proxy: "the crawler's proxy or network asks for a login",
}

/**
 * Describes an outcome in one sentence, such as `the site asks for payment (status 402, USD 0.01)`.
 * Text from the site is escaped, so the result is safe to print.
 *
 * @throws {OptionError} if `outcome` is not an outcome. `outcomeOf` may return undefined, so check that
 * first.
 */
export function describeOutcome(outcome: PageOutcome): string {
  if (!Object.hasOwn(outcomeKinds, String((outcome as PageOutcome | undefined | null)?.kind))) {
    const hint =
      outcome === undefined
        ? 'undefined is not an outcome; outcomeOf returns it for what says nothing about the site, so check for it first'
        : `${describeValue(outcome)} is not an outcome; expected what outcomeOf returns; write describeOutcome(outcomeOf(response))`
    throw new OptionError('outcome', hint)
  }
  const { kind, because, status, retryAfterMs, price } = outcome
  const cause = because === 'status' ? undefined : (CAUSES[because] ?? because)
  const wait = retryAfterMs === undefined ? undefined : `asked to wait ${Math.ceil(retryAfterMs / 1000)} s`
  const parts = [status === undefined ? undefined : `status ${status}`, cause, price && priceText(price), wait]
  return escapeControls(`${outcomeKinds[kind].sentence} (${parts.filter((part) => part !== undefined).join(', ')})`)
}

function priceText({ source, amount, currency, network, raw }: PagePrice): string {
  if (amount === undefined) return `${source}: ${raw.slice(0, 100)}`
  return source === 'x402'
    ? `x402: ${[amount, 'units of', currency ?? 'an unknown asset', network && `on ${network}`].filter(Boolean).join(' ')}`
    : `${currency} ${amount}`
}
