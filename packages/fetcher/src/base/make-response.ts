// Makes a Response for any head that a server can send.
//
// The constructor refuses statuses above 599, a body for 204, 205 and 304, and a reason phrase with
// characters outside of Latin-1. Servers send all of these, and fetch returns them. A client should
// ignore the phrase (RFC 9112 §4), so a page must not be lost because of it.

/** The head of a response. A Response is one. */
interface ResponseHead {
  /** From 200 to 999. */
  readonly status: number
  readonly statusText?: string | undefined
  readonly headers?: ConstructorParameters<typeof Headers>[0]
  readonly url?: string | undefined
  readonly redirected?: boolean | undefined
  readonly type?: Response['type'] | undefined
}

type BodyInit = ConstructorParameters<typeof Response>[0]

/** Responses with these statuses have no body (WHATWG Fetch §2.2.3). */
export const NULL_BODY: ReadonlySet<number> = new Set([204, 205, 304])

/** A reason phrase that the constructor accepts. */
const PHRASE = /^[\t\x20-\x7e\x80-\xff]*$/

/**
 * Returns a response with this head. `status`, `ok`, `statusText`, `url`, `redirected` and `type` are
 * those of the head, in clones too. Ignores a body that the status does not allow.
 * @param ResponseClass The class of the result, such as the Response of another version of undici.
 */
export function makeResponse(
  body: BodyInit,
  head: ResponseHead,
  ResponseClass: typeof globalThis.Response = globalThis.Response,
): globalThis.Response {
  const { status, statusText = '', headers } = head
  const init = {
    status: status <= 599 ? status : 200,
    statusText: PHRASE.test(statusText) ? statusText : '',
    ...(headers !== undefined && { headers }),
  }
  return withHead(new ResponseClass(NULL_BODY.has(status) ? null : body, init), head)
}

/** Marks a response as one that a redirect led to, and its clones. */
export function markRedirected(response: object): void {
  const clone = { value: cloneWithHead, configurable: true, writable: true }
  const redirected = { value: true, configurable: true }
  Object.defineProperties(response, 'clone' in response ? { redirected, clone } : { redirected })
}

function withHead(response: Response, head: ResponseHead): Response {
  const { status, statusText = '', url = '', redirected = false, type } = head
  const own: PropertyDescriptorMap = { url: { value: url, configurable: true } }
  if (response.status !== status) {
    own.status = { value: status, configurable: true }
    own.ok = { value: status <= 299, configurable: true }
  }
  if (response.statusText !== statusText) own.statusText = { value: statusText, configurable: true }
  if (redirected) own.redirected = { value: true, configurable: true }
  if (type !== undefined && type !== response.type) own.type = { value: type, configurable: true }
  own.clone = { value: cloneWithHead, configurable: true, writable: true }
  return Object.defineProperties(response, own)
}

/** A method of responses. The clone of the platform has lost what is not in its constructor. */
function cloneWithHead(this: Response): Response {
  const { clone } = Object.getPrototypeOf(this) as Response
  return withHead(clone.call(this), this)
}
