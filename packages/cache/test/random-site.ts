// A site on loopback that answers as it is told, byte by byte: with any status and any reason phrase,
// and with bodies that are cut.
import { once } from 'node:events'
import { type AddressInfo, createServer, type Socket } from 'node:net'
import { brotliCompressSync, constants, deflateSync, gzipSync } from 'node:zlib'
import type { Fields, Reply } from './rfc9111-model.ts'

/** How the site answers, if it is asked. */
export interface Answer {
  /** Undefined: it closes the connection. */
  readonly status: number | undefined
  readonly phrase?: string
  /** Without validators. The dates are relative to the time of the answer: seconds. */
  readonly headers: Fields
  readonly dates: Readonly<Record<string, number>>
  readonly etag?: 'strong' | 'weak' | undefined
  readonly hasLastModified: boolean
  /** Whether it sends the same page as the last time. */
  readonly isUnchanged: boolean
  /** The headers of a 304, which it sends for validators. Undefined: it sends the page again. */
  readonly confirm?:
    | {
        readonly headers: Fields
        readonly validators: 'same' | 'weak' | 'none' | 'other' | 'other-weak' | 'other-date'
      }
    | undefined
  readonly coding?: 'gzip' | 'br' | 'deflate' | undefined
  readonly framing: 'length' | 'chunks' | 'close'
  /** Whether the message breaks off, or only the coding in it. */
  readonly cut?: 'message' | 'coding' | undefined
  /** How long it takes. Milliseconds of the clock of the test. */
  readonly takesMs: number
}

/** What the site was asked, and what it has sent. */
export interface Exchange extends Reply {
  readonly url: string
  readonly method: string
  readonly asked: Fields
  /** Undefined: the connection was closed. */
  readonly serial: string | undefined
  readonly body: string
  readonly isWhole: boolean
}

interface Page {
  readonly text: string
  readonly etag: string
  readonly modifiedAt: number
}

const ENCODE = {
  gzip: gzipSync,
  deflate: deflateSync,
  br: (text: string) => brotliCompressSync(text, { params: { [constants.BROTLI_PARAM_QUALITY]: 1 } }),
}

export class RandomSite {
  now = 0
  answer: Answer | undefined
  /** All that was exchanged since it was emptied. */
  exchanges: Exchange[] = []
  readonly origin: string
  readonly close: () => void
  /** The last page of each URL. */
  readonly #pages: Map<string, Page> = new Map()
  #serial = 0

  private constructor(origin: string, close: () => void) {
    this.origin = origin
    this.close = close
  }

  static async open(): Promise<RandomSite> {
    const sockets = new Set<Socket>()
    let site: RandomSite | undefined
    const server = createServer((socket) => {
      sockets.add(socket)
      socket.on('close', () => sockets.delete(socket)).on('error', () => undefined)
      let head = ''
      socket.on('data', (bytes) => {
        head += bytes.toString('latin1')
        if (!head.endsWith('\r\n\r\n')) return // no request has a body
        site?.respond(socket, head)
        head = ''
      })
    })
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    site = new RandomSite(`http://127.0.0.1:${(server.address() as AddressInfo).port}`, () => {
      server.close()
      for (const socket of sockets) socket.destroy()
    })
    return site
  }

  private respond(socket: Socket, head: string): void {
    const [line = '', ...lines] = head.trimEnd().split('\r\n')
    const [method = '', url = ''] = line.split(' ')
    const { answer } = this
    if (url === '/robots.txt' || answer === undefined) {
      socket.write('HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n')
      return
    }
    const asked = Object.fromEntries(lines.map((each) => /^(.*?): ?(.*)$/.exec(each.toLowerCase())?.slice(1) ?? []))
    const requestedAt = this.now
    this.now += answer.takesMs
    const receivedAt = this.now
    const exchange = { url, method, asked, requestedAt, receivedAt }
    const dates = Object.entries(answer.dates).map(([name, s]) => [name, new Date(receivedAt + s * 1000).toUTCString()])
    if (answer.status === undefined) {
      this.exchanges.push({ ...exchange, status: 0, headers: {}, serial: undefined, body: '', isWhole: false })
      socket.destroy()
      return
    }
    const conditions = { etag: asked['if-none-match'], date: lines.find((each) => /^if-modified-since:/i.test(each)) }
    const isConditional = conditions.etag !== undefined || conditions.date !== undefined
    const serial = String(++this.#serial)
    if (answer.confirm !== undefined && isConditional && (method === 'GET' || method === 'HEAD')) {
      const own = lines.find((each) => /^if-none-match:/i.test(each))?.slice(15)
      const since = conditions.date?.slice(19)
      const headers = {
        ...answer.confirm.headers,
        ...Object.fromEntries(dates),
        ...validatorsOf(answer.confirm.validators, own, since, serial),
        'x-confirmed': serial,
      }
      this.exchanges.push({ ...exchange, status: 304, headers, serial: undefined, body: '', isWhole: true })
      socket.write(headOf(304, 'Not Modified', headers))
      return
    }

    const { status, phrase = 'OK', coding, framing, cut } = answer
    const old = answer.isUnchanged ? this.#pages.get(url) : undefined
    const page = old ?? {
      text: `<p>${serial} of ${url}${' and more'.repeat(20)} ${serial}</p>`,
      etag: `"${serial}"`,
      modifiedAt: Math.floor(receivedAt / 1000) * 1000 - 1e9 + this.#serial * 1000,
    }
    this.#pages.set(url, page)
    const isNull = status === 204 || status === 304 || status === 205
    const text = isNull ? '' : page.text
    const coded = coding === undefined || isNull ? Buffer.from(text) : ENCODE[coding](text)
    const bytes = cut === 'coding' && coding !== undefined ? coded.subarray(0, -1 - (this.#serial % 20)) : coded
    const isWhole = isNull || method === 'HEAD' || (bytes === coded && cut !== 'message')
    const headers: Fields = {
      ...answer.headers,
      ...Object.fromEntries(dates),
      ...(answer.etag && { etag: answer.etag === 'weak' ? `W/${page.etag}` : page.etag }),
      ...(answer.hasLastModified && { 'last-modified': new Date(page.modifiedAt).toUTCString() }),
      ...(coding && !isNull && { 'content-encoding': coding }),
      ...(framing === 'length' && status !== 204 && status !== 304 && { 'content-length': String(bytes.length) }),
      'x-serial': serial,
    }
    this.exchanges.push({ ...exchange, status, headers, serial, body: text, isWhole })
    if (isNull || method === 'HEAD') {
      const isLast = status === 205 && framing !== 'length' && method !== 'HEAD'
      socket.write(headOf(status, phrase, isLast ? { ...headers, connection: 'close' } : headers))
      if (isLast) socket.end()
      return
    }
    const connection: Fields =
      framing === 'chunks' ? { 'transfer-encoding': 'chunked' } : framing === 'close' ? { connection: 'close' } : {}
    socket.write(headOf(status, phrase, { ...headers, ...connection }))
    const end = cut === 'message' ? Math.floor(bytes.length / 2) : bytes.length
    const half = Math.floor(end / 2)
    const chunk = (part: Uint8Array) =>
      framing === 'chunks' ? [`${part.length.toString(16)}\r\n`, part, '\r\n'] : [part]
    for (const part of [bytes.subarray(0, half), bytes.subarray(half, end)])
      if (part.length > 0) for (const piece of chunk(part)) socket.write(piece)
    if (cut === 'message' && framing === 'close') socket.resetAndDestroy()
    else if (cut === 'message' || framing === 'close') socket.end()
    else if (framing === 'chunks') socket.write('0\r\n\r\n')
  }
}

function headOf(status: number, phrase: string, headers: Fields): string {
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`)
  return `HTTP/1.1 ${status} ${phrase}\r\n${lines.join('')}\r\n`
}

function validatorsOf(
  kind: NonNullable<Answer['confirm']>['validators'],
  etag: string | undefined,
  date: string | undefined,
  serial: string,
): Fields {
  const own = { ...(etag !== undefined && { etag }), ...(date !== undefined && { 'last-modified': date }) }
  return {
    same: own,
    weak: { ...own, ...(etag !== undefined && { etag: `W/${etag.replace(/^W\//, '')}` }) },
    none: {},
    other: { etag: `"${serial}"` },
    'other-weak': { etag: `W/"${serial}"` },
    'other-date': { 'last-modified': new Date(Number(serial) * 1000).toUTCString() },
  }[kind]
}
