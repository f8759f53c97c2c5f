// The page of a report: one HTML file without scripts and without references to other files. Texts
// of sites are hostile: each goes through `escaped`. Columns have the names of the JSON form.
import { escapeControls } from '@politely/core/internal'
import type { ChangeFacts, Counts, ReportFacts } from './report-facts.ts'

const MAX_ROWS = 40 // as many as there are bars
/** What the page shortens. */
const [TIME, SHA256] = [/^(.{10})T(.{8})\.\d+Z$/, /^([\da-f]{16})[\da-f]{48}$/]

// Blue and orange differ for colour-blind people too, and in grey.
const STYLE = `
:root { color-scheme: light dark; --ink: #1d2226; --faint: #5c666e; --line: #d5dade; --paper: #fff; --a: #0072b2; --b: #d55e00 }
@media screen and (prefers-color-scheme: dark) { :root { --ink: #e4e8eb; --faint: #a0abb3; --line: #3a444c; --paper: #14191d; --a: #56b4e9; --b: #f0a030 } }
body { font: 15px/1.5 system-ui, sans-serif; color: var(--ink); background: var(--paper); max-width: 1120px; margin: auto; padding: 1.5rem 1rem; print-color-adjust: exact }
h1 { font-size: 1.6rem; margin: 0 } h2 { font-size: 1.15rem; margin: 2.2rem 0 0 } ul { padding-left: 1.2rem } li { margin: .35rem 0; max-width: 75ch }
p, th { color: var(--faint); font-size: 13px; font-weight: normal; margin: .3rem 0 }
i { display: block; max-width: 100%; height: .8em; margin-top: .35em } .a { background: var(--a) } .b { background: var(--b) }
div { overflow-x: auto } table { border-collapse: collapse; font-size: 13px } td, li { overflow-wrap: anywhere }
th, td { padding: .25rem 1.2rem .25rem 0; text-align: left; vertical-align: top; border-bottom: 1px solid var(--line); min-width: 4em }
.number, .line { text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap } .part, .refusedPart { text-align: left; width: 20em }
.string { min-width: 7em } .origin { min-width: 14em } .effect { min-width: 22em }
`

export function reportPage(facts: ReportFacts): string {
  const { from, to, barMs, refusals } = facts
  const most = Math.max(...facts.bars.flatMap(({ started, refused }) => [started, refused]))
  const bars = facts.bars.map(({ time, started, refused }) => {
    return { time, started, part: started / most, refused, refusedPart: refused / most }
  })
  const waits = facts.waits.map((wait) => ({ ...wait, part: wait.totalMs / (facts.waits[0] ?? wait).totalMs }))
  const gaps = facts.sites.flatMap(({ origin, crawler, gaps }) => (gaps ? { origin, crawler, ...gaps } : []))
  gaps.sort((a, b) => a.part - b.part)
  const changes = facts.changes.map((change) => {
    const { origin, crawler, after, before, from, to } = change
    return { origin, crawler, after, before, from, to, effect: effectText(change) }
  })
  const sites = facts.sites.map(({ origin, crawler, counts: { requests = 0, failed = 0, refused = 0 }, robotsTxt }) => {
    return { origin, crawler, requests, failed, refused, robotsTxt }
  })
  return `<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>Crawl report</title><style>${STYLE}</style></head>
<body>
<h1>Crawl report</h1>
<p>${escaped(from)} to ${escaped(to)}</p>
<ul>${summary(facts)}</ul>
${table(`Requests and refusals in each ${durationText(barMs)}`, bars)}
${table('Waits by cause', waits)}
${table('Shortest gaps as parts of the delay asked for', gaps)}
${table('Changes of robots.txt', changes)}
${table('Refusals by rule', refusals)}
${table('Sites', sites)}
<p>Times are in UTC. Files are named by the first digits of their SHA-256. The JSON form has all digits and rows.</p>
</body>
</html>
`
}

/** Says first what a site owner or a lawyer asks. */
function summary({ totals, sites, changes, ...facts }: ReportFacts): string {
  const of = (name: keyof Counts) => number(totals[name] ?? 0)
  const sitesIn = (rows: readonly { readonly origin: string }[]) => number(new Set(rows.map((row) => row.origin)).size)
  const gaps = (field: 'count' | 'shorter') => number(sites.reduce((sum, site) => sum + (site.gaps?.[field] ?? 0), 0))
  const withEffect = changes.filter(({ effect }) => effect === 'changed')
  return `<li><b>Sites: ${sitesIn(sites)}</b>, with ${of('decisions')} decisions.
<li><b>Requests: ${of('requests')}.</b> Answered: ${of('answered')}, failed: ${of('failed')}, not reported: ${of('not-reported')}.
Without a request: ${of('not-sent')} given up, ${of('stored-page')} from a cache.
<li><b>Refused: ${of('refused')}.</b> Let through against robots.txt: ${of('against-rules')}.
<li><b>Gaps shorter than the delay asked for: ${gaps('shorter')}</b> of ${gaps('count')}. Requests left out: ${number(facts.unmeasured)}.
<li><b>Sites that changed their robots.txt: ${sitesIn(changes)}</b>, with an effect on the crawler: ${sitesIn(withEffect)}.
<li><b>Missing:</b> lost records: ${number(facts.lostRecords)}, unreadable lines: ${number(facts.unreadable)},
requests without a result: ${number(facts.withoutResult)}.`
}

type Row = Readonly<Record<string, string | number | undefined>>

/** Draws objects with the same keys, which name the columns. Durations end in `Ms`, bars in `part`. */
function table(title: string, rows: readonly Row[]): string {
  const [first] = rows
  if (first === undefined) return ''
  const line = (tag: string, row: Row, textOf: (key: string, row: Row) => string) => {
    const cells = Object.keys(row).map(
      (key) => `<${tag} class="${key} ${typeof row[key]}">${textOf(key, row)}</${tag}>`,
    )
    return `<tr>${cells.join('')}</tr>`
  }
  const head = line('th', first, (key) => key.replace(/Ms$|\w*part$/i, ''))
  const body = rows.slice(0, MAX_ROWS).map((row) => line('td', row, cellText))
  const more = rows.length > MAX_ROWS ? `<p>And ${number(rows.length - MAX_ROWS)} more.</p>` : ''
  return `<h2>${title}</h2><div><table>${head}${body.join('\n')}</table></div>${more}`
}

function cellText(key: string, row: Row): string {
  const value = row[key] ?? ''
  if (typeof value === 'string') return escaped(value.replace(TIME, '$1 $2').replace(SHA256, '$1')) || 'none'
  const color = key === 'refusedPart' || row.shorter ? 'b' : 'a'
  if (/part$/i.test(key)) return `<i class="${color}" style="width:${(100 * value).toFixed(1)}%"></i>`
  return key.endsWith('Ms') ? durationText(value) : number(value)
}

function effectText({ effect, disallowed, allowed, delayMs: [old = 0, now = 0] }: ChangeFacts): string {
  const texts = Object.entries({ disallowed, allowed }).flatMap(([what, changes]) =>
    changes.map(({ file, line, rule, examples: [path] }) => {
      const cause = line === undefined ? 'by no rule' : `${file === 'new' ? 'by' : 'without'} line ${line}, ${rule}`
      return `${what} ${path} ${cause}`
    }),
  )
  if (old !== now) texts.push(`delay ${durationText(old)}, now ${durationText(now)}`)
  return texts.slice(0, 6).join('; ') || effect
}

const UNITS = Object.entries({ d: 86_400_000, h: 3_600_000, min: 60_000, s: 1_000 })

function durationText(ms: number): string {
  const [unit, size] = UNITS.find(([, size]) => ms >= size) ?? ['ms', 1]
  return `${number(Number((ms / size).toPrecision(3)))} ${unit}`
}

/** Also for what is not a number: a record may have been changed. */
function number(value: number): string {
  return Number(value).toLocaleString('en')
}

function escaped(text: string): string {
  return escapeControls(text).replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`)
}
