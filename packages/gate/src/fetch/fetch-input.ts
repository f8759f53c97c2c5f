// Reads the arguments of a wrapped fetch. Each value is read and converted once: an object whose
// value changes between two reads could make the gate check one URL and fetch send another.
import { describeValue, urlText } from '@politely/fetcher/internal'
import type { SourceOptions } from '../options/gate-options.ts'
import { InvalidRequestError } from '../report/errors.ts'

export type Init = RequestInit & SourceOptions & { readonly duplex?: string; readonly cache?: string }

/** The first argument of fetch. */
export interface FetchInput {
  /** Passed to fetch instead of the input, which may convert to another string the next time. */
  readonly url: string
  /**
   * `checked`: the gate checks the URL against robots.txt. `local`: the URL needs no network, so
   * robots.txt does not apply. `invalid`: the gate refuses the URL.
   */
  readonly kind: 'checked' | 'local' | 'invalid'
  /** The input, if it is a Request. */
  readonly request: globalThis.Request | undefined
}

const CHECKED_SCHEMES: ReadonlySet<string> = new Set(['http:', 'https:', 'ftp:'])
const LOCAL_SCHEMES: ReadonlySet<string> = new Set(['data:', 'blob:', 'about:'])

/**
 * Reads the first argument of fetch: a string, an object that converts to a URL or has one as
 * `href`, or a Request.
 * @throws {OptionError} for any other value, such as undefined.
 * @throws {InvalidRequestError} for an object that only looks like a Request.
 */
export function fetchInput(input: unknown): FetchInput {
  const request = isRequest(input) ? input : undefined
  const text = request === undefined ? String(input) : urlOfRequest(request) // fetch converts an object to a string, too
  const url = URL.parse(text)
  if (url !== null && CHECKED_SCHEMES.has(url.protocol)) return { url: url.href, kind: 'checked', request }
  if (url !== null && LOCAL_SCHEMES.has(url.protocol)) return { url: url.href, kind: 'local', request }
  if (url === null && typeof input !== 'string') return fetchInput(urlText(input as string))
  return { url: text, kind: 'invalid', request }
}

/**
 * Copies the options of fetch, so that changes which the caller makes while the request waits have
 * no effect.
 * @throws {InvalidRequestError} for an option that is not of the expected type.
 */
export function fetchInit(init: Init | undefined): Init {
  if (init === undefined || init === null) return {}
  if (typeof init !== 'object' && typeof init !== 'function')
    throw new InvalidRequestError(
      `the options of fetch are ${describeValue(init)}; expected an object, such as { method: 'GET' }`,
    )
  const copy: Record<string, unknown> = { ...init }
  if (Object.getPrototypeOf(init) !== Object.prototype)
    for (const name of OPTION_NAMES)
      if (!(name in copy) && name in init) copy[name] = (init as Record<string, unknown>)[name]
  const { redirect, method, duplex, signal } = copy as Init
  if (redirect !== undefined) assertString('redirect', redirect, ['follow', 'manual', 'error'])
  if (method !== undefined) assertString('method', method)
  if (duplex !== undefined) assertString('duplex', duplex, ['half'])
  if (signal !== undefined && signal !== null && typeof signal.addEventListener !== 'function')
    throw new InvalidRequestError(`\`signal\` is ${describeValue(signal)}; expected an AbortSignal`)
  return copy
}

/**
 * The options of fetch, and `redirectedFrom`. They may be inherited getters, which the spread
 * operator does not copy.
 */
const OPTION_NAMES: readonly string[] = `body cache credentials duplex headers integrity keepalive method mode redirect
  redirectedFrom referrer referrerPolicy signal`.split(/\s+/)

/** Checks an option that decides which requests fetch makes. @param values Default: any string. */
function assertString(name: string, value: unknown, values?: readonly string[]): void {
  if (typeof value === 'string' && (values === undefined || values.includes(value))) return
  const expected = values === undefined ? 'a string, such as GET' : `one of ${values.join(', ')}`
  throw new InvalidRequestError(`\`${name}\` is ${describeValue(value)}; expected ${expected}`)
}

/** Returns the method as fetch sends it (WHATWG Fetch, "normalize a method"). */
export function methodOf(method: string): string {
  return /^(?:delete|get|head|options|post|put)$/i.test(method) ? method.toUpperCase() : method
}

/** Returns whether the input is a Request. That of undici has another class than the global one. */
export function isRequest(input: unknown): input is globalThis.Request {
  return typeof input === 'object' && input !== null && 'url' in input && 'clone' in input
}

/**
 * Returns the URL that fetch will use: the result of the getter of the class Request. The result of
 * `request.url` may differ, since a subclass or the object itself may override it. A fetch that
 * does not know the class converts the object to a string, so `toString` must not be overridden
 * either.
 * @throws {InvalidRequestError} if fetch could use another URL.
 */
function urlOfRequest(request: globalThis.Request): string {
  let url: unknown
  for (let proto = Object.getPrototypeOf(request); proto !== null; proto = Object.getPrototypeOf(proto)) {
    const getter = Object.getOwnPropertyDescriptor(proto, 'url')?.get
    if (getter !== undefined) url = getter.call(request)
  }
  const hasDefaultString = request.toString === Object.prototype.toString && !(Symbol.toPrimitive in request)
  if (typeof url === 'string' && hasDefaultString && !Object.hasOwn(request, 'url')) return url
  throw new InvalidRequestError(
    'the input looks like a Request but is not one, so its URL is ambiguous; write fetch(url, init) or new Request(url, init)',
  )
}

const SIMPLE_NAME = /^[a-z][a-z0-9-]*$/
const SIMPLE_VALUE = /^[\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?$/

/** Returns a new object with the headers of a request, by their names in lower case. */
export function plainHeaders(given: Init['headers'] | undefined): Record<string, string> {
  return simpleHeaders(given) ?? Object.fromEntries(new Headers(given))
}

/**
 * Reads the headers that most callers write: a plain object with simple names and values. Returns
 * undefined for others, which `Headers` has to combine, normalise or reject.
 */
function simpleHeaders(given: Init['headers'] | undefined): Record<string, string> | undefined {
  if (given === undefined) return {}
  if (typeof given !== 'object' || Object.getPrototypeOf(given) !== Object.prototype) return undefined
  const headers: Record<string, string> = {}
  for (const name of Object.keys(given)) {
    const value: unknown = (given as Record<string, unknown>)[name]
    const lower = name.toLowerCase()
    const isSimple = SIMPLE_NAME.test(lower) && typeof value === 'string' && SIMPLE_VALUE.test(value)
    if (!isSimple || Object.hasOwn(headers, lower)) return undefined
    headers[lower] = value
  }
  return headers
}
