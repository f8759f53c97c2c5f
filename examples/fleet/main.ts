// A fleet of crawlers that is as polite as one: BullMQ workers crawl a small web on this machine.
// Run it with `npm run example -- examples/fleet/main.ts`.
import { parseArgs } from 'node:util'
import type { Chaos } from './chaos.ts'
import { type FleetOptions, runFleet } from './fleet.ts'
import { finalTable, LiveTable, ProgressLines, summaryOf } from './table.ts'

const USAGE = `usage: npm run example -- examples/fleet/main.ts [options]

  --workers N         processes; default 4
  --origins N         sites of the small web; default 40
  --urls N            pages of all sites together; default 800
  --crawl-delay MS    the Crawl-delay of three out of four sites; default 1000
  --min-delay MS      the delay that the fleet keeps by itself; default 500
  --domain-delay MS   the delay between requests to the two hosts of a registrable domain; default 0: none
  --seed N            another small web
  --backend NAME      redis or postgres; default redis. With postgres, no Redis is used
  --partition         each worker crawls its own registrable domains and paces them by itself
  --chaos SPEC        for example kills=30,restarts=10,wipe=half: kills workers and restarts Redis; wipe says
                      which restarts lose what is known of robots.txt and of the pace: none, half or all.
                      Each restart of Postgres loses the pace, and wipe says which are crashes
  --redis URL         a Redis to use; default: REDIS_URL, or two servers that are started
  --postgres URL      a Postgres to use; default: DATABASE_URL, or one that is started`

const { values } = parseArgs({
  options: {
    workers: { type: 'string', default: '4' },
    origins: { type: 'string', default: '40' },
    urls: { type: 'string', default: '800' },
    'crawl-delay': { type: 'string', default: '1000' },
    'min-delay': { type: 'string', default: '500' },
    'domain-delay': { type: 'string', default: '0' },
    seed: { type: 'string', default: '1' },
    partition: { type: 'boolean', default: false },
    chaos: { type: 'string' },
    redis: { type: 'string' },
    postgres: { type: 'string' },
    backend: { type: 'string', default: 'redis' },
    help: { type: 'boolean', default: false },
  },
})

if (values.help) {
  console.log(USAGE)
} else {
  const options = optionsOf()
  const { isTTY } = process.stdout
  const progress = isTTY ? new LiveTable() : new ProgressLines()
  const report = await runFleet({ ...options, onProgress: (state) => progress.draw(state) })
  if (!isTTY) console.log(`\n${finalTable(report).join('\n')}`)
  const { lines, problems } = summaryOf(report, options)
  console.log(`\n${lines.join('\n')}`)
  for (const problem of problems) console.log(`PROBLEM: ${problem}`)
  process.exitCode = problems.length === 0 ? 0 : 1
}

function optionsOf(): FleetOptions {
  const chaos = values.chaos === undefined ? undefined : chaosOf(values.chaos)
  const backend = values.backend
  if (backend !== 'redis' && backend !== 'postgres')
    throw new Error(`--backend: "${backend}" is invalid; expected redis or postgres`)
  if (chaos && values[backend])
    throw new Error(
      `--chaos cannot be combined with --${backend}: it restarts only servers that the example has started`,
    )
  const ofEnvironment = backend === 'redis' ? process.env.REDIS_URL : process.env.DATABASE_URL
  return {
    workers: number('workers', 1),
    web: {
      origins: number('origins', 1),
      pages: number('urls', number('origins', 1)),
      crawlDelayMs: number('crawl-delay', 0),
      minDelayMs: number('min-delay', 0),
      domainDelayMs: number('domain-delay', 0),
      seed: number('seed', 0),
    },
    backend,
    partition: values.partition,
    chaos,
    url: values[backend] ?? (chaos === undefined ? ofEnvironment : undefined),
  }
}

function number(
  name: Exclude<keyof typeof values, 'partition' | 'chaos' | 'redis' | 'postgres' | 'backend' | 'help'>,
  min: number,
): number {
  const value = Number(values[name])
  if (Number.isInteger(value) && value >= min) return value
  throw new Error(`--${name}: ${values[name]} is out of range; expected an integer from ${min}`)
}

function chaosOf(text: string): Chaos {
  const match = /^kills=(\d+),restarts=(\d+),wipe=(none|half|all)$/.exec(text)
  if (match === null) throw new Error(`--chaos: "${text}" is invalid; write for example kills=30,restarts=10,wipe=half`)
  const [, kills, restarts, wipe] = match
  return { kills: Number(kills), restarts: Number(restarts), wipe: wipe as Chaos['wipe'] }
}
