// A process that does not release a permit. It prints the code and the detail of the warning, and
// ends.
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { RobotsClient } from '@politely/fetcher'
import { PoliteGate } from '@politely/gate'

const server = createServer((_, response) => response.end('')).listen(0, '127.0.0.1')
await once(server, 'listening')
const robots = new RobotsClient({ userAgent: 'ExampleBot/1.0' })
const gate = new PoliteGate({ robots, minDelayMs: 0, releaseWarningMs: 10 })

async function forgetsToRelease(): Promise<void> {
  await gate.enter(`http://127.0.0.1:${(server.address() as AddressInfo).port}/page`)
}

const warned = once(process, 'warning')
await forgetsToRelease()
const [warning] = await warned
console.log(JSON.stringify([warning.code, warning.detail]))
await robots.close()
server.close()
