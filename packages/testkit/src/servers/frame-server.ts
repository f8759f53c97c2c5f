// An HTTP/2 server that sends raw frames (RFC 9113 §4). It can end a response in ways that
// node:http2 does not offer.
import type { AddressInfo, Socket } from 'node:net'
import { createServer, type TLSSocket } from 'node:tls'
import type { Certificate } from './self-signed.ts'

/** Responds to one request. */
export type RespondWithFrames = (stream: FrameStream) => void

export interface FrameStream {
  readonly id: number
  readonly tls: TLSSocket
  /** The TCP connection under TLS. */
  readonly socket: Socket
  /**
   * Calls `then` when the client has read all frames that were sent: it has acknowledged a PING.
   */
  whenRead(then: () => void): void
}

export interface FrameServer {
  readonly port: number
  close(): Promise<void>
}

const TYPES = { data: 0, headers: 1, resetStream: 3, settings: 4, ping: 6, goAway: 7 } as const
export const END_STREAM = 0x01
export const END_HEADERS = 0x04

export function frame(
  type: keyof typeof TYPES,
  flags: number,
  id: number,
  payload: Uint8Array = Buffer.alloc(0),
): Buffer {
  const head = Buffer.alloc(9)
  head.writeUIntBE(payload.length, 0, 3)
  head.writeUInt8(TYPES[type], 3)
  head.writeUInt8(flags, 4)
  head.writeUInt32BE(id, 5)
  return Buffer.concat([head, payload])
}

/** Encodes 32-bit numbers, for the payloads of RST_STREAM and GOAWAY. */
export function words(...numbers: readonly number[]): Buffer {
  const bytes = Buffer.alloc(4 * numbers.length)
  for (const [i, number] of numbers.entries()) bytes.writeUInt32BE(number, 4 * i)
  return bytes
}

/** `:status: 200` (RFC 7541, index 8 of the static table). */
export const STATUS_200: Buffer = Buffer.of(0x88)

/** Encodes a header field without indexing, with literal name and value. RFC 7541 §6.2.2. */
export function field(name: string, value: string): Buffer {
  return Buffer.concat([Buffer.of(0, name.length), Buffer.from(name), Buffer.of(value.length), Buffer.from(value)])
}

const PREFACE_LENGTH = 24

export async function startFrameServer(certificate: Certificate, respond: RespondWithFrames): Promise<FrameServer> {
  const open = new Set<Socket>()
  const tcpOf = new Map<number | undefined, Socket>()
  const server = createServer({ ...certificate, ALPNProtocols: ['h2'] }, (tls) => {
    tls.on('error', () => undefined)
    tls.write(frame('settings', 0, 0))
    let received = Buffer.alloc(0)
    let offset = PREFACE_LENGTH
    let acknowledged = () => {}
    const whenRead = (then: () => void) => {
      acknowledged = then
      tls.write(frame('ping', 0, 0, words(0, 0)))
    }
    tls.on('data', (bytes: Buffer) => {
      received = Buffer.concat([received, bytes])
      while (received.length >= offset + 9) {
        const length = received.readUIntBE(offset, 3)
        if (received.length < offset + 9 + length) return
        const type = received.readUInt8(offset + 3)
        const isAcknowledged = (received.readUInt8(offset + 4) & 1) === 1
        const id = received.readUInt32BE(offset + 5)
        offset += 9 + length
        if (type === TYPES.settings && !isAcknowledged) tls.write(frame('settings', 1, 0))
        if (type === TYPES.ping && isAcknowledged) acknowledged()
        const socket = tcpOf.get(tls.remotePort)
        if (type === TYPES.headers && socket !== undefined) respond({ id, tls, socket, whenRead })
      }
    })
  })
  server.on('connection', (socket: Socket) => {
    open.add(socket)
    tcpOf.set(socket.remotePort, socket)
    socket.on('error', () => undefined)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    port: (server.address() as AddressInfo).port,
    close: () => {
      for (const socket of open) socket.destroy()
      return new Promise((resolve) => server.close(() => resolve()))
    },
  }
}
