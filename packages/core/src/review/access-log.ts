// Finds the URLs in the lines of an access log.

/** The request line in quotes, as Apache, nginx, Caddy and most other servers log it. */
export const REQUEST: RegExp = /"[A-Z]{3,10} (\S+)(?: HTTP\/[\d.]+)?"/

/** Whether a line is of an access log, and not a URL. */
export function isOfAccessLog(line: string): boolean {
  return /^#(?:Software|Version|Fields): /.test(line) || REQUEST.test(line)
}

/** The same without quotes, as a field of a JSON log. */
const REQUEST_ONLY = /^[A-Z]{3,10} (\S+)(?: HTTP\/[\d.]+)?$/

/** Returns the URL or the path of the request in a line of a log, or in a request line. */
export function requestIn(line: string): string | undefined {
  const target = (REQUEST.exec(line) ?? REQUEST_ONLY.exec(line))?.[1]
  // nginx writes other bytes than printable ASCII as \xHH.
  return target?.replace(/\\x([\dA-Fa-f]{2})/g, '%$1')
}

/** A line of a log that is about no request. */
export const COMMENT: unique symbol = Symbol('comment')

/**
 * Reads the lines of one access log. Knows the Common and Combined Log Format, also with a host in
 * front or with more fields, and the W3C Extended Log File Format of IIS and CDNs, whose
 * `#Fields` line says where the URL is.
 */
export class AccessLog {
  #fields: readonly string[] | undefined

  /** The fields that the last `#Fields` line names. */
  get fields(): readonly string[] | undefined {
    return this.#fields
  }

  /** Returns undefined for a line without a request. */
  urlOf(line: string): string | typeof COMMENT | undefined {
    if (line.startsWith('#')) {
      if (line.startsWith('#Fields:')) this.#fields = line.slice('#Fields:'.length).trim().split(/\s+/)
      return COMMENT
    }
    return this.#fields === undefined ? requestIn(line) : fromFields(line, this.#fields)
  }
}

function fromFields(line: string, fields: readonly string[]): string | undefined {
  const cells = line.split(line.includes('\t') ? '\t' : ' ')
  const path = cells[fields.indexOf('cs-uri-stem')] ?? cells[fields.indexOf('cs-uri')]
  const query = cells[fields.indexOf('cs-uri-query')]
  return query === undefined || query === '-' || query === '' ? path : `${path}?${query}`
}
