// Reads who asked for what in the lines of an access log: the URL, the User-Agent, the address of the
// client and the host.
import { AccessLog, type COMMENT, REQUEST } from '../access-log.ts'
import { FieldNames, JsonUrls, parsed } from './json-urls.ts'

/** One request of a log. What the line does not have is undefined. */
export interface LogRequest {
  /** The URL or the path, as `match` reads it. */
  readonly url: string
  readonly userAgent: string | undefined
  /** The IP address of the client, or of the proxy in front of the server. */
  readonly address: string | undefined
  /** The host of the request, with its port if the log has it. */
  readonly host: string | undefined
}

/**
 * Reads the lines of one log, in the forms that `AccessLog` knows and in JSON with one object on each
 * line, as nginx, Caddy, Traefik and CDNs write it. A field of JSON may have a line of the Combined Log
 * Format, as Docker writes it.
 */
export class LogRequests {
  readonly #log = new AccessLog()
  readonly #json: JsonUrls | undefined
  readonly #names = new FieldNames()
  /** The kind of each field, by its name and the name of the object around it. */
  readonly #kinds = new Map<string, Kind | undefined>()

  constructor(format: 'log' | 'ndjson') {
    this.#json = format === 'ndjson' ? new JsonUrls(undefined) : undefined
  }

  /** Returns undefined for a line without a request. */
  read(line: string): LogRequest | typeof COMMENT | undefined {
    return this.#json === undefined ? this.#ofLine(line) : this.#ofJson(this.#json, line)
  }

  #ofLine(line: string): LogRequest | typeof COMMENT | undefined {
    const url = this.#log.urlOf(line)
    if (typeof url !== 'string') return url
    const { fields } = this.#log
    if (fields !== undefined) return { url, ...fromFields(line, fields) }
    const request = REQUEST.exec(line)
    return { url, ...ofCombined(line, (request?.index ?? 0) + (request?.[0].length ?? 0)) }
  }

  #ofJson(json: JsonUrls, line: string): LogRequest | typeof COMMENT | undefined {
    const value = parsed(line)
    const url = json.urlOf(value)
    if (url === undefined || typeof value !== 'object' || value === null) return undefined
    const found: Found = {}
    this.#collect(value, '', found, 4)
    if (found.userAgent === undefined && found.line !== undefined) return this.#ofLine(found.line)
    return { url, userAgent: found.userAgent, address: found.address, host: found.host }
  }

  /** Adds the first text of each kind in an object and the objects in it. Caddy has lists of one text. */
  #collect(value: object, around: string, found: Found, depth: number): void {
    for (const [key, field] of Object.entries(value)) {
      const text: unknown = Array.isArray(field) ? field[0] : field
      if (typeof text === 'string') {
        const kind = this.#kindOf(around, key)
        if (kind !== undefined) found[kind] ??= text
      } else if (typeof text === 'object' && text !== null && depth > 0)
        this.#collect(text, this.#names.of(key), found, depth - 1)
    }
  }

  #kindOf(around: string, key: string): Kind | undefined {
    const id = `${around} ${key}`
    if (this.#kinds.has(id)) return this.#kinds.get(id)
    const name = this.#names.of(key)
    const kind = (Object.keys(FIELDS) as Kind[]).find(
      (one) => FIELDS[one].test(name) || FIELDS[one].test(around + name),
    )
    if (this.#kinds.size < 1000) this.#kinds.set(id, kind)
    return kind
  }
}

/** The names of fields in JSON, only with letters, and with the names of the objects around them. */
const FIELDS = {
  userAgent: /useragent(?:original|string)?$|^agent$/,
  address:
    /^(?:request|httprequest|source|client)?(?:remote(?:addr|address|ip|host)|client(?:addr|address|ip|host)|ip)$/,
  host: /^(?:request|http|httprequest|clientrequest|server|url)?(?:host|domain|servername)$/,
  line: /^(?:log|message|textpayload)$/,
} as const

type Kind = keyof typeof FIELDS
type Found = { [Key in Kind]?: string }

type Client = Omit<LogRequest, 'url'>

/** What stands before `[date]` in the Common Log Format, perhaps with a host in front. */
const BEFORE_DATE = /^(\S+) (\S+) \S+(?: |$)/

/**
 * Reads the rest of a line in the Combined Log Format. The User-Agent is the second text in quotes, or
 * the first if no other follows at once, as in the logs of AWS load balancers.
 *
 * @param end The end of the request in quotes.
 */
function ofCombined(line: string, end: number): Client {
  const first = quotedAfter(line, end)
  const second = first !== undefined && line.startsWith(' "', first.end) ? quotedAfter(line, first.end) : undefined
  const userAgent = (second ?? first)?.text
  const [, one = '', two = ''] = BEFORE_DATE.exec(line) ?? []
  const isWithHost = !isAddress(one) && isAddress(two)
  return { userAgent, address: isWithHost ? two : one, host: isWithHost ? one : undefined }
}

/** Whether a text may be an IP address: a quick look, which does not validate it. */
function isAddress(text: string): boolean {
  return /^(?:\d{1,3}(?:\.\d{1,3}){3}|[\dA-Fa-f]*:[\dA-Fa-f]*:[\dA-Fa-f:.]*)$/.test(text)
}

/** Returns the next text in quotes, without its escapes. */
function quotedAfter(line: string, from: number): { readonly text: string; readonly end: number } | undefined {
  const start = line.indexOf('"', from)
  if (start < 0) return undefined
  let end = start
  do end = line.indexOf('"', end + 1)
  while (end > 0 && line[end - 1] === '\\' && line[end - 2] !== '\\')
  if (end < 0) return undefined
  const text = line.slice(start + 1, end)
  return { text: text.includes('\\') ? withoutEscapes(text) : text, end: end + 1 }
}

/** Apache writes `\"`, nginx `\x22`. */
function withoutEscapes(text: string): string {
  return text.replace(/\\(?:x([\dA-Fa-f]{2})|(.))/g, (_, hex: string | undefined, character: string) =>
    hex === undefined ? character : String.fromCharCode(Number.parseInt(hex, 16)),
  )
}

/** W3C Extended Log File Format. IIS writes `+` for a space in a field, CloudFront `%20`. */
function fromFields(line: string, fields: readonly string[]): Client {
  const cells = line.split(line.includes('\t') ? '\t' : ' ')
  const cellOf = (...names: readonly string[]) => {
    const cell = cells[fields.findIndex((field) => names.includes(field.toLowerCase()))]
    return cell === '-' ? undefined : cell
  }
  const agent = cellOf('cs(user-agent)')
  return {
    userAgent: agent?.replaceAll('+', ' ').replace(/%(?:25)?20/g, ' '),
    address: cellOf('c-ip'),
    host: cellOf('cs-host', 'cs(host)', 'x-host-header'),
  }
}
