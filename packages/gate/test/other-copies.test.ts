// Objects of another copy of a package: `instanceof` is false for them, and the message says so.
import { Agent } from 'node:http'
import { OptionError, parseRobots } from '@politely/core'
import { usageOf } from '@politely/core/usage'
import { RobotsClient } from '@politely/fetcher'
import { afterAll, expect, test } from 'vitest'
import { PoliteGate, politeHttpAgent, politely, resolveGate } from '../src/index.ts'
import { politeInterceptor } from '../src/undici/index.ts'

// A module with a query is evaluated again, so its class is another one.
const copyOf = (module: string) => import(import.meta.resolve(`../../${module}?copy`))
const { RobotsClient: OtherClient } = await copyOf('fetcher/src/client/client.ts')
const { PoliteGate: OtherGate } = await copyOf('gate/src/gate.ts')
const { Robots: OtherRobots } = await copyOf('core/src/robots.ts')

const userAgent = 'ExampleBot/1.0'
const robots: RobotsClient = new OtherClient({ userAgent })
const ownRobots = new RobotsClient({ userAgent })
const gate: PoliteGate = new OtherGate({ robots: ownRobots })
const { dialect } = parseRobots('')
const parsed: ReturnType<typeof parseRobots> = new OtherRobots('', dialect, undefined)

const otherCopy = (name: string, packageName: string) =>
  `is a ${name} of another copy of ${packageName}; npm ls ${packageName} lists the copies; install one version only, and leave the package out of bundles`
const CLIENT = `robots: ${otherCopy('RobotsClient', '@politely/fetcher')}`
const GATE = `gate: ${otherCopy('PoliteGate', '@politely/gate')}`

afterAll(async () => {
  gate.close()
  await robots.close()
  await ownRobots.close()
})

test.each<[call: string, make: () => unknown, message: string]>([
  ['new PoliteGate({ robots })', () => new PoliteGate({ robots }), CLIENT],
  ['politely(fetch, { robots })', () => politely(fetch, { robots }), CLIENT],
  ['resolveGate({ robots })', () => resolveGate({ robots }), CLIENT],
  ['politely(fetch, { gate })', () => politely(fetch, { gate }), GATE],
  ['politeHttpAgent(agent, gate)', () => politeHttpAgent(new Agent(), gate), GATE],
  ['politeInterceptor(gate)', () => politeInterceptor(gate), GATE],
  ['new PoliteGate(robots)', () => new PoliteGate(robots as never), 'options: a RobotsClient was given instead of'],
  ['politely(fetch, gate)', () => politely(fetch, gate as never), 'options: a PoliteGate was given instead of'],
  [
    'usageOf({ robots })',
    () => usageOf({ robots: parsed, url: 'https://example.com/', tokens: 'ExampleBot' }),
    `robots: ${otherCopy('Robots', '@politely/core')}`,
  ],
])('%s says that the object is of another copy', (_, make, message) => {
  expect(make).toThrow(OptionError)
  expect(make).toThrow(message)
})
