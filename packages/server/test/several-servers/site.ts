// A site with several origins on loopback, in a separate process: it logs the arrival of each
// request. Now and then it answers 429 or 503, and some bodies are slow.
//
// Arguments: the number of origins. It sends its origins to its parent, and then what it logs.
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { clock, type RunEvent } from './events.ts'

const ROBOTS = 'User-agent: *\nCrawl-delay: 1\n'
const PART_429 = 0.06
const PART_503 = 0.02
const PART_SLOW = 0.1
const between = (min: number, max: number) => min + Math.floor(Math.random() * (max - min + 1))

const log: RunEvent[] = []
let isOver = false

function pushback(): { status: number; retryAfter: number | undefined } {
  const chance = Math.random()
  if (chance < PART_429) return { status: 429, retryAfter: between(5, 20) }
  if (chance < PART_429 + PART_503) return { status: 503, retryAfter: chance * 100 < 7 ? between(2, 5) : undefined }
  return { status: 200, retryAfter: undefined }
}

async function answer(origin: string, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const at = clock()
  const { url: path = '', headers } = request
  const isRobots = path === '/robots.txt'
  const { status, retryAfter } = isRobots ? { status: 200, retryAfter: undefined } : pushback()
  response.on('error', () => undefined) // a client that was killed
  response.writeHead(status, retryAfter === undefined ? {} : { 'retry-after': `${retryAfter}` })
  if (!isRobots && status === 200 && Math.random() < PART_SLOW) {
    response.write('slow ')
    await sleep(between(500, 2_500))
  }
  response.end(isRobots ? ROBOTS : `page ${path}`)
  log.push({
    kind: 'arrival',
    at,
    origin,
    path,
    visit: `${headers['x-visit'] ?? ''}`,
    sentAt: Number(headers['x-sent-at'] ?? 0),
    status,
    retryAfter,
    endedAt: clock(),
  })
}

const send = (message: object) => void process.send?.(message)

const origins = await Promise.all(
  Array.from({ length: Number(process.argv[2]) }, async (_, n) => {
    const host = `127.0.7.${n + 1}`
    let origin = ''
    const server = createServer((request, response) => void answer(origin, request, response))
    server.keepAliveTimeout = 60_000
    await new Promise<void>((resolve) => server.listen(0, host, resolve))
    origin = `http://${host}:${(server.address() as AddressInfo).port}`
    return origin
  }),
)
send({ origins })
process.on('message', () => {
  isOver = true
})
process.on('disconnect', () => process.exit())
while (!isOver) {
  await sleep(250)
  send({ events: log.splice(0) })
}
await sleep(3_000) // for the slow bodies
send({ events: log.splice(0) })
send({ isDone: true })
