// Reads what a site asks for a page. Nothing is ever paid: the result is data.

/**
 * What a site asks for a page, or what it charged. JSON-safe.
 * @inline
 */
export interface PagePrice {
  /**
   * Where the price was found:
   *
   * - `crawler-price`: this header, of Cloudflare's pay per crawl.
   * - `crawler-charged`: this header of a page that was paid for.
   * - `x402`: the header PAYMENT-REQUIRED of x402 version 2, or the JSON body of version 1.
   * - `www-authenticate`: a challenge of the scheme L402, LSAT or Payment.
   */
  readonly source: 'crawler-price' | 'crawler-charged' | 'x402' | 'www-authenticate'
  /**
   * The amount, in decimal digits. For x402, the first of the offers, in the smallest unit of its
   * asset.
   */
  readonly amount?: string
  /** The currency, such as `USD`. For x402, the identifier of the asset. */
  readonly currency?: string
  /** For x402, the network of the asset, such as `eip155:8453`. */
  readonly network?: string
  /** What the site wrote; the first 16,384 characters. */
  readonly raw: string
}

const MAX_RAW_LENGTH = 16_384

/** The scheme of a challenge that asks for money. */
const PAYMENT_SCHEME = /(?:^|,)\s*(?:L402|LSAT|Payment)(?:\s|$)/i

/**
 * Returns the price that a response with status 402 names; undefined if it names none.
 * @param body The start of the body.
 */
export function askedPrice(header: (name: string) => string | undefined, body: string): PagePrice | undefined {
  const crawlerPrice = header('crawler-price')
  if (crawlerPrice !== undefined) return moneyOf('crawler-price', crawlerPrice)
  const required = header('payment-required')
  if (required !== undefined) return offerOf(required, textOfBase64(required))
  const authenticate = header('www-authenticate')
  if (authenticate !== undefined && PAYMENT_SCHEME.test(authenticate))
    return { source: 'www-authenticate', raw: cut(authenticate) }
  return /^\s*\{/.test(body) && body.includes('"x402Version"') ? offerOf(body, body) : undefined
}

/** Reads an amount of money, such as `USD 0.01`. */
export function moneyOf(source: 'crawler-price' | 'crawler-charged', text: string): PagePrice {
  const raw = cut(text)
  const [, currency, amount] = /^\s*([a-z]{3})\s+(\d+(?:\.\d+)?)\s*$/i.exec(raw) ?? []
  return currency === undefined || amount === undefined
    ? { source, raw }
    : { source, amount, currency: currency.toUpperCase(), raw }
}

/** Reads the first offer of x402: version 2 calls the amount `amount`, version 1 `maxAmountRequired`. */
function offerOf(written: string, json: string): PagePrice {
  const offer = firstOffer(json)
  const text = (...names: string[]) => names.map((name) => offer?.[name]).find((value) => typeof value === 'string')
  const [amount, currency, network] = [text('amount', 'maxAmountRequired'), text('asset'), text('network')]
  return {
    source: 'x402',
    ...(amount !== undefined && { amount: cut(amount) }),
    ...(currency !== undefined && { currency: cut(currency) }),
    ...(network !== undefined && { network: cut(network) }),
    raw: cut(written),
  }
}

function firstOffer(json: string): Readonly<Record<string, unknown>> | undefined {
  try {
    const { accepts } = JSON.parse(json) as { readonly accepts?: readonly Readonly<Record<string, unknown>>[] }
    return typeof accepts?.[0] === 'object' && accepts[0] !== null ? accepts[0] : undefined
  } catch {
    return undefined // not JSON, or only the start of it
  }
}

function textOfBase64(text: string): string {
  try {
    return atob(text.trim().replace(/-/g, '+').replace(/_/g, '/'))
  } catch {
    return ''
  }
}

function cut(text: string): string {
  return text.slice(0, MAX_RAW_LENGTH)
}
