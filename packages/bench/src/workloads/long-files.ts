// 12,000 rules in one file: where walking all of them is felt.
import { LONG_RULES, longFile } from '../files/long-file.ts'
import { ours, reference } from '../libraries/libraries.ts'
import type { Library } from '../libraries/library.ts'
import { median } from '../median.ts'
import { collectGarbage, inRounds, nowNs } from '../rounds.ts'
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
      const { parseNs, firstNs } = await fresh(one, text, robotsUrl, urls.slice(0, plan.copies))
      parses.push(parseNs)
      firsts.push(firstNs)
      contestants.push(asking(one, await one.prepare(text, robotsUrl), urls, plan.turnNs))
    }
    const medians = (await inRounds(contestants, 1, plan.rounds)).map(([ns]) => ns ?? Number.NaN)
    const theirs = medians[plan.libraries.indexOf(reference)] ?? Number.NaN
    const rows = plan.libraries.map(({ name }, i): Row => {
      const ns = medians[i] as number
      const cells = [theirs / ns, ns / 1e3, (firsts[i] as number) / 1e3, (parses[i] as number) / 1e6]
      return { name, cells: cells.map((cell) => (Number.isFinite(cell) ? cell : null)) }
    })
    const own = medians[plan.libraries.indexOf(ours)]
    const label = `${LONG_RULES.toLocaleString('en')} rules, ${what}`
    const findings: Finding[] =
      own === undefined ? [] : [{ what: `${label}: a question`, value: own / 1e3, unit: 'µs', target }]
    sheets.push({
      workload: label,
      over: 'own',
      title: `${label}: ${(text.length / 1024).toFixed(0)} KiB`,
      columns: [
        { name: 'rate', unit: `× ${reference.name}` },
        { name: 'a question', unit: 'µs' },
        { name: 'the first question', unit: 'µs' },
        { name: 'reading', unit: 'ms' },
      ],
      rows,
      findings,
      asides: [],
    })
  }
  return sheets
}

/** What reading takes, and then the first question, each on a fresh copy: a library may put off work until it is asked. */
async function fresh(one: Library, text: string, robotsUrl: string, urls: readonly string[]) {
  const parses: number[] = []
  const firsts: number[] = []
  for (const url of urls) {
    collectGarbage()
    const start = nowNs()
    const rules = await one.prepare(text, robotsUrl)
    const read = nowNs()
    one.isAllowed(rules, url)
    firsts.push(nowNs() - read)
    parses.push(read - start)
  }
  return { parseNs: median(parses), firstNs: median(firsts) }
}

/** The questions in their order, on and on; where a turn ends the next goes on, so that a slow library is asked all sorts too. */
function asking(one: Library, rules: unknown, urls: readonly string[], turnNs: number) {
  let next = 0
  let allowed = 0
  let batch = 1
  return {
    measure(): number {
      const start = nowNs()
      let ns = 0
      let asked = 0
      do {
        for (let i = 0; i < batch; i++) {
          if (one.isAllowed(rules, urls[next] as string)) allowed++
          next = (next + 1) % urls.length
        }
        asked += batch
        ns = nowNs() - start
      } while (ns < turnNs)
      batch = Math.max(1, Math.min(1_000, Math.floor((asked * 1e6) / ns))) // about a millisecond between two looks at the clock
      return ns / asked
    },
    get allowed() {
      return allowed
    },
  }
}
