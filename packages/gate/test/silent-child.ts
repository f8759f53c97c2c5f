// A process whose requests wait. For each step it prints the process warnings, as a list of JSON.
import { mock } from 'node:test'
import { setImmediate, setTimeout } from 'node:timers/promises' // stay real
import { type PolitelyOptions, politely } from '@politely/gate'

export interface Step {
  readonly robots?: string
  readonly robotsStatus?: number
  /** The Retry-After header of each page. */
  readonly retryAfter?: string
  /** How many requests wait. Default 1. */
  readonly waiting?: number
  readonly options?: Partial<PolitelyOptions>
  readonly hasLogger?: boolean
  /** Fake timers: `advanced` while the request waits, or `stuck`. */
  readonly timers?: 'advanced' | 'stuck'
}

const warnings: string[] = []
process.on('warning', (warning) => {
  if (warning.name === 'ExperimentalWarning') return // Node 22 warns of its own MockTimers
  warnings.push(`${'code' in warning && warning.code}: ${warning.message}`)
})

async function run({ robots = '', robotsStatus = 200, waiting = 1, retryAfter = '', hasLogger, ...step }: Step) {
  const { timers, options } = step
  if (timers !== undefined) mock.timers.enable({ apis: ['setTimeout', 'Date'] })
  const site = async (url: string | URL | Request) =>
    String(url).endsWith('/robots.txt')
      ? new Response(`User-agent: *\n${robots}`, { status: robotsStatus })
      : new Response('a page', { headers: retryAfter === '' ? {} : { 'retry-after': retryAfter } })
  const fetch = politely(site, {
    userAgent: 'ExampleBot/1.0',
    fetch: site,
    now: () => Date.now(),
    ...(hasLogger && { logger: { info: () => undefined } }),
    ...options,
  })
  const visit = (path: string) => fetch(`https://user:password@a.example${path}`).catch(() => undefined)
  const first = visit('/1')
  if (robotsStatus === 200) await first
  const visits = [first, ...Array.from({ length: waiting }, (_, n) => visit(`/${n + 2}`))]
  const isStuck = timers === 'stuck' && warnings.length === 0
  const turns = { none: 1, advanced: 25, stuck: 100 }[timers ?? 'none']
  for (let n = 0; n < turns; n++) {
    if (isStuck && warnings.length > 0) break
    if (timers === 'advanced') mock.timers.tick(10)
    await setTimeout(timers === undefined ? 20 : 100)
  }
  await fetch.close()
  await Promise.all(visits)
  if (timers !== undefined) mock.timers.reset()
  await setImmediate()
  return warnings.splice(0)
}

const steps: Step[] = JSON.parse(process.argv[2] ?? '[]')
const results: string[][] = []
for (const step of steps) results.push(await run(step))
console.log(JSON.stringify(results))
