// Fetches robots.txt over FTP (RFC 959): anonymous login, binary type, passive mode. Needs the
// optional package basic-ftp.

import { connect, type Socket, type TcpNetConnectOpts } from 'node:net'
import { PassThrough } from 'node:stream'
import type { Body } from '@politely/core/engine'
import type { Failure, Reply } from '@politely/core/internal'
import type * as BasicFtp from 'basic-ftp'
import { messageOf } from '../../base/message-of.ts'
import { type Reach, withoutBrackets } from '../../network/network-guard.ts'
import type { ClientSettings } from '../../options/options.ts'
import { readBody } from '../body.ts'
import type { Deadline } from '../deadline.ts'
import { failure, failureOf, TransferError } from '../failure.ts'
import { MAX_HEADER_BYTES, type RobotsTransport, type TransportRequest } from '../robots-transport.ts'

const DEFAULT_PORT = 21

/**
 * What a reply refers to: USER and PASS, RETR before the transfer has begun, the transfer, or
 * anything else.
 */
type Phase = 'login' | 'retrieve' | 'transfer' | 'other'

export class FtpTransport implements RobotsTransport {
  readonly #settings: ClientSettings

  constructor(settings: ClientSettings) {
    this.#settings = settings
  }

  async send({ url, reach }: TransportRequest, deadline: Deadline): Promise<Reply> {
    const library = await loadLibrary()
    if ('kind' in library) return library
    const sockets: Socket[] = []
    const destroySockets = () => {
      for (const socket of sockets) socket.destroy()
    }
    const unlisten = deadline.onOver(destroySockets)
    const client = new library.Client(0) // the deadline is the only timeout
    let phase = 'other' as Phase
    try {
      deadline.signal.throwIfAborted()
      const target = new URL(url)
      const path = pathOf(target)
      const control = await this.#connect(target, reach, sockets)
      const host = control.remoteAddress // it is undefined after the server has closed the connection
      if (host === undefined) throw new TransferError('FTP_CLOSED', 'the FTP server closed the connection')
      await receiveGreeting(client.ftp, control, library)
      phase = 'login'
      await client.login('anonymous', this.#settings.userAgent) // the password is FTP's only place for a User-Agent
      phase = 'other'
      await client.send('TYPE I')
      client.prepareTransfer = async (ftp) => {
        const reply = await enterPassiveMode(ftp, library)
        // The host in the reply is ignored, since it may be any host. The data connection goes to
        // the server itself.
        ftp.dataSocket = await connected({ host, port: portOf(reply) }, sockets)
        phase = 'retrieve' // basic-ftp sends RETR next
        return reply
      }
      const file = new PassThrough()
      file.once('pipe', () => {
        phase = 'transfer'
      })
      return { kind: 'response', status: 200, headers: {}, body: await this.#retrieve(client, path, file) }
    } catch (error) {
      if (error instanceof library.FTPError && !deadline.isOver) return replyTo(error, phase)
      return failureOf(error, phase === 'transfer' ? 'body' : 'request', deadline)
    } finally {
      unlisten()
      client.close()
      destroySockets()
    }
  }

  /** Opens the control connection. The guard checks it before a byte is sent. */
  async #connect(url: URL, reach: Reach, sockets: Socket[]): Promise<Socket> {
    const host = withoutBrackets(url.hostname)
    const guard = reach === 'public' ? this.#settings.guard : undefined
    const literal = guard?.refusalOfHost(host)
    if (literal !== undefined) throw literal
    const lookup = this.#settings.guard.lookupFor(reach)
    const socket = await connected({ host, port: Number(url.port || DEFAULT_PORT), lookup }, sockets)
    const refusal = guard?.refusalOfSocket(host, socket)
    if (refusal !== undefined) throw refusal
    return socket
  }

  /**
   * @param file Receives the file. basic-ftp pipes the data connection into it after a reply of 125
   * or 150.
   */
  async #retrieve(client: BasicFtp.Client, path: string, file: PassThrough): Promise<Body> {
    const transfer = client.downloadTo(file, path)
    transfer.catch(() => undefined) // not awaited if the file exceeds the limit
    const body = await readBody(file, {}, this.#settings.maxBodyBytes)
    if (!body.truncated) await transfer // rejects if the file is incomplete
    return body
  }
}

async function loadLibrary(): Promise<typeof BasicFtp | Failure> {
  try {
    return await import('basic-ftp')
  } catch (error) {
    return failure('no-transport', `ftp: needs the package basic-ftp; npm install basic-ftp (${messageOf(error)})`)
  }
}

/**
 * Returns the path after the host's slash, as bytes. It is relative to the directory in which an
 * anonymous login starts (RFC 1738 §3.2.2).
 * @throws {TransferError} if the path contains a line end or NUL, which could start another
 * command.
 */
function pathOf({ pathname, search }: URL): string {
  const encoded = pathname.slice(1) + search // FTP has no queries; a `?` is part of the name
  const path = encoded.replace(/%([0-9a-f]{2})/gi, (_, digits: string) =>
    String.fromCharCode(Number.parseInt(digits, 16)),
  )
  if (/[\r\n\0]/.test(path))
    throw new TransferError(
      'FTP_MALFORMED',
      'the path contains a line end or NUL, which an FTP command must not contain',
    )
  return path === '' ? '/' : path
}

/**
 * Connects a socket. Adds it to `sockets` at once, so that it can be destroyed while it connects.
 */
function connected(options: TcpNetConnectOpts, sockets: Socket[]): Promise<Socket> {
  const { promise, resolve, reject } = Promise.withResolvers<Socket>()
  const socket = connect(options, () => resolve(socket))
  sockets.push(socket)
  socket.on('error', reject)
  socket.once('close', () => reject(new TransferError('FTP_CLOSED', 'the connection was closed')))
  return promise
}

/** Passes the control connection to basic-ftp, and waits for the server's greeting. */
function receiveGreeting(ftp: BasicFtp.FTPContext, control: Socket, { FTPError }: typeof BasicFtp): Promise<void> {
  ftp.encoding = 'latin1' // a path is bytes
  // These listeners run before the listeners of basic-ftp, which would report errors without a
  // code.
  control.once('end', () => ftp.closeWithError(new TransferError('FTP_CLOSED', 'the server closed the connection')))
  control.on('data', () => {
    if (control.bytesRead > MAX_HEADER_BYTES)
      ftp.closeWithError(new TransferError('FTP_TOO_LARGE', 'the replies of the server are too long'))
  })
  ftp.socket = control
  return ftp.handle(undefined, (reply, task) => {
    if (reply instanceof Error) task.reject(reply)
    else if (reply.code >= 200 && reply.code <= 299) task.resolve(undefined)
    else task.reject(new FTPError(reply)) // such as 120: ready in some minutes
  })
}

/**
 * Sends EPSV (RFC 2428), which works for IPv4 and IPv6; then PASV to servers that do not know EPSV.
 */
async function enterPassiveMode(
  ftp: BasicFtp.FTPContext,
  { FTPError }: typeof BasicFtp,
): Promise<BasicFtp.FTPResponse> {
  try {
    return await ftp.request('EPSV')
  } catch (error) {
    if (error instanceof FTPError && error.code >= 500) return ftp.request('PASV')
    throw error
  }
}

/**
 * Parses the port of the data connection: `229 … (|||6446|)`, or the last two numbers of
 * `227 … (192,0,2,1,25,46)`.
 */
function portOf({ code, message }: BasicFtp.FTPResponse): number {
  const [, , extended = ''] = /([|!])\1\1(\d{1,5})\1/.exec(message) ?? []
  const [, high = '', low = ''] = /\d{1,3},\d{1,3},\d{1,3},\d{1,3},(\d{1,3}),(\d{1,3})/.exec(message) ?? []
  const port = code === 229 ? Number(extended) : Number(high) * 256 + Number(low)
  if (port > 0 && port <= 65_535) return port
  throw new TransferError('FTP_MALFORMED', 'the reply to EPSV or PASV contains no port')
}

/**
 * Converts a negative reply of the server. Once the transfer has begun, the file exists, and a part
 * of it may be missing.
 */
function replyTo({ code, message }: BasicFtp.FTPError, phase: Phase): Reply {
  if (phase === 'transfer') return failure('truncated', message)
  return { kind: 'response', status: statusOf(code, message, phase), headers: {} }
}

/**
 * Maps a reply code to the HTTP status with the same meaning, since RFC 9309 defines only HTTP
 * statuses. RFC 959 §4.2. Servers also send these codes for reasons that have nothing to do with
 * the file or the login, such as 550 to PASV, or 530 when they have too many clients.
 */
function statusOf(code: number, message: string, phase: Phase): number {
  if (phase === 'retrieve' && (code === 550 || code === 551 || code === 553)) return 404
  if (phase === 'login' && code === 530) return refusesAnonymous(message) ? 401 : 503
  if (code < 500) return 503 // 332, and what is temporary: 4xx and 120
  return 500
}

/**
 * Returns whether a reply refuses every anonymous login, as in `530 Sorry, no anonymous users`. It
 * must consist of known words: another word may limit the refusal, such as "until noon". Our
 * choice.
 */
function refusesAnonymous(message: string): boolean {
  const text = message.toLowerCase().replaceAll(/^\d{3}[ -]/gm, '')
  const words = text.split(/[\s.,:;!()-]+/).filter((word) => word !== '')
  return words.every((word) => KNOWN_WORDS.has(word)) && NO_ANONYMOUS.test(words.join(' '))
}

const NO_ANONYMOUS =
  /\b(?:no|not (?:allow|permit|accept|support)) anonymous\b|\banonymous (?:(?:ftp|users?|access|logins?|is|are) )*(?:not (?:allowed|permitted|accepted|supported|enabled)|disabled|forbidden)\b/
const KNOWN_WORDS: ReadonlySet<string> = new Set(
  `no not anonymous disabled forbidden sorry a an the this is are we do does on to here private system server site ftp user users
  access login logins allow allowed permit permitted accept accepted support supported enabled`.split(/\s+/),
)
