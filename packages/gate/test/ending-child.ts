// A process that ends although a permit is not released. It prints the process warnings as JSON.
import { RobotsClient } from '@politely/fetcher'
import { PoliteGate } from '@politely/gate'
import { politeAgent } from '@politely/gate/undici'
import { request } from 'undici'

const [, , name = '', origin] = process.argv
const robots = new RobotsClient({ userAgent: 'ExampleBot/1.0' })
const releaseWarningMs = name.endsWith('Infinity') ? Number.POSITIVE_INFINITY : 300_000
const gate = new PoliteGate({ robots, minDelayMs: 0, maxConcurrentPerKey: 1, releaseWarningMs })

const warnings: string[] = []
process.on('warning', (warning) => warnings.push(`${'code' in warning && warning.code}: ${warning.message}`))
process.on('exit', () => console.log(JSON.stringify(warnings)))

if (name.includes('undici')) await request(`${origin}/1`, { dispatcher: politeAgent({ gate }) })
else await gate.enter(`${origin}/1`)
if (name.startsWith('waits')) void gate.enter(`${origin}/2`).catch(() => undefined)
if (name.endsWith('close')) gate.close()
