// Robots.txt by FTP (RFC 959): anonymous, binary, passive, one file. basic-ftp speaks it, if the caller has installed it.
import { connect, type Socket, type TcpNetConnectOpts } from 'node:net'
import { PassThrough } from 'node:stream'
import type { Body, Failure, Reply } from '@politely/core'
import type * as BasicFtp from 'basic-ftp'
import { readBody } from './body.ts'
import type { Deadline } from './deadline.ts'
import { failureOf } from './failure.ts'
import { bareHost, type NetworkGuard, type Reach } from './network-guard.ts'
import {
  MAX_HEADER_BYTES,
  type RobotsRequest,
  type RobotsTransport,
  type TransportSettings,
} from './robots-transport.ts'

const DEFAULT_PORT = 21

export class FtpTransport implements RobotsTransport {
  readonly #settings: TransportSettings
  readonly #guard: NetworkGuard

  constructor(settings: TransportSettings, guard: NetworkGuard) {
    this.#settings = settings
    this.#guard = guard
  }

  async send({ url, reach }: RobotsRequest, deadline: Deadline): Promise<Reply> {
    const library = await loadLibrary()
    if ('kind' in library) return library
    const sockets: Socket[] = []
    const end = () => {
      for (const socket of sockets) socket.destroy()
    }
    const forget = deadline.onOver(end)
    const client = new library.Client(0) // the deadline is the only clock
    let phase: 'request' | 'body' = 'request'
    try {
      deadline.signal.throwIfAborted()
      const target = new URL(url)
      const path = pathOf(target)
      const control = await this.#connect(target, reach, sockets)
      await greeting(client.ftp, control, library)
      await client.login('anonymous', this.#settings.userAgent) // FTP has no other place to say who asks
      await client.send('TYPE I')
      client.prepareTransfer = async (ftp) => {
        const answer = await enterPassiveMode(ftp, library)
        // Where the server says that its data is may be anywhere; it is where the server is.
        ftp.dataSocket = await connected({ host: control.remoteAddress ?? '', port: portOf(answer) }, sockets)
        phase = 'body'
        return answer
      }
      return { kind: 'response', status: 200, headers: {}, body: await this.#retrieve(client, path) }
    } catch (error) {
      if (deadline.isOver) return failureOf(error, phase, deadline)
      if (error instanceof library.FTPError) return { kind: 'response', status: statusOf(error.code), headers: {} }
      return failureOf(error, phase, deadline)
    } finally {
      forget()
      client.close()
      end()
    }
  }

  /** The control connection, before a byte is sent on it. */
  async #connect(url: URL, reach: Reach, sockets: Socket[]): Promise<Socket> {
    const host = bareHost(url.hostname)
    const guard = reach === 'public' ? this.#guard : undefined
    const literal = guard?.refusalOfHost(host)
    if (literal !== undefined) throw literal
    const lookup = this.#guard.lookupFor(reach)
    const socket = await connected({ host, port: Number(url.port || DEFAULT_PORT), lookup }, sockets)
    const refusal = guard?.refusalOfSocket(host, socket)
    if (refusal !== undefined) throw refusal
    return socket
  }

  async #retrieve(client: BasicFtp.Client, path: string): Promise<Body> {
    const file = new PassThrough()
    const transfer = client.downloadTo(file, path)
    transfer.catch(() => undefined) // of a file that is cut nobody waits for the end
    const body = await readBody(file, {}, this.#settings.maxBodyBytes)
    if (!body.truncated) await transfer // which tells a whole file from one that ended early
    return body
  }
}

/** What an FTP server does wrong, or a URL that FTP cannot ask for. `failure.ts` knows the codes, which outlive the client's wrapping. */
class FtpProblem extends Error {
  override readonly name = 'FtpProblem'
  readonly code: string
  constructor(problem: 'CLOSED' | 'TOO_LARGE' | 'MALFORMED', message: string) {
    super(message)
    this.code = `ERR_POLITELY_FTP_${problem}`
  }
}

async function loadLibrary(): Promise<typeof BasicFtp | Failure> {
  try {
    return await import('basic-ftp')
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error)
    return {
      kind: 'failure',
      reason: 'no-transport',
      detail: `ftp: needs the package basic-ftp; npm install basic-ftp (${why})`,
    }
  }
}

/**
 * What follows the host's slash, relative to where an anonymous user arrives (RFC 1738 §3.2.2), as bytes.
 * @throws {FtpProblem} where it would become another command.
 */
function pathOf({ pathname, search }: URL): string {
  const encoded = pathname.slice(1) + search // FTP has no queries: a `?` is a letter of the name
  const path = encoded.replace(/%([0-9a-f]{2})/gi, (_, digits: string) =>
    String.fromCharCode(Number.parseInt(digits, 16)),
  )
  if (/[\r\n\0]/.test(path))
    throw new FtpProblem('MALFORMED', 'the path holds a line end or NUL, which no FTP command may')
  return path === '' ? '/' : path
}

/** A connection that is ended with the others, also while it is not yet made. */
function connected(options: TcpNetConnectOpts, sockets: Socket[]): Promise<Socket> {
  const { promise, resolve, reject } = Promise.withResolvers<Socket>()
  const socket = connect(options, () => resolve(socket))
  sockets.push(socket)
  socket.on('error', reject)
  socket.once('close', () => reject(new FtpProblem('CLOSED', 'the connection was closed')))
  return promise
}

/** Hands the control connection to the client, and waits for the server's first words. */
function greeting(ftp: BasicFtp.FTPContext, control: Socket, { FTPError }: typeof BasicFtp): Promise<void> {
  ftp.encoding = 'latin1' // a path is bytes
  // Before the client listens, which would have no names for these.
  control.once('end', () => ftp.closeWithError(new FtpProblem('CLOSED', 'the server closed the connection')))
  control.on('data', () => {
    if (control.bytesRead > MAX_HEADER_BYTES)
      ftp.closeWithError(new FtpProblem('TOO_LARGE', 'the server says too much'))
  })
  ftp.socket = control
  return ftp.handle(undefined, (answer, task) => {
    if (answer instanceof Error) task.reject(answer)
    else if (answer.code >= 200 && answer.code <= 299) task.resolve(undefined)
    else task.reject(new FTPError(answer)) // 120 says that it will be ready in some minutes
  })
}

/** EPSV (RFC 2428), which is for IPv4 and IPv6; PASV for servers that are older. */
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

/** `229 … (|||6446|)`, or the last two numbers of `227 … (192,0,2,1,25,46)`. */
function portOf({ code, message }: BasicFtp.FTPResponse): number {
  const [, , extended = ''] = /([|!])\1\1(\d{1,5})\1/.exec(message) ?? []
  const [, high = '', low = ''] = /\d{1,3},\d{1,3},\d{1,3},\d{1,3},(\d{1,3}),(\d{1,3})/.exec(message) ?? []
  const port = code === 229 ? Number(extended) : Number(high) * 256 + Number(low)
  if (port > 0 && port <= 65_535) return port
  throw new FtpProblem('MALFORMED', 'the server does not say where its data is')
}

/** The status of HTTP that says the same. RFC 959 §4.2; the RFC for robots.txt knows those of HTTP only. */
function statusOf(code: number): number {
  if (code === 550 || code === 551 || code === 553) return 404
  if (code === 530 || code === 532 || code === 332) return 401 // anonymous is not welcome
  if (code < 500) return 503 // 4xx is transient, 120 too
  return 500
}
