// Licenses of RSL 1.0: which of them apply to a page. A license is only named here: Politely never
// fetches it and never pays.
import { textOf } from '../../bytes.ts'
import { headerLines, type ResponseHeaders } from '../../http/header-lines.ts'
import type { Robots } from '../../robots.ts'
import { originOf } from '../../url/origin.ts'
import { urlOrNull } from '../../url/url-or-null.ts'
import type { UsageConflict, UsageReading } from '../conflicts.ts'
import { shown, type UsageProblem, type UsageSource, usageSourceOf } from '../purpose.ts'
import { hasWord, isRsl, type PageHead } from '../tags/page-head.ts'
import type { UsageLine } from './robots-lines.ts'

/** A license that a site names. JSON-safe. */
export interface UsageLicense {
  /** The URL of its RSL document, as written. */
  readonly url: string
  /**
   * What it is for. `page`: a header or an element of the page. `group`: the group of the crawler in
   * robots.txt. `site`: the whole site. `other-group`: a group of other crawlers.
   */
  readonly scope: 'page' | 'group' | 'site' | 'other-group'
  /**
   * Whether it applies by RSL 1.0 §4.4: of those for the page, the group and the site, the most
   * specific ones.
   */
  readonly applies: boolean
  readonly source: UsageSource
}

/** A license that a page names. */
type PageLicense = Pick<UsageLicense, 'url' | 'source'>

/** Returns the licenses of a page in the order of their scope, and what could not be used. */
export function licensesOf(
  lines: readonly UsageLine[],
  ofPage: readonly PageLicense[],
): { readonly licenses: readonly UsageLicense[]; readonly ignored: readonly UsageProblem[] } {
  const ignored: UsageProblem[] = []
  const found: Omit<UsageLicense, 'applies'>[] = ofPage.map((one) => ({ ...one, scope: 'page' }))
  for (const { field, key, value, line, audience } of lines) {
    if (field !== 'license') continue
    const url = textOf(value)
    const source = usageSourceOf('license', 'robots.txt', textOf(key), url, line)
    const scope = audience === 'own' ? 'group' : audience === 'site' ? 'site' : 'other-group'
    if (originOf(url) === undefined) ignored.push({ source, why: 'the license is no absolute URL' })
    else found.push({ url, scope, source })
  }
  const narrowest = Math.min(...found.map(({ scope }) => RANKS[scope]))
  const licenses = found.map((one) => ({
    ...one,
    applies: one.scope !== 'other-group' && RANKS[one.scope] === narrowest,
  }))
  return { licenses: licenses.toSorted((a, b) => RANKS[a.scope] - RANKS[b.scope]), ignored }
}

/** The narrowest scope comes first. */
const RANKS: Readonly<Record<UsageLicense['scope'], number>> = { page: 0, group: 1, site: 2, 'other-group': 3 }

/**
 * Returns the first of these lines that is set apart from the group above it, by a blank line or a
 * sitemap, so that its author may have meant the whole site. Comments and other licenses between
 * them make no difference.
 */
function lineSetApart(robots: Robots, lines: readonly number[]): number | undefined {
  const wanted = new Set(lines)
  let isApart = false
  for (const { field, line, afterBlank } of robots.fields().fields) {
    isApart = field === 'sitemap' || (field === 'license' && (isApart || afterBlank))
    if (isApart && wanted.has(line)) return line
  }
  return undefined
}

/** Returns the licenses in the header Link. RSL 1.0 §4.5; RFC 8288. @param base The URL of the page. */
export function licensesInLinks(headers: ResponseHeaders | undefined, base: string): readonly PageLicense[] {
  return headerLines(headers, 'link').flatMap(({ text }) =>
    [...text.slice(0, MAX_LINK_LENGTH).matchAll(LINK)].flatMap(([link, target = '', rest = '']) => {
      const { rel = '', type = '', anchor } = parametersOf(rest)
      if (!hasWord(rel, 'license') || !isRsl(type) || anchor !== undefined) return []
      const url = urlOrNull(target, base)?.href ?? target
      return [{ url, source: usageSourceOf('license', 'header', 'Link', link) }]
    }),
  )
}

/** A target in angle brackets, and its parameters. */
const LINK = /<([^<>]*)>((?:[^<>",]|"[^"]*")*)/g
/** A parameter: its name, and its value with or without quotes. */
const PARAMETER = /;\s*([^\s=;"]+)\s*(?:=\s*(?:"([^"]*)"|([^\s;"]*)))?/g

/** Returns the parameters of a link. The first of several equal names counts. RFC 8288 §3.3. */
function parametersOf(text: string): Readonly<Partial<Record<string, string>>> {
  const all = [...text.matchAll(PARAMETER)].map(([, name = '', quoted, token = '']) => {
    return [name.toLowerCase(), quoted ?? token] as const
  })
  return Object.fromEntries(all.toReversed())
}

/** The rest of a longer header is not read. */
const MAX_LINK_LENGTH = 16_384

/**
 * Returns the licenses in the head of a page: those of link elements, and the page itself if it has
 * a license in a script. RSL 1.0 §4.6.
 * @param page The URL of the page.
 */
export function licensesInHead(head: PageHead | undefined, page: string): readonly PageLicense[] {
  const base = urlOrNull(head?.base ?? '', page)?.href ?? page
  return (head?.licenses ?? []).map(({ element, href }) => ({
    url: href === undefined ? page : (urlOrNull(href, base)?.href ?? href),
    source: usageSourceOf('license', 'html', element, href ?? ''),
  }))
}

/** Returns the conflict between RSL 1.0, by which a license is for its group, and its guide. */
export function licenseConflict(
  licenses: readonly UsageLicense[],
  robots: Robots | undefined,
): readonly UsageConflict[] {
  const inRobots = licenses.filter(({ source }) => source.in === 'robots.txt')
  const followed = licenses.filter(({ applies }) => applies)
  const byPage = followed.some(({ scope }) => scope === 'page')
  const other = inRobots.filter(({ applies }) => !applies)
  if (byPage || other.length === 0 || robots === undefined) return []
  const apart = lineSetApart(
    robots,
    other.map(({ source }) => source.line as number),
  )
  const why = apart === undefined ? '' : `; line ${apart} stands below a blank line or a sitemap`
  return [
    {
      kind: 'license-scope',
      purpose: undefined,
      readings: [readingOf('by RSL 1.0 §4.4', followed), readingOf(`by the guide of RSL${why}`, inRobots)],
    },
  ]
}

function readingOf(how: string, licenses: readonly UsageLicense[]): UsageReading {
  return {
    how,
    answer: undefined,
    licenses: shown([...new Set(licenses.map(({ url }) => url))]),
    sources: shown(licenses.map(({ source }) => source)),
  }
}
