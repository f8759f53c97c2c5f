// FTP servers on loopback that do as a test says: each answers a command with a text, or does with the connections what it likes.
import { once } from 'node:events'
import { type AddressInfo, createServer, type Socket } from 'node:net'
import { onTestFinished } from 'vitest'

interface Connections {
  readonly control: Socket
  /** The data connection, as soon as the client has made it. */
  readonly data: Promise<Socket>
  /** The port that data connections come to. */
  readonly dataPort: number
}

/** Lines of text, the line ends included; `DATA` in them is the port for data. Or what to do instead. */
type FtpAnswer = string | ((connections: Connections) => void)

export interface FtpScript {
  /** What is said at first; nothing if it is undefined. */
  readonly greeting: FtpAnswer | undefined
  /** By the command's name. A command that is not named is not answered. */
  readonly answers: Readonly<Record<string, FtpAnswer>>
}

export interface FtpServer {
  readonly port: number
  readonly dataPort: number
  /** What the client said, line by line. */
  readonly commands: readonly string[]
  /** How many data connections there were. */
  readonly transfers: () => number
}

/** Ended with the test. */
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

/** A server that does everything right, and has a robots.txt with these bytes. */
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
