// One way to fetch robots.txt, in a process of its own: told from which origin on, it fetches so many and says what each took of the processor.
//   node cold-fetch-child.ts WAY PORT COUNT IN_FLIGHT
import { RobotsTxtFile } from '@crawlee/utils'
import { RobotsClient } from '@politely/fetcher'
import { Agent, request } from 'undici'
import { ours } from '../libraries/libraries.ts'
import { CRAWLER } from '../libraries/library.ts'

type Fetch = (origin: string) => Promise<unknown>

/** How an origin's file is fetched, and what to do when all are. */
interface Fetching {
  readonly fetch: Fetch
  end(): Promise<void>
}

const [name, port, count, inFlight] = [process.argv[2] as string, ...process.argv.slice(3).map(Number)] as [
  string,
  number,
  number,
  number,
]

/** Fresh ones each time: connections and memory are part of it. */
const ways: Readonly<Record<string, () => Fetching>> = {
  [ours.name]() {
    const client = new RobotsClient({ userAgent: `${CRAWLER}/1.0`, maxFlights: inFlight })
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

const begin = ways[name] as () => Fetching
if (begin === undefined) throw new Error(`no way is called ${name}`)

/** An address of 127.0.0.0/8. */
function originAt(number: number): string {
  return `http://127.${1 + ((number >> 16) & 127)}.${(number >> 8) & 255}.${number & 255}:${port}`
}

async function nsOfEach(from: number): Promise<number> {
  const origins = Array.from({ length: count }, (_, i) => originAt(from + i))
  const before = process.cpuUsage()
  const { fetch, end } = begin()
  const waiting = origins.values()
  const worker = async () => {
    for (const origin of waiting) await fetch(origin)
  }
  await Promise.all(Array.from({ length: inFlight }, worker))
  await end()
  const { user, system } = process.cpuUsage(before)
  return ((user + system) * 1e3) / count
}

process.on('message', async (from: number) => process.send?.(await nsOfEach(from)))
process.on('disconnect', () => process.exit())
