// What does it cost to learn the robots.txt of an origin that nobody has asked before? Processor time of the one process that asks.
import { RobotsTxtFile } from '@crawlee/utils'
import { RobotsClient } from '@politely/fetcher'
import { Agent, request } from 'undici'
import { ours } from '../libraries/libraries.ts'
import { CRAWLER } from '../libraries/library.ts'
import { type Contestant, inRounds } from '../rounds.ts'
import type { Finding, Sheet } from '../sheet.ts'
import type { Plan } from './plan.ts'
import { withRobotsServer } from './robots-server.ts'

/** Requests under way at once. */
const IN_FLIGHT = 200

type Fetch = (origin: string) => Promise<unknown>

interface Way {
  readonly name: string
  /** Fetches one origin's file, and what to do when all are fetched. A fresh one each time: connections and memory are part of it. */
  begin(): { readonly fetch: Fetch; end(): Promise<void> }
}

const bareRequest: Way = {
  name: 'bare undici.request',
  begin() {
    const dispatcher = new Agent()
    return {
      fetch: async (origin) => (await request(`${origin}/robots.txt`, { dispatcher })).body.text(),
      end: () => dispatcher.destroy(),
    }
  },
}

const builtInFetch: Way = {
  name: 'built-in fetch',
  begin: () => ({ fetch: async (origin) => (await fetch(`${origin}/robots.txt`)).text(), end: async () => undefined }),
}

const politely: Way = {
  name: ours.name,
  begin() {
    const client = new RobotsClient({ userAgent: `${CRAWLER}/1.0`, maxFlights: IN_FLIGHT })
    return { fetch: (origin) => client.isAllowed(`${origin}/page`), end: () => client.close() }
  },
}

const crawlee: Way = {
  name: '@crawlee/utils',
  begin: () => ({
    fetch: async (origin) => (await RobotsTxtFile.find(`${origin}/page`)).isAllowed(`${origin}/page`, CRAWLER),
    end: async () => undefined,
  }),
}

export async function coldFetch(plan: Plan): Promise<Sheet> {
  return withRobotsServer(plan.files, (port) => compare(plan, port))
}

async function compare(plan: Plan, port: number): Promise<Sheet> {
  const ways = [politely, bareRequest, builtInFetch, crawlee]
  const addresses = new Addresses(port)
  const medians = await inRounds(
    ways.map((way) => new Fetching(way, addresses, plan.coldFetches)),
    1,
    plan.rounds,
  )
  const us = medians.map(([ns = Number.NaN]) => ns / 1e3)
  const of = (way: Way) => us[ways.indexOf(way)] as number
  const findings: Finding[] = [
    {
      what: 'cold fetch: processor time, against a bare undici.request',
      value: of(politely) / of(bareRequest),
      unit: '×',
      target: { atMost: 1.4 },
    },
    {
      what: 'cold fetch: processor time of @crawlee/utils, against ours',
      value: of(crawlee) / of(politely),
      unit: '×',
      target: { atLeast: 3 },
    },
  ]
  return {
    workload: 'cold fetch',
    over: 'own',
    title: `cold fetch: ${plan.coldFetches} origins on loopback, ${IN_FLIGHT} at once, the answer to one question of each`,
    columns: [
      { name: 'a robots.txt', unit: 'µs of processor' },
      { name: 'against', unit: `× ${bareRequest.name}` },
    ],
    rows: ways.map((way) => ({ name: way.name, cells: [of(way), of(way) / of(bareRequest)] })),
    findings,
    asides: [],
  }
}

/** Addresses of 127.0.0.0/8, each an origin that nobody has asked before. */
class Addresses {
  readonly #port: number
  #next = 1

  constructor(port: number) {
    this.#port = port
  }

  take(count: number): string[] {
    return Array.from({ length: count }, () => {
      const n = this.#next++
      return `http://127.${1 + ((n >> 16) & 127)}.${(n >> 8) & 255}.${n & 255}:${this.#port}`
    })
  }
}

class Fetching implements Contestant {
  readonly #way: Way
  readonly #addresses: Addresses
  readonly #count: number

  constructor(way: Way, addresses: Addresses, count: number) {
    this.#way = way
    this.#addresses = addresses
    this.#count = count
  }

  async measure(): Promise<number> {
    const origins = this.#addresses.take(this.#count)
    const before = process.cpuUsage()
    const { fetch, end } = this.#way.begin()
    const waiting = origins.values()
    const worker = async () => {
      for (const origin of waiting) await fetch(origin)
    }
    await Promise.all(Array.from({ length: IN_FLIGHT }, worker))
    await end()
    const { user, system } = process.cpuUsage(before)
    return ((user + system) * 1e3) / this.#count
  }
}
