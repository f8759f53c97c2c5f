// The text that is signed: one line for each covered component, and a line with the parameters of
// the signature (RFC 9421 §2.5).
//
//   "@method": GET
//   "@target-uri": https://example.com/page
//   "signature-agent";key="sig1": "https://bot.example/keys"
//   "@signature-params": ("@method" "@target-uri" "signature-agent";key="sig1");created=1764201600;…
import { type Item, serializeInnerList, serializeItem } from 'structured-headers'
import { fieldValue, type HeadersLike, type SignedRequest } from './request-headers.ts'
import { type Dictionary, type InnerList, serializedMember, strictDictionary } from './structured.ts'

/** The parts of a target URI, without credentials and fragment. */
interface Target {
  readonly scheme: string
  /** In lower case, and without a default port. */
  readonly authority: string
  readonly path: string
  /** With its `?`; empty without a query. */
  readonly query: string
  /** Parsed once: a signature may cover many parameters. */
  params?: URLSearchParams
}

/** The components that follow from method and URL (RFC 9421 §2.2). */
const DERIVED: Readonly<Record<string, (target: Target, method: string) => string>> = {
  '@method': (_, method) => method,
  '@target-uri': ({ scheme, authority, path, query }) => `${scheme}://${authority}${path}${query}`,
  '@authority': ({ authority }) => authority,
  '@scheme': ({ scheme }) => scheme,
  '@request-target': ({ path, query }) => path + query,
  '@path': ({ path }) => path,
  '@query': ({ query }) => query || '?',
}

/** Returns whether a signer that knows only method and URL can cover a component. */
export function isDerived(name: string): boolean {
  return Object.hasOwn(DERIVED, name)
}

/** Returns the value of a component that follows from method and URL; undefined for another one. */
export function derivedValue(name: string, target: Target, method: string): string | undefined {
  return isDerived(name) ? DERIVED[name]?.(target, method) : undefined
}

/** The parts of a response that a signature can cover. */
export interface SignedResponse {
  readonly status: number
  readonly headers: HeadersLike
}

/** A component that cannot be part of a signature base. */
export class ComponentError extends Error {}

/**
 * Returns the signature base of a request that has arrived. Takes path and query as they are
 * written, since the server may read `/a/../b` otherwise than the URL parser.
 * @param input The covered components and the parameters, in their order.
 * @throws {ComponentError} for a component that occurs twice, is missing, or is not supported: the
 * parameters `sf`, `bs`, `tr` and `req`; and for a URL without scheme and host, or with credentials.
 */
export function receivedSignatureBase({ method, url, headers }: SignedRequest, input: InnerList): string {
  const [target, fields] = [targetOf(url), new Fields(headers)]
  return baseOf(input, (component) => componentValue(component, fields, target, method))
}

/**
 * Returns the signature base of a response. A component with the parameter `req` is of the request
 * (RFC 9421 §2.4).
 * @throws {ComponentError} as `receivedSignatureBase` does.
 */
export function responseSignatureBase(request: SignedRequest, response: SignedResponse, input: InnerList): string {
  const target = sentTarget(new URL(request.url))
  const [asked, answered] = [new Fields(request.headers), new Fields(response.headers)]
  return baseOf(input, ([name, params]) => {
    if (params.get('req') === true) return componentValue([name, without(params, 'req')], asked, target, request.method)
    if (name === '@status' && params.size === 0) return `${response.status}`
    if (`${name}`.startsWith('@')) throw new ComponentError(`${serializeItem([name, params])} is not of a response`)
    return componentValue([name, params], answered, target, request.method)
  })
}

/** Returns what fetch and undici send: of `https://example.com/a/../b#c`, the path `/b`. */
export function sentTarget({ protocol, host, pathname, href }: URL): Target {
  // `search` has no `?` for an empty query, which is sent with it.
  const query = /^[^?#]*(\?[^#]*)/.exec(href)?.[1] ?? ''
  return { scheme: protocol.slice(0, -1), authority: host, path: pathname, query }
}

function targetOf(url: string): Target {
  const [, scheme = '', written = '', path, query = ''] = /^(https?):\/\/([^/?#\\]*)([^?#]*)(\?[^#]*)?/i.exec(url) ?? []
  // The URL parser would remove credentials and white space.
  const parsed = /[@\s]/.test(written) ? undefined : URL.parse(`${scheme}://${written}`)?.host
  if (!parsed) throw new ComponentError('the URL is not written as scheme, host and path')
  return { scheme: scheme.toLowerCase(), authority: parsed, path: path || '/', query }
}

/**
 * The headers of a message. Parses each dictionary once: a signature may cover many of its members.
 */
class Fields {
  readonly #headers: HeadersLike
  readonly #dictionaries = new Map<string, Dictionary | undefined>()

  constructor(headers: HeadersLike) {
    this.#headers = headers
  }

  value(name: string): string | undefined {
    return fieldValue(this.#headers, name)
  }

  /** Returns one member of a dictionary (RFC 9421 §2.1.2). */
  member(name: string, key: string): string | undefined {
    if (!this.#dictionaries.has(name)) {
      const text = this.value(name)
      this.#dictionaries.set(name, text === undefined ? undefined : strictDictionary(text))
    }
    const member = this.#dictionaries.get(name)?.get(key)
    return member && serializedMember(member)
  }
}

function without<V>(params: ReadonlyMap<string, V>, name: string): Map<string, V> {
  return new Map([...params].filter(([key]) => key !== name))
}

/**
 * How many components a signature may cover. Our choice: each component costs time, even without a
 * valid key.
 */
const MAX_COMPONENTS = 50

function baseOf(input: InnerList, value: (component: Item) => string | undefined): string {
  if (input[0].length > MAX_COMPONENTS)
    throw new ComponentError(`${input[0].length} components are covered; at most ${MAX_COMPONENTS} are read`)
  const lines = new Map<string, string>()
  for (const component of input[0]) {
    const identifier = serializeItem(component)
    if (lines.has(identifier)) throw new ComponentError(`${identifier} is covered twice`)
    lines.set(identifier, baseLine(identifier, value(component)))
  }
  return `${[...lines.values()].join('')}${PARAMS}${serializeInnerList(input)}`
}

/** What the last line of a signature base begins with. */
export const PARAMS = '"@signature-params": '

/**
 * Returns the line of a component.
 * @throws {ComponentError} for a value that is missing, or has a line break.
 */
export function baseLine(identifier: string, value: string | undefined): string {
  if (value === undefined) throw new ComponentError(`the message has no ${identifier}`)
  // It would read as another component (RFC 9421 §2.5).
  if (/[\r\n]/.test(value)) throw new ComponentError(`${identifier} has a line break`)
  return `${identifier}: ${value}\n`
}

/** Returns the last line of a signature base, which is the value of Signature-Input. No other line has breaks. */
export function signedInput(base: string): string {
  return base.slice(base.lastIndexOf('\n') + 1 + PARAMS.length)
}

function componentValue([name, params]: Item, fields: Fields, target: Target, method: string): string | undefined {
  if (typeof name !== 'string') throw new ComponentError('a component is not a string')
  const [param, ...others] = params.keys()
  if (param === undefined) {
    if (isDerived(name)) return derivedValue(name, target, method)
    if (/^[a-z0-9!#$%&'*+.^_`|~-]+$/.test(name)) return fields.value(name)
  }
  const value = params.get(param ?? '')
  if (others.length === 0 && typeof value === 'string') {
    if (param === 'key' && !name.startsWith('@')) return fields.member(name, value)
    if (param === 'name' && name === '@query-param') return queryParam(target, value)
  }
  throw new ComponentError(`${serializeItem([name, params])} is not supported`)
}

/**
 * Returns a parameter of the query that occurs once (RFC 9421 §2.2.8).
 * @param name Encoded: each parameter has one name, so that none is covered twice.
 */
function queryParam(target: Target, name: string): string | undefined {
  let decoded = ''
  try {
    decoded = decodeURIComponent(name)
  } catch {}
  const quoted = `the name ${JSON.stringify(name)} of a query parameter`
  if (formEncoded(decoded) !== name)
    throw new ComponentError(`${quoted} is not percent-encoded UTF-8 (RFC 9421 §2.2.8)`)
  target.params ??= new URLSearchParams(target.query)
  const [value, ...others] = target.params.getAll(decoded)
  if (others.length > 0) throw new ComponentError(`${quoted} occurs ${others.length + 1} times; cover "@query" instead`)
  return value && formEncoded(value)
}

/**
 * Encodes with the percent-encode set of forms (URL Standard), and a space as `%20`.
 * `encodeURIComponent` leaves five more characters as they are.
 */
function formEncoded(text: string): string {
  return encodeURIComponent(text).replace(/[!'()~]/g, (one) => `%${one.charCodeAt(0).toString(16).toUpperCase()}`)
}
