// FTP servers on loopback with scripted replies: for each command a text, or a function that uses
// the connections.
import { once } from 'node:events'
import { type AddressInfo, createServer, type Socket } from 'node:net'
import { onTestFinished } from 'vitest'

interface Connections {
  readonly control: Socket
  /** Resolves with the data connection when the client has opened it. */
  readonly data: Promise<Socket>
  /** The port for data connections. */
  readonly dataPort: number
}

/**
 * Lines of text with their line ends, in which `DATA` is replaced by the data port; or a function
 * to call instead.
 */
type FtpAnswer = string | ((connections: Connections) => void)

export interface FtpScript {
  /** The greeting; none if undefined. */
  readonly greeting: FtpAnswer | undefined
  /** The replies by command. Other commands get no reply. */
  readonly answers: Readonly<Record<string, FtpAnswer>>
}

export interface FtpServer {
  readonly port: number
  readonly dataPort: number
  /** The commands of the client, one per line. */
  readonly commands: readonly string[]
  /** The number of data connections. */
  readonly transfers: () => number
}

/** Starts a server that closes when the test ends. */
export async function startFtp({ greeting, answers }: FtpScript, host = '127.0.0.1'): Promise<FtpServer> {
  const commands: string[] = []
  const sockets: Socket[] = []
  const transfers: Socket[] = []
  const keep = (socket: Socket) => void sockets.push(socket.on('error', () => undefined))
  const dataServer = createServer((socket) => {
    keep(socket)
    transfers.push(socket)
  })
  await once(dataServer.listen(0, host), 'listening')
  const { port: dataPort } = dataServer.address() as AddressInfo

  const server = createServer((control) => {
    keep(control)
    const data = once(dataServer, 'connection').then(([socket]) => socket as Socket)
    const answer = (how: FtpAnswer | undefined) => {
      if (typeof how === 'string') control.write(how.replaceAll('DATA', String(dataPort)), 'latin1')
      else how?.({ control, data, dataPort })
    }
    let pending = ''
    control.setEncoding('latin1').on('data', (chunk: string) => {
      const lines = (pending + chunk).split('\r\n')
      pending = lines.pop() ?? ''
      for (const line of lines) {
        commands.push(line)
        answer(answers[line.split(' ', 1)[0] ?? ''])
      }
    })
    answer(greeting)
  })
  await once(server.listen(0, host), 'listening')
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy()
    server.close()
    dataServer.close()
  })
  return { port: (server.address() as AddressInfo).port, dataPort, commands, transfers: () => transfers.length }
}

/** The script of a correct server whose robots.txt has these bytes. */
export function politeFtp(bytes: string): FtpScript {
  return {
    greeting: '220 Hello\r\n',
    answers: {
      USER: '331 Any password will do\r\n',
      PASS: '230 Welcome\r\n',
      TYPE: '200 OK\r\n',
      EPSV: '229 Entering Extended Passive Mode (|||DATA|)\r\n',
      RETR: async ({ control, data }) => {
        control.write('150 Here it comes\r\n')
        const socket = await data
        socket.end(Buffer.from(bytes, 'latin1'))
        socket.once('close', () => control.write('226 Done\r\n'))
      },
    },
  }
}
