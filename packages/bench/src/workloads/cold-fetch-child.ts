// A child process with one way to fetch robots.txt. It receives the number of the first origin,
// fetches COUNT files, and sends the processor time for each in nanoseconds.
//   node cold-fetch-child.ts METHOD PORT COUNT CONCURRENCY
import { RobotsTxtFile } from '@crawlee/utils'
import { RobotsClient } from '@politely/fetcher'
import { Agent, request } from 'undici'
import { CRAWLER } from '../crawler.ts'
import { ours } from '../libraries/libraries.ts'

type Fetch = (origin: string) => Promise<unknown>

/** Fetches one file, and closes everything after the last one. */
interface FetchSession {
  readonly fetch: Fetch
  end(): Promise<void>
}

const [name, port, count, concurrency] = [process.argv[2] as string, ...process.argv.slice(3).map(Number)] as [
  string,
  number,
  number,
  number,
]

/**
 * Each starts with new connections and an empty cache, because their cost is part of the
 * measurement.
 */
const methods: Readonly<Record<string, () => FetchSession>> = {
  [ours.name]() {
    const client = new RobotsClient({ userAgent: `${CRAWLER}/1.0`, maxFlights: concurrency })
    return { fetch: (origin) => client.isAllowed(`${origin}/page`), end: () => client.close() }
  },
  'bare undici.request'() {
    const dispatcher = new Agent()
    return {
      fetch: async (origin) => (await request(`${origin}/robots.txt`, { dispatcher })).body.text(),
      end: () => dispatcher.destroy(),
    }
  },
  'built-in fetch': () => ({
    fetch: async (origin) => (await fetch(`${origin}/robots.txt`)).text(),
    end: async () => undefined,
  }),
  '@crawlee/utils': () => ({
    fetch: async (origin) => (await RobotsTxtFile.find(`${origin}/page`)).isAllowed(`${origin}/page`, CRAWLER),
    end: async () => undefined,
  }),
}

const startSession = methods[name] as () => FetchSession
if (startSession === undefined) throw new Error(`there is no method called ${name}`)

/** Returns an origin in 127.0.0.0/8. */
function originAt(number: number): string {
  return `http://127.${1 + ((number >> 16) & 127)}.${(number >> 8) & 255}.${number & 255}:${port}`
}

async function cpuNsPerFetch(from: number): Promise<number> {
  const origins = Array.from({ length: count }, (_, i) => originAt(from + i))
  const before = process.cpuUsage()
  const { fetch, end } = startSession()
  const queue = origins.values()
  const worker = async () => {
    for (const origin of queue) await fetch(origin)
  }
  await Promise.all(Array.from({ length: concurrency }, worker))
  await end()
  const { user, system } = process.cpuUsage(before)
  return ((user + system) * 1e3) / count
}

process.on('message', async (from: number) => process.send?.(await cpuNsPerFetch(from)))
process.on('disconnect', () => process.exit())
