// The page of a report: one HTML file without scripts and without references to other files. Texts
// of sites are hostile, so `escaped` comes last for each of them. Lengths in pictures are percentages,
// so that a picture has the width of the page and its text keeps its size.
import { escapeControls } from '@politely/core/internal'
import type { ChangeFacts, ReportFacts, SiteFacts } from './report-facts.ts'

// Blue and orange differ for colour-blind people too, and in grey.
const STYLE = `
:root { color-scheme: light dark; --ink: #1d2226; --faint: #5c666e; --line: #d5dade; --paper: #fff; --a: #0072b2; --b: #d55e00 }
@media screen and (prefers-color-scheme: dark) { :root { --ink: #e4e8eb; --faint: #a0abb3; --line: #3a444c; --paper: #14191d; --a: #56b4e9; --b: #f0a030 } }
body { font: 15px/1.5 system-ui, sans-serif; color: var(--ink); background: var(--paper); max-width: 1120px; margin: auto; padding: 1.5rem 1rem }
h1 { font-size: 1.6rem; margin: 0 } h2 { font-size: 1.15rem; margin: 2.2rem 0 .4rem } li { margin: .35rem 0; max-width: 75ch }
p, figure { margin: .3rem 0 } p, figcaption, .faint { color: var(--faint); fill: var(--faint); font-size: 13px }
svg { display: block; overflow: visible } .key { display: inline-block; margin: 0 .3rem 0 .8rem }
text { fill: var(--ink); font-size: 13px } .a { fill: var(--a) } .b { fill: var(--b) } line { stroke: var(--line) } .one { stroke: var(--ink) }
.scroll { overflow-x: auto } table { border-collapse: collapse; font-size: 13px } th { color: var(--faint); font-weight: 500 }
th, td { padding: .25rem .9rem .25rem 0; text-align: left; vertical-align: top; border-bottom: 1px solid var(--line) }
td { overflow-wrap: anywhere; min-width: 4em } td:first-child { min-width: 12em }
.n { text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap }
@media print { body { font-size: 11px; max-width: none; padding: 0 } table { font-size: 9px } tr, figure { break-inside: avoid } }
`

/** Returns the page. @param maxRows Of each table and of the picture with a row for each site. */
export function reportPage(facts: ReportFacts, maxRows: number): string {
  const { crawlers, sites, rules, otherRules, changes, otherChanges, gaps } = facts
  const other = otherRules > 0 ? `${counted(otherRules, 'more refusal')} by other lines.` : ''
  const changeRow = (change: ChangeFacts) => [
    change.origin,
    `${timeText(change.after)} to ${timeText(change.before)}`,
    `${hashText(change.from)} → ${hashText(change.to)}`,
    effectText(change),
  ]
  const parts = [
    `<h1>Crawl report</h1><p>${timeText(facts.from)} to ${timeText(facts.to)} (all times in UTC)</p>`,
    `<ul>${inShort(facts)
      .map((text) => `<li>${escaped(text)}</li>`)
      .join('\n')}</ul>`,
    timelinePicture(facts),
    waitsPicture(facts),
    gapsPicture(sites, maxRows),
    table(
      'Sites that changed their robots.txt',
      'Site|Between|Files|Effect on the crawler',
      changes.map(changeRow),
      maxRows,
      otherChanges,
    ),
    table(
      'Refusals by rule',
      'Site|File|Line|Rule|Refusals',
      rules.map((each) => [each.origin, hashText(each.sha256), each.line, each.rule, each.count]),
      maxRows,
    ),
    `<p>${other}</p>`,
    table('Sites', SITE_HEADINGS, sites.slice(0, maxRows).map(siteRow), maxRows, sites.length - maxRows),
    table(
      'Crawlers',
      'User-Agent|Purpose|Politely|Decisions',
      crawlers.map((each) => [each.userAgent, each.purpose ?? '', each.politely, each.decisions]),
      maxRows,
    ),
    table(
      'Lost records',
      'From|To|Records|Why',
      gaps.map((each) => [timeText(each.since), timeText(each.time), each.lost, each.error]),
      maxRows,
    ),
    '<p>Files are named by the first 16 digits of their SHA-256. The JSON form of this report has all digits, rows and counts.</p>',
  ]
  const head = '<meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>Crawl report</title>'
  return `<!doctype html>\n<html lang="en">\n<head>${head}<style>${STYLE}</style></head>\n<body>\n${parts.join('\n')}\n</body>\n</html>\n`
}

/** Says first what a site owner or a lawyer asks. */
function inShort(facts: ReportFacts): string[] {
  const { totals, crawlers, sites, refusals, changes } = facts
  const names = crawlers.map(({ userAgent }) => userAgent)
  const reasons = Object.entries(refusals).sort(([, a], [, b]) => b - a)
  const asking = sites.flatMap(({ gaps }) => (gaps !== undefined && gaps.delayed > 0 ? [gaps] : []))
  const total = (field: 'delayed' | 'shorter' | 'capped') => asking.reduce((sum, gaps) => sum + gaps[field], 0)
  const [shorter, capped] = [total('shorter'), total('capped')]
  const most = durationText(Math.max(0, ...asking.map(({ mostMs }) => mostMs)))
  const late = sites.reduce((sum, { gaps }) => sum + (gaps?.late ?? 0), 0)
  const delays = shorter === 0 ? 'No gap was' : `${counted(shorter, 'gap')} ${shorter === 1 ? 'was' : 'were'}`
  const effects = changes.filter(({ effect }) => effect === 'changed').length
  const missing = [
    counted(facts.lostRecords, 'record could not be written', 'records could not be written'),
    counted(facts.unreadable, 'line cannot be read', 'lines cannot be read'),
    counted(facts.withoutResult, 'request has no result', 'requests have no result'),
    counted(facts.withoutDecision, 'result has no decision', 'results have no decision'),
    counted(facts.hashedUrls, 'decision has only the hash of its URL', 'decisions have only the hash of their URL'),
    counted(facts.chainsWithoutEnd, 'process did not close its records', 'processes did not close their records'),
    counted(
      late,
      'request was too late in the records to measure its gap',
      'requests were too late in the records to measure their gaps',
    ),
  ].filter((text) => !text.startsWith('0 '))
  return [
    `${names.join(', ')} decided ${counted(totals.decisions, 'time')} about URLs of ${counted(sites.length, 'site')}.`,
    `It sent ${counted(totals.requests, 'request')}: ${number(totals.answered)} answered, ${number(totals.failed)} failed, ${number(totals.notReported)} with an unknown end. ${counted(totals.fromStore, 'page')} came from its store, and ${counted(totals.notSent, 'request')} ${totals.notSent === 1 ? 'was' : 'were'} given up before sending.`,
    `It refused ${counted(totals.refused, 'URL')}${reasons.map(([reason, n], i) => `${i === 0 ? ': ' : ', '}${number(n)} ${REASONS[reason] ?? `because of ${reason}`}`).join('')}.`,
    `${totals.againstRules === 0 ? 'No request was' : `${counted(totals.againstRules, 'request')} ${totals.againstRules === 1 ? 'was' : 'were'}`} let through against robots.txt.`,
    asking.length === 0
      ? 'No site with two or more requests asked for a delay.'
      : `${counted(asking.length, 'site')} with two or more requests asked for a delay. ${delays} shorter than the delay, of ${number(total('delayed'))}${shorter === 0 ? '' : `; by up to ${most}`}${capped === 0 ? '' : `; ${number(capped)} by the crawler's own limit (maxDelayMs)`}.`,
    `${counted(facts.robotsTxtFiles, 'robots.txt file')} decided; the tables name them by their SHA-256. ${counted(changes.length + facts.otherChanges, 'change')} of a robots.txt during the crawl, ${number(effects)} with an effect on the crawler.`,
    `${missing.length === 0 ? 'Nothing is known to be missing' : `Missing: ${missing.join('; ')}`}. Requests for robots.txt itself are not counted here.`,
  ]
}

const REASONS: Readonly<Record<string, string>> = {
  rule: 'by a rule of robots.txt',
  unreachable: 'since robots.txt was unreachable',
  restricted: 'since the server refuses access to robots.txt',
  'invalid-url': 'since the URL is invalid',
}

function timelinePicture({ timeline: { widthMs, bars } }: ReportFacts): string {
  const start = Date.parse(bars[0]?.time ?? '')
  const end = Date.parse(bars.at(-1)?.time ?? '') + widthMs
  const most = Math.max(...bars.map(({ started, refused }) => started + refused))
  const [each, scale] = [(100 * widthMs) / (end - start), 140 / most]
  const shapes = bars.map(({ time, started, refused }) => {
    const x = (100 * (Date.parse(time) - start)) / (end - start)
    const rect = (kind: string, from: number, count: number) =>
      `<rect class="${kind}" x="${x.toFixed(2)}%" width="${(each * 0.85).toFixed(2)}%" y="${(160 - (from + count) * scale).toFixed(1)}" height="${(count * scale).toFixed(1)}"/>`
    return `<g><title>${timeText(time)}: ${number(started)} started, ${number(refused)} refused</title>${rect('a', 0, started)}${rect('b', started, refused)}</g>`
  })
  const axis = `<line x1="0" x2="100%" y1="20" y2="20"/><line x1="0" x2="100%" y1="160" y2="160"/><text class="faint" y="15">${number(most)}</text><text class="faint" y="177">${timeText(new Date(start).toISOString())}</text><text class="faint" x="100%" y="177" text-anchor="end">${timeText(new Date(end).toISOString())}</text>`
  const note = `One bar is ${durationText(widthMs)}.${key('a')}requests that started${key('b')}refused decisions`
  return bars.length === 0 ? '' : figure('Requests over time', note, 180, axis + shapes.join(''))
}

function waitsPicture({ waits }: ReportFacts): string {
  const most = Math.max(...waits.map(({ totalMs }) => totalMs))
  const rows = waits.map(({ cause, count, totalMs, longestMs }, n) => {
    const text = `${durationText(totalMs)} in ${counted(count, 'wait')}, longest ${durationText(longestMs)}`
    return `<text y="${n * 40 + 14}">${escaped(cause)}</text><text class="faint" x="100%" y="${n * 40 + 14}" text-anchor="end">${text}</text><rect class="a" y="${n * 40 + 20}" height="8" width="${Math.max(0.3, (100 * totalMs) / most).toFixed(1)}%"/>`
  })
  return rows.length === 0
    ? ''
    : figure('Waits by cause', 'Total time that requests waited, by their last cause.', rows.length * 40, rows.join(''))
}

function gapsPicture(sites: readonly SiteFacts[], maxRows: number): string {
  const all = sites.filter(({ gaps }) => gaps?.shortestRatio !== undefined)
  const shown = all.toSorted((a, b) => ratioOf(a) - ratioOf(b)).slice(0, Math.min(40, maxRows))
  const [low, high] = [-1, Math.ceil(Math.log10(Math.max(10, ...shown.map(({ gaps }) => gaps?.medianRatio ?? 0))))]
  const x = (ratio: number) =>
    `${Math.max(0.5, (100 * (Math.log10(Math.max(ratio, 1e-9)) - low)) / (high - low)).toFixed(2)}%`
  const height = shown.length * 34 + 24
  const ticks = Array.from({ length: high - low + 1 }, (_, n) => 10 ** (low + n)).map(
    (ratio, n) =>
      `<line${ratio === 1 ? ' class="one"' : ''} x1="${x(ratio)}" x2="${x(ratio)}" y1="18" y2="${height}"/><text class="faint" x="${x(ratio)}" y="12" text-anchor="${n === 0 ? 'start' : ratio === 10 ** high ? 'end' : 'middle'}">${ratio === 1 ? 'the delay' : `${ratio} ×`}</text>`,
  )
  const rows = shown.map(({ origin, gaps }, n) => {
    const { shortestRatio = 0, medianRatio = 0, shorter = 0, delayMs = 0 } = gaps ?? {}
    const y = n * 34 + 48
    return `<g><title>${escaped(origin)}: shortest ${shortestRatio.toFixed(2)} ×, median ${medianRatio.toFixed(2)} × ${durationText(delayMs)}</title><text y="${y - 10}">${escaped(shortened(origin))}</text><text class="faint" x="100%" y="${y - 10}" text-anchor="end">${durationText(delayMs)}${shorter > 0 ? `, ${number(shorter)} shorter` : ''}</text><line x1="${x(shortestRatio)}" x2="${x(medianRatio)}" y1="${y}" y2="${y}"/><circle class="${shorter > 0 ? 'b' : 'a'}" cx="${x(shortestRatio)}" cy="${y}" r="5"/><rect class="a" x="${x(medianRatio)}" y="${y - 6}" width="3" height="12"/></g>`
  })
  const left = all.length > shown.length ? ` ${counted(all.length - shown.length, 'more site')} with larger gaps.` : ''
  const note = `The gaps between requests as parts of the delay that the site asks for.${key('a', 5)}shortest gap${key('b', 5)}shorter than the delay${key('a')}median.${left}`
  return rows.length === 0
    ? ''
    : figure('Gaps against the delay asked for', note, height, ticks.join('') + rows.join(''))
}

function ratioOf({ gaps }: SiteFacts): number {
  return gaps?.shortestRatio ?? Number.POSITIVE_INFINITY
}

function key(kind: 'a' | 'b', radius = 0): string {
  return `<svg class="key" width="10" height="10" aria-hidden="true"><rect class="${kind}" width="10" height="10" rx="${radius}"/></svg>`
}

function figure(title: string, note: string, height: number, shapes: string): string {
  return `<h2>${title}</h2><figure><figcaption>${note}</figcaption><svg role="img" aria-label="${title}" width="100%" height="${height}"><title>${title}</title>${shapes}</svg></figure>`
}

const SITE_HEADINGS = 'Site|Requests|Answers|Failed|From store|Refused|Delay|Shortest gap|Median gap|Shorter|robots.txt'

function siteRow({ gaps, ...site }: SiteFacts): Cell[] {
  const statuses = Object.entries(site.statuses).map(([status, n]) => `${status} ${number(n)}`)
  const files = site.files.map(({ sha256 }) => hashText(sha256))
  const delay = gaps?.delayed
    ? [{ ms: gaps.delayMs }, { ms: gaps.shortestMs }, { ms: gaps.medianMs }, gaps.shorter]
    : ['', gaps ? { ms: gaps.shortestMs } : '', gaps ? { ms: gaps.medianMs } : '', '']
  return [
    site.origin,
    site.requests,
    statuses.join(', '),
    site.failed,
    site.fromStore,
    site.refused,
    ...delay,
    [site.robotsTxt.join(', '), ...files].join(' '),
  ]
}

function effectText({ effect, disallowed, allowed, delayMs: [from = 0, to = 0] }: ChangeFacts): string {
  const lines = (what: string, changes: ChangeFacts['allowed']) =>
    changes.map(
      ({ file, line, rule, examples }) =>
        `${what} ${file === 'new' ? 'by' : 'without'} line ${line ?? '?'} of the ${file} file (${rule ?? 'no rule'}), such as ${examples[0]}`,
    )
  const delay = from === to ? [] : [`delay ${durationText(from)} → ${durationText(to)}`]
  if (effect === 'unknown') return 'unknown: a file is missing'
  return [...lines('disallowed', disallowed), ...lines('allowed', allowed), ...delay].slice(0, 6).join('; ') || 'none'
}

type Cell = string | number | { readonly ms: number }

/** @param headings Separated by `|`. @param left How many rows there are without these. */
function table(title: string, headings: string, rows: readonly (readonly Cell[])[], maxRows: number, left = 0): string {
  if (rows.length === 0) return ''
  const cell = (value: Cell) =>
    typeof value === 'string'
      ? `<td>${escaped(value)}</td>`
      : `<td class="n">${typeof value === 'number' ? number(value) : durationText(value.ms)}</td>`
  const head = headings
    .split('|')
    .map((each, n) => `<th${typeof rows[0]?.[n] === 'string' ? '' : ' class="n"'}>${each}</th>`)
  const hidden = Math.max(0, rows.length - maxRows) + Math.max(0, left)
  return `<h2>${title}</h2><div class="scroll"><table><thead><tr>${head.join('')}</tr></thead><tbody>${rows
    .slice(0, maxRows)
    .map((row) => `<tr>${row.map(cell).join('')}</tr>`)
    .join('\n')}</tbody></table></div>${hidden > 0 ? `<p>And ${counted(hidden, 'more row')}.</p>` : ''}`
}

function hashText(sha256: string): string {
  return sha256.slice(0, 16) || 'no file'
}

function shortened(text: string): string {
  return text.length > 40 ? `${text.slice(0, 39)}…` : text
}

function timeText(time: string): string {
  return escaped(time.replace('T', ' ').replace(/(?:\.\d+)?Z$/, ''))
}

function durationText(ms: number): string {
  const [unit, size] = UNITS.find(([, size]) => ms >= size) ?? ['ms', 1]
  return `${number(Number((ms / size).toPrecision(3)))} ${unit}`
}

const UNITS = [
  ['d', 86_400_000],
  ['h', 3_600_000],
  ['min', 60_000],
  ['s', 1_000],
] as const

function number(value: number): string {
  return value.toLocaleString('en')
}

function counted(value: number, one: string, many = `${one}s`): string {
  return `${number(value)} ${value === 1 ? one : many}`
}

function escaped(text: string): string {
  return escapeControls(text).replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`)
}
