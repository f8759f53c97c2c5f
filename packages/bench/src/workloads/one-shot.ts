// A file is read, one question is put to it, and both are forgotten.
import { ours, reference } from '../libraries/libraries.ts'
import type { Library } from '../libraries/library.ts'
import type { Site } from '../libraries/prepared.ts'
import { median, sum } from '../median.ts'
import { type Contestant, inRounds, nowNs } from '../rounds.ts'
import type { Finding, Row, Sheet } from '../sheet.ts'
import type { Plan } from './plan.ts'

export async function oneShot(plan: Plan, sites: readonly Site[], over: Sheet['over']): Promise<Sheet> {
  const shots = plan.libraries.flatMap((one) => shotsOf(one, sites))
  const medians = await inRounds(shots, sites.length, plan.rounds)
  const theirs = medians[shots.findIndex(({ name }) => name === reference.name)] ?? []

  const rows = shots.map(({ name }, i): Row => {
    const ns = medians[i] ?? []
    const taken = sites.flatMap((site, file) => {
      const own = ns[file]
      return own === undefined ? [] : [{ own, other: theirs[file], octets: site.file.octets.length }]
    })
    const both = taken.flatMap(({ own, other }) => (other === undefined ? [] : [{ own, other }]))
    const total = sum(taken.map(({ own }) => own))
    return {
      name,
      cells: [
        both.length === 0 ? null : sum(both.map(({ other }) => other)) / sum(both.map(({ own }) => own)),
        both.length === 0 ? null : median(both.map(({ own, other }) => other / own)),
        total / taken.length / 1e3,
        sum(taken.map(({ octets }) => octets)) / (total / 1e3), // octets per µs are megaoctets per second
        sites.length - taken.length,
      ],
    }
  })
  const rate = rows.find(({ name }) => name === ours.name)?.cells[0]
  const findings: Finding[] =
    typeof rate === 'number'
      ? [{ what: `one shot: rate against ${reference.name}`, value: rate, unit: '×', target: { atLeast: 4.5 } }]
      : []
  return {
    workload: 'one shot',
    over,
    title: `one shot: ${sites.length} files, each read and asked once`,
    columns: [
      { name: 'all files', unit: `× ${reference.name}` },
      { name: 'median file', unit: `× ${reference.name}` },
      { name: 'a file', unit: 'µs' },
      { name: 'throughput', unit: 'MB/s' },
      { name: 'throws at', unit: 'files' },
    ],
    rows,
    findings,
    asides: [],
  }
}

/** A library that takes octets is a second contestant with those; the others are handed text, and so is its first. */
function shotsOf(one: Library, sites: readonly Site[]): Shot[] {
  const text = new Shot(one, sites, 'text')
  return one === ours ? [text, new Shot(one, sites, 'octets')] : [text]
}

class Shot implements Contestant {
  readonly #library: Library
  readonly #sites: readonly Site[]
  readonly #from: 'text' | 'octets'
  allowed = 0

  constructor(one: Library, sites: readonly Site[], from: 'text' | 'octets') {
    this.#library = one
    this.#sites = sites
    this.#from = from
  }

  get name(): string {
    return this.#from === 'text' ? this.#library.name : `${this.#library.name}, from octets`
  }

  measure(file: number): number | undefined | Promise<number | undefined> {
    const {
      text,
      file: { octets },
      robotsUrl,
      urls,
    } = this.#sites[file] as Site
    const url = urls[file % urls.length] as string
    try {
      const start = nowNs()
      if (this.#library.once !== undefined) {
        if (this.#library.once(this.#from === 'octets' ? octets : text, robotsUrl, url)) this.allowed++
        return nowNs() - start
      }
      const rules =
        this.#from === 'octets'
          ? this.#library.prepareOctets(octets, robotsUrl)
          : this.#library.prepare(text, robotsUrl)
      if (rules instanceof Promise) return this.#later(rules, url, start)
      if (this.#library.isAllowed(rules, url)) this.allowed++
      return nowNs() - start
    } catch {
      return undefined
    }
  }

  async #later(coming: Promise<unknown>, url: string, start: number): Promise<number | undefined> {
    try {
      if (this.#library.isAllowed(await coming, url)) this.allowed++
      return nowNs() - start
    } catch {
      return undefined
    }
  }
}
