// The page of a report: one HTML file without scripts and without references to other files. Texts
// of sites are hostile: each goes through `escaped`. Horizontal lengths in pictures are percentages,
// so that a picture has the width of the page and its text keeps its size.
import { escapeControls } from '@politely/core/internal'
import type { ChangeFacts, ReportFacts, SiteFacts } from './report-facts.ts'

const [MAX_ROWS, MAX_SITES_IN_PICTURE] = [200, 25]

// Blue and orange differ for colour-blind people too, and in grey.
const STYLE = `
:root { color-scheme: light dark; --ink: #1d2226; --faint: #5c666e; --line: #d5dade; --paper: #fff; --a: #0072b2; --b: #d55e00 }
@media screen and (prefers-color-scheme: dark) { :root { --ink: #e4e8eb; --faint: #a0abb3; --line: #3a444c; --paper: #14191d; --a: #56b4e9; --b: #f0a030 } }
body { font: 15px/1.5 system-ui, sans-serif; color: var(--ink); background: var(--paper); max-width: 1120px; margin: auto; padding: 1.5rem 1rem }
h1 { font-size: 1.6rem; margin: 0 } h2 { font-size: 1.15rem; margin: 2.2rem 0 .4rem } ul { padding-left: 1.2rem } li { margin: .35rem 0; max-width: 75ch; overflow-wrap: anywhere }
p, figure { margin: .3rem 0 } figcaption { margin-bottom: .6rem } p, figcaption, .faint { color: var(--faint); fill: var(--faint); font-size: 13px }
svg { display: block; overflow: visible } .key { display: inline-block; margin: 0 .3rem 0 .8rem } text { fill: var(--ink); font-size: 13px }
.a { fill: var(--a) } .b { fill: var(--b) } line { stroke: var(--line) } .one { stroke: var(--ink) }
.scroll { overflow-x: auto } table { border-collapse: collapse; font-size: 13px; min-width: 760px } th { color: var(--faint); font-weight: 500 }
th, td { padding: .25rem .9rem .25rem 0; text-align: left; vertical-align: top; border-bottom: 1px solid var(--line) }
td { overflow-wrap: anywhere; min-width: 3.5em } td:first-child { min-width: 14em } td:last-child:not(.n) { min-width: 15em }
.n { text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap }
@media print { body { font-size: 11px; max-width: none; padding: 0 } table { font-size: 8px; min-width: 0 } tr, figure { break-inside: avoid } }
`

export function reportPage(facts: ReportFacts): string {
  const { sites, rules, otherRules, changes, otherChanges } = facts
  return `<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>Crawl report</title><style>${STYLE}</style></head>
<body>
<h1>Crawl report</h1>
<p>${timeText(facts.from)} to ${timeText(facts.to)} (all times in UTC)</p>
<ul>${inShort(facts).join('\n')}</ul>
${timelinePicture(facts)}
${waitsPicture(facts)}
${gapsPicture(sites)}
${table('Sites that changed their robots.txt', 'Site|Between|Files|Effect on the crawler', changes, changeRow, otherChanges)}
${table('Refusals by rule', 'Site|Refusals|File|Line|Rule', rules, (each) => [each.origin, each.count, hashText(each.sha256), each.line, each.rule])}
${otherRules > 0 ? `<p>${counted(otherRules, 'more refusal')} by other lines.</p>` : ''}
${table('Sites', 'Site|Requests|Answers|Failed|From store|Refused|Delay|Shortest gap|Median gap|Shorter|robots.txt', sites, siteRow)}
<p>Files are named by the first 16 digits of their SHA-256. The JSON form of this report has all digits, rows and counts.</p>
</body>
</html>
`
}

/** Says first what a site owner or a lawyer asks. */
function inShort(facts: ReportFacts): readonly string[] {
  const { totals, crawlers, sites, refusals, changes, otherChanges, gaps: lost } = facts
  const of = (name: keyof typeof totals) => totals[name] ?? 0
  const names = crawlers.map(({ userAgent, purpose, politely, decisions }) => {
    const uses = purpose === undefined ? '' : `, for ${purpose}`
    return `${escaped(userAgent)} (Politely ${escaped(politely)}${escaped(uses)}) decided ${counted(decisions, 'time')}`
  })
  const reasons = Object.entries(refusals).map(([reason, n]) => `${number(n)} ${REASONS[reason] ?? escaped(reason)}`)
  const asking = sites.flatMap(({ gaps }) => (gaps?.shortestRatio === undefined ? [] : [gaps]))
  const total = (field: 'delayed' | 'shorter' | 'capped') => asking.reduce((sum, gaps) => sum + gaps[field], 0)
  const most = durationText(asking.reduce((max, { mostMs }) => Math.max(max, mostMs), 0))
  const shorter = `${number(total('shorter'))} of ${counted(total('delayed'), 'gap')} between requests were shorter than the delay asked for`
  const undercut = `by up to ${most}; ${number(total('capped'))} of these by the crawler's own limit (maxDelayMs)`
  const firstLost = lost[0] === undefined ? '' : ` (the first at ${timeText(lost[0].since)}: ${lost[0].error})`
  const missing = [
    [facts.lostRecords, `lost records${escaped(firstLost)}`],
    [facts.unreadable, 'unreadable lines'],
    [facts.withoutResult, 'requests without a result'],
    [facts.withoutDecision, 'results without a decision'],
    [facts.hashedUrls, 'decisions with only the hash of their URL'],
    [facts.chainsWithoutEnd, `of ${number(facts.chains)} starts of the crawler without an end of its records`],
    [sites.reduce((sum, { gaps }) => sum + (gaps?.late ?? 0), 0), 'requests whose gaps could not be measured'],
  ] as const
  const found = missing.filter(([count]) => count > 0).map(([count, text]) => `${number(count)} ${text}`)
  const states = Object.entries(STATES).flatMap(([state, text]) => {
    const count = sites.filter(({ robotsTxt }) => robotsTxt.includes(state)).length
    return count === 0 ? [] : [`${text} at ${counted(count, 'site')}`]
  })
  const effects = changes.filter(({ effect }) => effect === 'changed').length
  return [
    `${names.join('; ')}. The URLs were of ${counted(sites.length, 'site')}.`,
    `<b>Requests: ${number(of('requests'))}.</b> ${number(of('answered'))} were answered, ${number(of('failed'))} failed, and the end of ${number(of('not-reported'))} is unknown. A store answered ${number(of('stored-page'))} more without a request. ${number(of('not-sent'))} were given up before sending.`,
    `<b>Refused: ${number(of('refused'))}.</b>${reasons.length > 0 ? ` ${reasons.join(', ')}.` : ''}`,
    `<b>Let through against robots.txt: ${number(of('against-rules'))}.</b>`,
    `<b>Delays: ${shorter}</b>${total('shorter') === 0 ? '' : `, ${undercut}`}. ${counted(asking.length, 'site')} with two or more requests asked for a delay.`,
    `<b>Files: ${counted(facts.robotsTxtFiles, 'robots.txt file')} decided</b>; the tables name them by their SHA-256. ${states.length > 0 ? `At some time robots.txt was ${states.join(', ')}. ` : ''}Changes during the crawl: ${number(changes.length + otherChanges)}, of which ${number(effects)} had an effect on the crawler.`,
    `<b>Missing:</b> ${found.join('; ') || 'nothing that is known'}. Requests for robots.txt itself are not counted here.`,
  ].map((text) => `<li>${text}</li>`)
}

const REASONS: Readonly<Record<string, string>> = {
  rule: 'by a rule of robots.txt',
  unreachable: 'since robots.txt was unreachable',
  restricted: 'since the server refuses access to robots.txt',
  'invalid-url': 'since the URL is invalid',
}

/** The states of a robots.txt, as sites have them. */
const STATES: Readonly<Record<string, string>> = {
  unavailable: 'missing',
  unreachable: 'unreachable',
  restricted: 'access refused',
  redirected: 'redirected',
  'not-robots-txt': 'not a robots.txt',
  cut: 'cut at the size limit',
}

function timelinePicture({ timeline: { widthMs, bars } }: ReportFacts): string {
  const [start, end] = [Date.parse(bars[0]?.time ?? ''), Date.parse(bars.at(-1)?.time ?? '') + widthMs]
  const most = Math.max(...bars.map(({ started, refused }) => started + refused))
  const width = percent((0.85 * widthMs) / (end - start))
  const rect = (kind: string, x: string, from: number, count: number) =>
    `<rect class="${kind}" x="${x}" width="${width}" y="${round(160 - (140 * (from + count)) / most)}" height="${round((140 * count) / most)}"/>`
  const shapes = bars.map(({ time, started, refused }) => {
    const x = percent((Date.parse(time) - start) / (end - start))
    const title = `${timeText(time)}: ${number(started)} started, ${number(refused)} refused`
    return `<g><title>${title}</title>${rect('a', x, 0, started)}${rect('b', x, started, refused)}</g>`
  })
  const lines = [20, 160].map((y) => `<line x1="0" x2="100%" y1="${y}" y2="${y}"/>`)
  const [from, to] = [start, end].map((at) => timeText(Number.isNaN(at) ? '' : new Date(at).toISOString()))
  const axis = `${label('0', 15, number(most))}${label('0', 177, from)}${label('100%', 177, to)}`
  const note = `One bar is ${durationText(widthMs)}.${key('a')}requests that started${key('b')}refused decisions`
  return figure('Requests over time', note, 182, shapes, [...lines, axis])
}

function waitsPicture({ waits }: ReportFacts): string {
  const shapes = waits.map(({ cause, count, totalMs, longestMs }, n) => {
    const text = `${durationText(totalMs)} in ${counted(count, 'wait')}, longest ${durationText(longestMs)}`
    const width = percent(Math.max(0.003, totalMs / (waits[0]?.totalMs ?? 1)))
    return `<text y="${n * 40 + 14}">${escaped(cause)}</text>${label('100%', n * 40 + 14, text)}<rect class="a" y="${n * 40 + 20}" height="8" width="${width}"/>`
  })
  return figure('Waits by cause', 'How long requests waited, by what they waited for last.', waits.length * 40, shapes)
}

/** Draws the shortest and the median gap of each site on a logarithmic axis, the shortest first. */
function gapsPicture(sites: readonly SiteFacts[]): string {
  const all = sites.flatMap(({ origin, gaps }) =>
    gaps?.shortestRatio === undefined ? [] : [{ origin, shortestRatio: 0, medianRatio: 0, ...gaps }],
  )
  const shown = all.sort((a, b) => a.shortestRatio - b.shortestRatio).slice(0, MAX_SITES_IN_PICTURE)
  const high = Math.ceil(Math.log10(Math.max(10, ...shown.map(({ medianRatio }) => medianRatio))))
  const x = (ratio: number) => percent((Math.log10(Math.max(0.1, ratio)) + 1) / (high + 1))
  const height = shown.length * 34 + 24
  const axis = Array.from({ length: high + 2 }, (_, n) => 10 ** (n - 1)).map(
    (ratio) =>
      `<line class="${ratio === 1 ? 'one' : ''}" x1="${x(ratio)}" x2="${x(ratio)}" y1="18" y2="${height}"/>${label(x(ratio), 12, ratio === 1 ? 'the delay' : `${ratio} ×`)}`,
  )
  const rows = shown.map(({ origin, shortestRatio, medianRatio, shorter, delayMs }, n) => {
    const [y, low, middle] = [n * 34 + 48, x(shortestRatio), x(medianRatio)]
    const title = `${origin}: shortest ${shortestRatio.toFixed(2)} ×, median ${medianRatio.toFixed(2)} × ${durationText(delayMs)}`
    const texts = `<text y="${y - 10}">${escaped(origin.length > 40 ? `${origin.slice(0, 39)}…` : origin)}</text>${label('100%', y - 10, `${durationText(delayMs)}${shorter > 0 ? `, ${number(shorter)} shorter` : ''}`)}`
    const marks = `<line x1="${low}" x2="${middle}" y1="${y}" y2="${y}"/><circle class="${shorter > 0 ? 'b' : 'a'}" cx="${low}" cy="${y}" r="5"/><rect class="a" x="${middle}" y="${y - 6}" width="3" height="12"/>`
    return `<g><title>${escaped(title)}</title>${texts}${marks}</g>`
  })
  const more = all.length > shown.length ? ` ${counted(all.length - shown.length, 'more site')} with longer gaps.` : ''
  const note = `The gaps between requests as parts of the delay that the site asks for.${key('a', 5)}shortest gap${key('b', 5)}shorter than the delay${key('a')}median gap.${more}`
  return figure('Gaps against the delay asked for', note, height, rows, axis)
}

/** Returns a picture; nothing for one without data. */
function figure(title: string, note: string, height: number, shapes: string[], axis: string[] = []): string {
  if (shapes.length === 0) return ''
  return `<h2>${title}</h2><figure><figcaption>${note}</figcaption><svg role="img" aria-label="${title}" width="100%" height="${height}"><title>${title}</title>${[...axis, ...shapes].join('\n')}</svg></figure>`
}

function label(x: string, y: number, text = ''): string {
  const anchor = x.startsWith('0') ? 'start' : x.startsWith('100') ? 'end' : 'middle'
  return `<text class="faint" x="${x}" y="${y}" text-anchor="${anchor}">${text}</text>`
}

function key(kind: 'a' | 'b', radius = 0): string {
  return `<svg class="key" width="10" height="10" aria-hidden="true"><rect class="${kind}" width="10" height="10" rx="${radius}"/></svg>`
}

type Cell = string | number | { readonly ms: number | undefined }

/** @param headings Separated by `|`. @param left How many rows there are without these. */
function table<T>(title: string, headings: string, all: readonly T[], row: (each: T) => Cell[], left = 0): string {
  const rows = all.slice(0, MAX_ROWS).map(row)
  if (rows.length === 0) return ''
  const tag = (value: Cell | undefined, name: string, content: string) =>
    `<${name}${typeof value === 'string' ? '' : ' class="n"'}>${content}</${name}>`
  const textOf = (cell: Cell) =>
    typeof cell === 'string' ? escaped(cell) : typeof cell === 'number' ? number(cell) : durationText(cell.ms)
  const head = headings.split('|').map((heading, n) => tag(rows[0]?.[n], 'th', heading))
  const body = rows.map((cells) => `<tr>${cells.map((cell) => tag(cell, 'td', textOf(cell))).join('')}</tr>`)
  const more = all.length - rows.length + left
  return `<h2>${title}</h2><div class="scroll"><table><thead><tr>${head.join('')}</tr></thead><tbody>${body.join('\n')}</tbody></table></div>${more > 0 ? `<p>And ${counted(more, 'more row')}.</p>` : ''}`
}

function siteRow({ origin, counts, gaps, robotsTxt, files }: SiteFacts): Cell[] {
  const classes = (['1xx', '2xx', '3xx', '4xx', '5xx'] as const).filter((name) => counts[name] !== undefined)
  const answers = classes.map((name) => `${number(counts[name] ?? 0)}\u00a0${name}`)
  const delayMs = gaps?.delayMs || undefined
  const times = [delayMs, gaps?.shortestMs, gaps?.medianMs].map((ms) => ({ ms }))
  const { requests = 0, failed = 0, refused = 0, 'stored-page': stored = 0 } = counts
  const hashes = files.map(({ sha256 }) => hashText(sha256))
  const robots = [...robotsTxt.flatMap((state) => STATES[state] ?? []), ...hashes].join(', ')
  return [origin, requests, answers.join(', '), failed, stored, refused, ...times, gaps?.shorter ?? 0, robots]
}

function changeRow({ origin, after, before, from, to, ...change }: ChangeFacts): Cell[] {
  const [old = 0, now = 0] = change.delayMs
  const changes = (['disallowed', 'allowed'] as const).flatMap((what) =>
    change[what].map((each) => ({ what, ...each })),
  )
  const texts = changes.slice(0, 6).map(({ what, file, line, rule, examples }) => {
    if (line === undefined) return `${what}, as no rule decides any more (such as ${examples[0]})`
    const by = `${file === 'new' ? 'by' : 'without'} line ${line} of the ${file} file, ${rule}`
    return `${what} ${by} (such as ${examples[0]})`
  })
  if (old !== now) texts.push(`the delay was ${durationText(old)} and is ${durationText(now)}`)
  const text = change.effect === 'unknown' ? 'unknown, since a file is missing' : texts.join('; ') || 'none'
  return [origin, `${timeText(after)} to ${timeText(before)}`, `${hashText(from)}\u00a0→ ${hashText(to)}`, text]
}

function hashText(sha256: string): string {
  return sha256.slice(0, 16) || 'no file'
}

function timeText(time: string): string {
  return escaped(time.replace('T', ' ').replace(/(?:\.\d+)?Z$/, ''))
}

const UNITS = { d: 86_400_000, h: 3_600_000, min: 60_000, s: 1_000, ms: 1 }

function durationText(ms: number | undefined): string {
  if (ms === undefined) return ''
  const [unit, size] = Object.entries(UNITS).find(([, size]) => ms >= size) ?? ['ms', 1]
  return `${number(Number((ms / size).toPrecision(3)))} ${unit}`
}

function percent(part: number): string {
  return `${round(100 * part)}%`
}

function round(value: number): number {
  return Math.round(value * 100) / 100
}

function number(value: number): string {
  return value.toLocaleString('en')
}

function counted(count: number, one: string): string {
  return `${number(count)} ${count === 1 ? one : `${one}s`}`
}

function escaped(text: string): string {
  return escapeControls(text).replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`)
}
