// How each group of verifiers wants a signature to look. The drafts move, so this is data with
// dates.

/** The name of a profile. Experimental. */
export type ProfileName = 'cloudflare' | 'ietf-01'

/** The profiles by name. Experimental: a new draft adds a profile, and an old profile may go. */
export const profiles: Readonly<
  Record<
    ProfileName,
    {
      /** The document that the profile follows. */
      readonly source: string
      /** Its date, as YYYY-MM-DD. */
      readonly date: string
      /** The day on which we last compared the profile with its source, as YYYY-MM-DD. */
      readonly readOn: string
      /**
       * The form of Signature-Agent. `string`: the origin of the agent. `dictionary`: a member with the
       * label of the signature, whose value is the URL of the key set.
       */
      readonly agent: 'string' | 'dictionary'
      /** The covered components, without the agent. */
      readonly components: readonly string[]
      /**
       * Whether a signature that covers only the authority and the agent may be used for several
       * requests.
       */
      readonly mayReuse: boolean
    }
  >
> = {
  // Cloudflare refuses the parameter `key`, and asks for `@authority` at least (section 4 of its
  // page).
  cloudflare: {
    source: 'https://developers.cloudflare.com/bots/reference/bot-verification/web-bot-auth/',
    date: '2026-07-01',
    readOn: '2026-11-27',
    agent: 'string',
    components: ['@authority', '@method', '@target-uri'],
    mayReuse: true,
  },
  // A signature of one request says nothing about another one: static signatures are forbidden.
  'ietf-01': {
    source: 'https://datatracker.ietf.org/doc/html/draft-ietf-webbotauth-httpsig-protocol-01',
    date: '2026-10-29',
    readOn: '2026-11-27',
    agent: 'dictionary',
    components: ['@method', '@target-uri'],
    mayReuse: false,
  },
}

/** What a verifier expects of a signature. */
export type Profile = (typeof profiles)[ProfileName]

/** The value of the parameter `tag` of these signatures. */
export const TAG = 'web-bot-auth'

/**
 * The longest time from `created` to `expires` (draft-ietf-webbotauth-httpsig-protocol-01).
 * Seconds.
 */
export const MAX_LIFETIME_S = 86_400

/** Where an agent publishes its keys (draft-meunier-http-message-signatures-directory-03). */
export const DIRECTORY_PATH = '/.well-known/http-message-signatures-directory'

/** The media type of a key set at that path. */
export const DIRECTORY_TYPE = 'application/http-message-signatures-directory+json'

/** The value of the parameter `tag` of the signatures of such a key set. */
export const DIRECTORY_TAG = 'http-message-signatures-directory'
