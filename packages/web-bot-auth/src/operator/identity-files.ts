// Makes what an operator publishes from an identity file.
import { OptionError } from '@politely/core'
import { assertOptions, callable } from '@politely/fetcher/internal'
import type { Jwk } from '../keys.ts'
import { botPage } from './bot-page.ts'
import { type KeptKey, signDirectory } from './directory.ts'
import type { Identity } from './identity.ts'

/** Options of `identityFiles`. */
export interface IdentityFilesOptions {
  /**
   * The keys of the key directory, as for `signDirectory`. Needed if the identity has a directory.
   */
  readonly keys?: readonly (Jwk | KeptKey)[] | undefined
  /** For how long the signatures of the directory are valid. Milliseconds. Default 7 days. */
  readonly validMs?: number | undefined
  /** The clock: returns milliseconds since 1970. Default `Date.now`. */
  readonly now?: (() => number) | undefined
}

/** What `identityFiles` makes. Experimental. */
export interface IdentityFiles {
  /** The page, the IP ranges, the card and the key directory. */
  readonly files: readonly {
    readonly url: string
    readonly headers: Readonly<Record<string, string>>
    readonly body: string
  }[]
  /** What the crawler sends as User-Agent. */
  readonly userAgent: string
  /** Until when the signatures of the directory are valid. Milliseconds since 1970. */
  readonly validUntil: number | undefined
}

type PublishedFile = IdentityFiles['files'][number]

const KNOWN: Readonly<Record<keyof IdentityFilesOptions, true>> = { keys: true, validMs: true, now: true }

/**
 * Returns the page about the crawler, the JSON of its IP ranges in the form that Google publishes,
 * its key directory, and its signature agent card (draft-meunier-webbotauth-registry).
 * Experimental.
 * @throws {OptionError} for an invalid or unknown option, and without keys for a directory.
 */
export async function identityFiles(identity: Identity, options: IdentityFilesOptions = {}): Promise<IdentityFiles> {
  assertOptions(options, '{ keys: [key] }', KNOWN)
  const { keys, validMs } = options
  const now = callable('now', options.now, 'a function that returns milliseconds') ?? Date.now
  const { page, ranges, rangesUrl, card, directory, userAgent } = identity
  if (directory !== undefined && (keys === undefined || keys.length === 0))
    throw new OptionError('keys', `are missing, and the identity has the key directory ${directory}; give its keys`)
  const signed =
    directory === undefined ? undefined : await signDirectory({ keys: keys ?? [], agent: directory, validMs, now })
  const files: PublishedFile[] = [
    {
      url: page,
      headers: {
        'content-type': 'text/html; charset=utf-8',
        ...(ranges.length > 0 && { link: `<${rangesUrl}>; rel="client-ranges"` }),
      },
      body: botPage(identity),
    },
    ...(ranges.length > 0 ? [jsonFile(rangesUrl, rangesJson(identity, now()))] : []),
    ...(signed === undefined ? [] : [jsonFile(card, cardJson(identity)), signed]),
  ]
  return { files, userAgent, validUntil: signed?.validUntil }
}

function jsonFile(url: string, content: object): PublishedFile {
  const headers = { 'content-type': 'application/json', 'cache-control': 'public, max-age=3600' }
  return { url, headers, body: `${JSON.stringify(content, null, 2)}\n` }
}

/** As in the files of Google, such as common-crawlers.json. */
function rangesJson({ ranges }: Identity, now: number): object {
  return {
    creationTime: new Date(now).toISOString().replace('Z', '000'), // with microseconds, and without zone
    prefixes: ranges.map(({ version, text }) => (version === 4 ? { ipv4Prefix: text } : { ipv6Prefix: text })),
  }
}

/** Returns the card of a crawler (draft-meunier-webbotauth-registry, Signature Agent Card). */
export function cardJson(identity: Identity): Readonly<Record<string, unknown>> {
  const { name, page, contact, card, directory, userAgent, productToken, trigger, purposes, ranges, rangesUrl } =
    identity
  return {
    client_id: card,
    client_name: name,
    client_uri: page,
    contacts: [contact.includes('://') ? contact : `mailto:${contact}`],
    jwks_uri: directory,
    web_bot_auth: {
      'expected-user-agent': userAgent,
      'rfc9309-product-token': productToken,
      'rfc9309-compliance': true,
      trigger,
      purpose: purposes.join(', '),
      ...(ranges.length > 0 && { ips_uri: rangesUrl }),
    },
  }
}
