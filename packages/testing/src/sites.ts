// The sites of a fake web: checks them, and finds the answer to a request.
import { OptionError } from '@politely/core'
import { describeValue } from '@politely/fetcher/internal'
import { assertAnswer, type FakeAnswer, type FakeFailure, type FakeReply, responseTo } from './answer.ts'
import { failureError } from './failures.ts'
import { assertParts, SITE_HINTS } from './parts.ts'

/** A site of the fake web. */
export interface FakeSite {
  /** The answer to a request for robots.txt. Default `null`: the site has none (status 404). */
  readonly robots?: FakeAnswer | undefined
  /**
   * The answers by path, such as `/` and `/search?q=a`. A path without a query also answers every
   * query that has no answer of its own. Every other path is a 404. Or one function for all paths.
   * Default: no pages.
   */
  readonly pages?:
    | Readonly<Record<string, FakeAnswer>>
    | ((request: Request) => FakeReply | Promise<FakeReply>)
    | undefined
}

/** An answer, and its name in error messages. */
interface NamedAnswer {
  readonly option: string
  readonly answer: FakeAnswer
}

interface Site {
  readonly robots: NamedAnswer
  /** By path, or by path and query. */
  readonly pages: ReadonlyMap<string, NamedAnswer>
  /** The answer for all other paths. */
  readonly others: NamedAnswer
}

const SITE_PARTS = { robots: true, pages: true } as const
const EXAMPLE = '{ robots: "User-agent: *\\nDisallow: /cart", pages: { "/": "a page" } }'

export class Sites {
  readonly #byOrigin: ReadonlyMap<string, Site>

  /** @throws {OptionError} for an invalid site or answer. */
  constructor(sites: Readonly<Record<string, FakeSite | FakeFailure>>) {
    if (typeof sites !== 'object' || sites === null || Array.isArray(sites)) {
      const problem = sites === undefined ? 'is missing' : `${describeValue(sites)} is not an object`
      throw new OptionError('sites', `${problem}; write fakeWeb({ 'https://site.example': ${EXAMPLE} })`)
    }
    this.#byOrigin = new Map(Object.entries(sites).map(([key, site]) => [originOf(key), siteOf(key, site)]))
  }

  /** Returns the response of the site. @throws The error of the request, if it fails. */
  respond(request: Request): Promise<Response> {
    const { origin, host, pathname, search } = new URL(request.url)
    const site = this.#byOrigin.get(origin)
    if (site === undefined)
      throw failureError('dns', host, `this fake web has no site ${origin}; add '${origin}': ${EXAMPLE}`)
    const { option, answer } = isRobotsTxt(request.url)
      ? site.robots
      : (site.pages.get(pathname + search) ?? site.pages.get(pathname) ?? site.others)
    return responseTo(option, answer, request)
  }
}

export function isRobotsTxt(url: string): boolean {
  return new URL(url).pathname === '/robots.txt'
}

/** @throws {OptionError} if the key of a site is not an http or https origin. */
function originOf(key: string): string {
  const url = URL.canParse(key) ? new URL(key) : undefined
  if (url === undefined || !/^https?:$/.test(url.protocol)) {
    const isHost = /^[\w-]+(\.[\w-]+)*\.?(:\d+)?$/.test(key) && !Object.hasOwn(SITE_PARTS, key)
    throw new OptionError(
      'sites',
      `${describeValue(key)} is not an origin; write ${isHost ? `'https://${key}'` : `one such as 'https://site.example'`}: ${EXAMPLE}`,
    )
  }
  if (url.href !== `${url.origin}/`)
    throw new OptionError(
      'sites',
      `${describeValue(key)} is not an origin; write '${url.origin}': ${siteWith(url.pathname + url.search)}`,
    )
  return url.origin
}

/** Returns a site with an answer for this path, as a caller writes it. */
function siteWith(path: string): string {
  return isRobotsTxt(new URL(path, 'http://host').href) ? '{ robots: … }' : `{ pages: { '${path}': … } }`
}

function siteOf(key: string, site: FakeSite | FakeFailure): Site {
  const name = `sites['${key}']`
  if (typeof site !== 'object' || site === null || site instanceof Response || Array.isArray(site))
    throw new OptionError(name, `${describeValue(site)} is not a site; write ${EXAMPLE}`)
  if ('fails' in site) {
    assertAnswer(name, site)
    const answer = { option: name, answer: site }
    return { robots: answer, pages: new Map(), others: answer }
  }
  const path = Object.keys(site).find((key) => key.startsWith('/'))
  if (path !== undefined)
    throw new OptionError(name, `the path '${path}' is not a part of a site; write ${siteWith(path)}`)
  assertParts(site, SITE_PARTS, SITE_HINTS)
  const { robots = null, pages = {} } = site
  const robotsOption = `${name}.robots`
  assertAnswer(robotsOption, robots)
  const pagesOption = `${name}.pages`
  if (typeof pages !== 'function' && (typeof pages !== 'object' || pages === null || Array.isArray(pages)))
    throw new OptionError(pagesOption, `${describeValue(pages)} is not an object; write { "/": "a page" }`)
  const isFunction = typeof pages === 'function'
  return {
    robots: { option: robotsOption, answer: robots },
    pages: new Map(isFunction ? [] : Object.entries(pages).map((page) => pageOf(pagesOption, page))),
    others: { option: pagesOption, answer: isFunction ? pages : null },
  }
}

/** Returns the path of a page, as a URL has it, and its answer. */
function pageOf(pagesOption: string, [path, answer]: [string, FakeAnswer]): [string, NamedAnswer] {
  const option = `${pagesOption}['${path}']`
  const url = URL.canParse(path, 'http://host') ? new URL(path, 'http://host') : undefined
  if (url !== undefined && isRobotsTxt(url.href))
    throw new OptionError(option, 'is not a page; write the answer as a part of the site: { robots: … }')
  if (!path.startsWith('/') || path.includes('#')) {
    const expected = path.includes('*')
      ? "write a function for all paths: { pages: () => 'a page' }"
      : `write one such as '${url?.pathname ?? '/'}${url?.search ?? ''}'`
    throw new OptionError(option, `${describeValue(path)} is not a path; ${expected}`)
  }
  assertAnswer(option, answer)
  const { pathname, search } = new URL(`http://host${path}`)
  return [pathname + search, { option, answer }]
}
