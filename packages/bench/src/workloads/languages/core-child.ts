// core as a reader of languages.ts.
//   node core-child.ts FILE CRAWLER DIALECT
import { readFileSync } from 'node:fs'
import { createInterface } from 'node:readline'
import { type DialectName, parseRobots } from '@politely/core'
import { flatten } from '../../files/site-urls.ts'

const [name, crawler, dialect] = process.argv.slice(2) as [string, string, DialectName]
const file = readFileSync(name)
let at = 0
const nextLine = () => {
  const end = file.indexOf('\n', at)
  const line = flatten(file.toString('utf8', at, end))
  at = end + 1
  return line
}

const sites: { readonly robots: Uint8Array; readonly origin: string; readonly urls: readonly string[] }[] = []
while (at < file.length) {
  const [bytes, count] = nextLine().split(' ').map(Number) as [number, number]
  const robots = file.subarray(at, at + bytes)
  at += bytes + 1
  const urls = Array.from({ length: count }, nextLine)
  sites.push({ robots, origin: flatten(new URL(urls[0] as string).origin), urls })
}

for await (const line of createInterface(process.stdin)) {
  const count = Number(line)
  let allowed = 0
  const start = process.cpuUsage()
  for (const { robots, origin, urls } of sites) {
    const rules = parseRobots(robots, { origin, dialect }).forCrawler(crawler)
    for (let i = 0; i < count; i++) if (rules.isAllowed(urls[i] as string)) allowed++
  }
  const { user, system } = process.cpuUsage(start)
  console.log(((user + system) * 1e3) / sites.length, allowed)
}
