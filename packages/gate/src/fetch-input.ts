// What a wrapped fetch is called with, read once. What is judged must be what the fetch inside will use, so nothing is coerced twice.
import { describeValue } from '@politely/fetcher/option-checks'
import { InvalidRequestError } from './errors.ts'

export type Init = RequestInit & { readonly duplex?: string }

/** The input of a fetch: its URL, and the Request, if it is one. */
export interface FetchInput {
  /** It is sent in place of the input, which may be converted to another string the next time. */
  readonly url: URL
  readonly request: globalThis.Request | undefined
  /** Whether it is a URL that the network is not needed for, and robots.txt says nothing about. */
  readonly isLocal: boolean
}

const LOCAL: ReadonlySet<string> = new Set(['data:', 'blob:', 'about:'])
const JUDGED: ReadonlySet<string> = new Set(['http:', 'https:', 'ftp:'])

/** @throws {InvalidRequestError} for anything but an absolute URL, as a string, a URL or a Request, of a scheme that can be judged. */
export function fetchInput(input: unknown): FetchInput {
  const request = isRequest(input) ? input : undefined
  const text = request === undefined ? String(input) : trueUrlOf(request)
  const url = URL.parse(text)
  if (url === null)
    throw new InvalidRequestError(
      `${describeValue(text)} is not an absolute URL; write one such as https://example.com/page`,
    )
  const isLocal = LOCAL.has(url.protocol)
  if (!isLocal && !JUDGED.has(url.protocol))
    throw new InvalidRequestError(
      `${describeValue(text)} has the scheme ${url.protocol}, which robots.txt says nothing about; write an http, https or ftp URL`,
    )
  return { url, request, isLocal }
}

/** A copy of the options: changes that the caller makes while the request waits have no effect. @throws {InvalidRequestError} */
export function fetchInit(init: Init | undefined): Init {
  if (init === undefined || init === null) return {}
  if (typeof init !== 'object' && typeof init !== 'function')
    throw new InvalidRequestError(
      `the options of fetch are ${describeValue(init)}; write an object, such as { method: 'GET' }`,
    )
  const copy: Record<string, unknown> = { ...init }
  for (const name of NAMES) if (!(name in copy) && name in init) copy[name] = (init as Record<string, unknown>)[name]
  for (const [name, words] of WORDS) {
    const value = copy[name]
    if (value === undefined) continue
    if (typeof value !== 'string' || (words.length > 0 && !words.includes(value)))
      throw new InvalidRequestError(
        `${name} is ${describeValue(value)}; write ${words.length > 0 ? `one of ${words.join(', ')}` : 'a string, such as GET'}`,
      )
  }
  return copy
}

/** Fetch reads these from an object of a class, too, whose getters a copy leaves out. */
const NAMES: readonly string[] = [
  'body',
  'cache',
  'credentials',
  'duplex',
  'headers',
  'integrity',
  'keepalive',
  'method',
  'mode',
  'redirect',
  'referrer',
  'referrerPolicy',
  'signal',
]

/** Options that decide which requests are made. Any string, or one of these. */
const WORDS: readonly (readonly [name: keyof Init, words: readonly string[]])[] = [
  ['redirect', ['follow', 'manual', 'error']],
  ['method', []],
  ['duplex', ['half']],
]

/** Also a Request of undici, which is of another class than the global one. */
export function isRequest(input: unknown): input is globalThis.Request {
  return typeof input === 'object' && input !== null && 'url' in input && 'clone' in input
}

/**
 * The URL that fetch will use, which is that of the class Request. A subclass, or the object itself, may have another property `url`; and a
 * fetch that does not know the class converts the object to a string.
 * @throws {InvalidRequestError}
 */
function trueUrlOf(request: globalThis.Request): string {
  let url: unknown
  for (let proto = Object.getPrototypeOf(request); proto !== null; proto = Object.getPrototypeOf(proto)) {
    const getter = Object.getOwnPropertyDescriptor(proto, 'url')?.get
    if (getter !== undefined) url = getter.call(request)
  }
  const isPlain = request.toString === Object.prototype.toString && !(Symbol.toPrimitive in request)
  if (typeof url === 'string' && isPlain && !Object.hasOwn(request, 'url')) return url
  throw new InvalidRequestError(
    'the input looks like a Request and is not one, so that its URL is not certain; write fetch(url, init) or new Request(url, init)',
  )
}
