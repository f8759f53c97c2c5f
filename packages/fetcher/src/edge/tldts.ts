// Replaces tldts in bundles for workers: the Public Suffix List would be half of such a bundle. Guesses
// the registrable domain instead. Where the guess is wrong, sites share a limit, or have one each: no
// verdict depends on it. The guard of private names asks for the top-level domains only.

/** Labels under which registries of countries register domains, such as `co.uk`. */
const SECOND_LEVEL = new Set('ac co com ed edu gen go gob gov gv id in ltd me mil ne net nom or org plc sch'.split(' '))

/** Domains that give names to others, of the private part of the Public Suffix List. */
const PLATFORMS = new Set(
  `appspot.com azurewebsites.net blogspot.com cloudfront.net firebaseapp.com fly.dev github.io gitlab.io herokuapp.com
  myshopify.com netlify.app onrender.com pages.dev s3.amazonaws.com vercel.app web.app workers.dev`.split(/\s+/),
)

/** The second letters of the top-level domains of countries, by the first letter from `a` on. */
const COUNTRIES =
  'cdefgilmoqrstuwxz abdefghijmnorstvwyz acdfghiklmnoruvwxyz ejkmoz cegrstu ijkmor abdefghilmnpqrstuwy kmnrtu delmnoqrst emop eghimnprwyz abcikrstuvy acdeghklmnopqrstuvwxyz acefgilopruz m aefghklmnrstwy a eosuw abcdeghijklmnorstuvxyz cdfghjklmnortvwz agksyz aceginu fs  et mw'.split(
    ' ',
  )

/** Returns whether a label is the top-level domain of a country. Other ones, such as `db`, are private names. */
function isCountryCode([first = '', second = '', ...rest]: string): boolean {
  return rest.length === 0 && second !== '' && COUNTRIES[first.charCodeAt(0) - 97]?.includes(second) === true
}

/** Top-level domains without a country that may have a page themselves. */
const GENERIC = new Set(['com', 'net', 'org'])

interface Parsed {
  readonly domain: string | null
  readonly publicSuffix: string
  readonly isPrivate: boolean
  readonly isIcann: boolean
}

/** As `parse` of tldts, for a name without a trailing dot. */
export function parse(name: string, options: { readonly allowPrivateDomains?: boolean }): Parsed {
  const labels = name.split('.')
  const top = labels.at(-1) ?? ''
  const second = labels.at(-2)
  const last = (count: number) => labels.slice(-count).join('.')
  const platform = options.allowPrivateDomains ? [3, 2].map(last).find((suffix) => PLATFORMS.has(suffix)) : undefined
  const isCountry = isCountryCode(top)
  const depth = isCountry && second !== undefined && SECOND_LEVEL.has(second) ? 2 : 1
  const publicSuffix = platform ?? last(depth)
  const labelsOfSuffix = publicSuffix.split('.').length
  return {
    domain: labels.length > labelsOfSuffix ? last(labelsOfSuffix + 1) : null,
    publicSuffix,
    isPrivate: platform !== undefined,
    isIcann: isCountry || GENERIC.has(top),
  }
}
