// Measures checks with 12,000 rules in one file, for which trying one rule after another is slow.
import { LONG_RULES, longFile } from '../files/long-file.ts'
import { ours, reference } from '../libraries/libraries.ts'
import type { Library } from '../libraries/library.ts'
import { median } from '../median.ts'
import { collectGarbage, measureInRounds, nowNs } from '../rounds.ts'
import type { Finding, Row, Sheet } from '../sheet.ts'
import type { Plan } from './plan.ts'

const FILES = [
  { what: 'literal', starShare: 0, target: { below: 0.4 } },
  { what: '30 % with wildcards', starShare: 0.3, target: { below: 3 } },
]

export async function longFiles(plan: Plan): Promise<Sheet[]> {
  const sheets: Sheet[] = []
  for (const { what, starShare, target } of FILES) {
    const { origin, text, urls } = longFile(1, starShare)
    const robotsUrl = `${origin}/robots.txt`
    const firsts: number[] = []
    const parses: number[] = []
    const contestants = []
    for (const one of plan.libraries) {
      const { parseNs, firstNs } = await measureFreshCopies(one, text, robotsUrl, urls.slice(0, plan.copies))
      parses.push(parseNs)
      firsts.push(firstNs)
      contestants.push(queryContestant(one, await one.prepare(text, robotsUrl), urls, plan.turnNs))
    }
    const medians = (await measureInRounds(contestants, 1, plan.rounds)).map(([ns]) => ns ?? Number.NaN)
    const theirs = medians[plan.libraries.indexOf(reference)] ?? Number.NaN
    const rows = plan.libraries.map(({ name }, i): Row => {
      const ns = medians[i] as number
      const cells = [theirs / ns, ns / 1e3, (firsts[i] as number) / 1e3, (parses[i] as number) / 1e6]
      return { name, cells: cells.map((cell) => (Number.isFinite(cell) ? cell : null)) }
    })
    const own = medians[plan.libraries.indexOf(ours)]
    const label = `${LONG_RULES.toLocaleString('en')} rules, ${what}`
    const findings: Finding[] =
      own === undefined ? [] : [{ what: `${label}: one check`, value: own / 1e3, unit: 'µs', target }]
    sheets.push({
      workload: label,
      over: 'own',
      title: `${label}: ${(text.length / 1024).toFixed(0)} KiB`,
      columns: [
        { name: 'rate', unit: `× ${reference.name}` },
        { name: 'one check', unit: 'µs' },
        { name: 'the first check', unit: 'µs' },
        { name: 'parsing', unit: 'ms' },
      ],
      rows,
      findings,
      notes: [],
    })
  }
  return sheets
}

/**
 * Returns the time of parsing and the time of the first check. It uses new copies, because a
 * library may defer work until the first check.
 */
async function measureFreshCopies(one: Library, text: string, robotsUrl: string, urls: readonly string[]) {
  const parses: number[] = []
  const firsts: number[] = []
  for (const url of urls) {
    collectGarbage()
    const start = nowNs()
    const rules = await one.prepare(text, robotsUrl)
    const parsed = nowNs()
    one.isAllowed(rules, url)
    firsts.push(nowNs() - parsed)
    parses.push(parsed - start)
  }
  return { parseNs: median(parses), firstNs: median(firsts) }
}

/**
 * Checks the URLs in order, again and again. Each turn continues where the last one ended, so that
 * a slow library checks all kinds too.
 */
function queryContestant(one: Library, rules: unknown, urls: readonly string[], turnNs: number) {
  let next = 0
  let allowed = 0
  let batch = 1
  return {
    measure(): number {
      const start = nowNs()
      let ns = 0
      let checked = 0
      do {
        for (let i = 0; i < batch; i++) {
          if (one.isAllowed(rules, urls[next] as string)) allowed++
          next = (next + 1) % urls.length
        }
        checked += batch
        ns = nowNs() - start
      } while (ns < turnNs)
      batch = Math.max(1, Math.min(1_000, Math.floor((checked * 1e6) / ns))) // reads the clock about once a millisecond
      return ns / checked
    },
    get allowed() {
      return allowed
    },
  }
}
