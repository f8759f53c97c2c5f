// A DNS server on loopback that knows PTR, A and AAAA records (RFC 1035 §4, RFC 3596).
import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import { onTestFinished } from 'vitest'

/** Names or addresses, by the name in the question. */
export type Records = Readonly<Record<string, string>>

const TYPES: Readonly<Record<number, (value: string) => Buffer>> = {
  1: (address) => Buffer.from(address.split('.').map(Number)),
  12: nameBytes,
}
const NO_SUCH_NAME = 3

/** Starts a server until the end of the test. Returns its address and port. */
export async function startDnsServer(records: Records): Promise<string> {
  const socket = createSocket('udp4')
  onTestFinished(() => void socket.close())
  socket.on('message', (query, { port, address }) => socket.send(answerTo(query, records), port, address))
  socket.bind(0, '127.0.0.1')
  await once(socket, 'listening')
  return `127.0.0.1:${socket.address().port}`
}

function answerTo(query: Buffer, records: Records): Buffer {
  const labels: string[] = []
  let at = 12
  for (let size = query[at] ?? 0; size > 0; size = query[at] ?? 0) {
    labels.push(query.toString('latin1', at + 1, at + 1 + size))
    at += 1 + size
  }
  const question = query.subarray(12, at + 5)
  const value = records[labels.join('.').toLowerCase()]
  const data = value === undefined ? undefined : TYPES[query.readUInt16BE(at + 1)]?.(value)
  const header = Buffer.alloc(12)
  header.writeUInt16BE(query.readUInt16BE(0), 0)
  header.writeUInt16BE(0x8180 | (value === undefined ? NO_SUCH_NAME : 0), 2) // a response, recursion available
  header.writeUInt16BE(1, 4)
  if (data === undefined) return Buffer.concat([header, question])
  header.writeUInt16BE(1, 6)
  const fixed = Buffer.from([0xc0, 12, ...question.subarray(-4), 0, 0, 0, 60, data.length >> 8, data.length & 0xff])
  return Buffer.concat([header, question, fixed, data])
}

function nameBytes(name: string): Buffer {
  const labels = name.split('.').map((label) => Buffer.concat([Buffer.of(label.length), Buffer.from(label)]))
  return Buffer.concat([...labels, Buffer.of(0)])
}
