// `reportEvidence`: the facts and the page of a generated crawl, and of small crawls whose answers
// are known.
import { hash } from 'node:crypto'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { zstdCompressSync } from 'node:zlib'
import { expect, onTestFinished, test } from 'vitest'
import { reportEvidence } from '../src/audit/index.ts'
import { FactCounter, type ReportFacts } from '../src/audit/report-facts.ts'
import { reportPage } from '../src/audit/report-page.ts'
import type { DecisionRecord, EvidenceRecord, ResultRecord } from '../src/record.ts'
import { BY, generateCrawl } from './report-crawl.ts'

const SITE = 'https://shop.example'
const START = Date.UTC(2026, 10, 28, 16)

async function report(
  records: readonly EvidenceRecord[],
  files: ReadonlyMap<string, string> = new Map(),
): Promise<{ readonly facts: ReportFacts; readonly html: string }> {
  const counter = new FactCounter()
  for (const record of records) counter.add({ record })
  const facts = await counter.result(async (sha256) => ({ bytes: files.get(sha256) }))
  return { facts, html: reportPage(facts) }
}

const base = (at: number) =>
  ({ v: 1, chain: 'ab12cd34ef56', seq: 0, prev: '', time: new Date(START + at).toISOString() }) as const

/** A decision to send a request. */
function decision(
  id: string,
  at: number,
  more: Partial<DecisionRecord> & { readonly text?: string; readonly confirmedAt?: number } = {},
): DecisionRecord {
  const { text = 'User-agent: *\n', confirmedAt = 0, ...fields } = more
  const url = `${SITE}/robots.txt`
  return {
    ...base(at),
    kind: 'decision',
    id,
    use: 'request',
    url: `${SITE}/page/${id}`,
    by: BY,
    verdict: { allowed: true, because: 'no-rule-matched' },
    origin: SITE,
    access: {
      outcome: 'success',
      reason: 'status',
      status: 200,
      detail: undefined,
      url,
      hops: [],
      checkedAt: START + confirmedAt,
      nextAttemptAt: START + 86_400_000,
      copy: { freshness: 'fresh', ageMs: 0, bytes: text.length, truncated: false },
    },
    robotsTxt: {
      sha256: hash('sha256', text),
      truncated: false,
      confirmedAt: START + confirmedAt,
      url,
      etag: undefined,
      lastModified: undefined,
      lifetimeMs: undefined,
    },
    ...fields,
  } as DecisionRecord
}

/** The result of a request that started at a time. */
function result(id: string, at: number, more: Partial<ResultRecord> = {}): ResultRecord {
  const delay = { delayMs: 2_000, because: 'crawl-delay' } as const
  const permit = { time: base(at).time, waitedMs: 0, waitedFor: 'none', key: SITE, delay }
  return { ...base(at), kind: 'result', id, outcome: 'answered', status: 200, permit, ...more }
}

test('counts what the records of a crawl say', async () => {
  const { records, files } = generateCrawl()
  const { facts, html } = await report(records, files)
  const decisions = records.filter((record) => record.kind === 'decision')
  const refused = decisions.filter(({ verdict }) => !verdict.allowed)
  const results = records.filter((record) => record.kind === 'result')
  const sent = results.filter(({ outcome }) => outcome === 'answered' || outcome === 'failed')

  expect(JSON.parse(JSON.stringify(facts))).toEqual(facts)
  expect(facts.totals).toMatchObject({ decisions: decisions.length, refused: refused.length, requests: sent.length })
  const refusals = (isByRule: boolean) =>
    facts.refusals.filter(({ line }) => (line !== undefined) === isByRule).reduce((sum, { count }) => sum + count, 0)
  const byRule = refused.filter(({ verdict }) => verdict.because === 'rule')
  expect([refusals(true), refusals(false)]).toEqual([byRule.length, refused.length - byRule.length])
  expect(facts.withoutResult).toBe(decisions.length - refused.length - results.length)
  expect(facts.sites.reduce((sum, { counts }) => sum + (counts.requests ?? 0), 0)).toBe(sent.length)
  expect(facts.waits.reduce((sum, { totalMs }) => sum + totalMs, 0)).toBe(
    results.reduce((sum, { permit }) => sum + (permit?.waitedMs ?? 0), 0),
  )
  expect(facts.bars.reduce((sum, { started }) => sum + started, 0)).toBe(sent.length)
  const undercut = facts.sites.filter(({ gaps }) => (gaps?.shorter ?? 0) > 0).map(({ origin }) => origin)
  expect(undercut.sort()).toEqual([8, 48, 88, 128].map((n) => `https://wiki-${n}.example`).sort())
  const changed = facts.changes.map(({ origin, effect }) => `${origin} ${effect}`)
  expect(changed.sort()).toEqual(
    [4, 29, 54, 79, 104, 129, 154, 179].map((n) => `https://uni-${n}.example changed`).sort(),
  )
  expect(facts).toMatchObject({ lostRecords: 12, unreadable: 0, unmeasured: 0 })
  expect(html).toContain(`<b>Requests: ${sent.length.toLocaleString('en')}.</b>`)
  expect(html).not.toMatch(/<script|<link|<img|src=|@import|url\(/)
})

test('measures gaps in the order of the starts, also those of two chains', async () => {
  const asked = { crawlDelayMs: 2_000 }
  const { facts, html } = await report([
    ...['a', 'b', 'c', 'd'].map((id) => decision(id, 0, id === 'd' ? {} : { asked })),
    result('b', 1_500),
    result('c', 3_500),
    result('d', 4_000), // the site asks for no delay any more
    { ...result('a', 0), chain: 'ba21dc43fe65' },
  ])
  expect(facts.sites[0]?.gaps).toEqual({ count: 2, shorter: 1, gapMs: 1_500, delayMs: 2_000, part: 0.75 })
  expect(html).toContain('asked for: 1</b> of 2')
})

test('measures a gap against the shorter delay of both requests, and each crawler alone', async () => {
  const [asked, by] = [{ crawlDelayMs: 2_000 }, { ...BY, productTokens: ['OtherBot'] }]
  const { facts } = await report([
    decision('a', 0, { asked }),
    decision('b', 0, { asked: { crawlDelayMs: 1_000 } }),
    decision('c', 0, { asked, by }),
    ...[result('a', 0), result('b', 1_500), result('c', 1_600)],
  ])
  expect(facts.sites.map(({ crawler, gaps }) => [crawler, gaps])).toEqual([
    ['ExampleBot', { count: 1, shorter: 0, gapMs: 1_500, delayMs: 1_000, part: 1.5 }],
    ['OtherBot', undefined],
  ])
})

test('tells a change from an older copy of another process', async () => {
  const [old, now] = ['User-agent: *\nDisallow: /a/\n', 'User-agent: *\nDisallow: /b/\nCrawl-delay: 3\n']
  const files = new Map([old, now].map((text) => [hash('sha256', text), text]))
  const { facts } = await report(
    [
      decision('1', 0, { text: old }),
      decision('2', 9_000, { text: now, confirmedAt: 8_000 }),
      decision('3', 9_500, { text: old, confirmedAt: 0 }),
    ],
    files,
  )
  expect(facts.changes).toMatchObject([
    {
      ...{ origin: SITE, from: hash('sha256', old), to: hash('sha256', now), effect: 'changed', delayMs: [0, 3_000] },
      ...{ after: base(0).time, before: base(8_000).time },
      disallowed: [{ file: 'new', line: 2, rule: 'Disallow: /b/', examples: ['/b/', '/b/x'] }],
      allowed: [{ file: 'old', line: 2, rule: 'Disallow: /a/', examples: ['/a/', '/a/x'] }],
    },
  ])
})

test('finds no effect in the rules of another crawler, and an unknown one without the file', async () => {
  const texts = ['User-agent: *\n', 'User-agent: OtherBot\nDisallow: /\n', 'User-agent: *\nDisallow: /\n']
  const files = new Map(texts.slice(0, 2).map((text) => [hash('sha256', text), text]))
  const records = texts.map((text, n) => decision(`${n}`, n * 1_000, { text, confirmedAt: n * 1_000 }))
  const { facts, html } = await report(records, files)
  expect(facts.changes.map(({ effect }) => effect)).toEqual(['none', 'unknown'])
  expect(html).toContain('unknown')
})

test('takes a robots.txt that is gone for a change', async () => {
  const text = 'User-agent: *\nDisallow: /a/\n'
  const { access, robotsTxt: _, ...rest } = decision('2', 2_000, { confirmedAt: 1_000 })
  const gone = { ...rest, access: { ...access, outcome: 'unavailable', copy: undefined } } as DecisionRecord
  const { facts } = await report([decision('1', 0, { text }), gone], new Map([[hash('sha256', text), text]]))
  expect(facts.changes).toMatchObject([{ to: '', effect: 'changed', allowed: [{ line: 2 }] }])
  expect(facts.sites[0]?.robotsTxt).toBe('unavailable')
})

test('finds a change that only the second of two chains has seen', async () => {
  const [a, b] = ['User-agent: *\n', 'User-agent: *\nDisallow: /\n']
  const { facts } = await report(
    [
      decision('1', 0, { text: a }),
      decision('2', 0, { text: a, confirmedAt: 9_000 }),
      decision('3', 0, { text: b, confirmedAt: 5_000 }),
    ],
    new Map([a, b].map((text) => [hash('sha256', text), text])),
  )
  const between = facts.changes.map(({ after, before, allowed, disallowed }) => [
    after,
    before,
    allowed.length,
    disallowed.length,
  ])
  expect(between).toEqual([
    [base(0).time, base(5_000).time, 0, 1],
    [base(5_000).time, base(9_000).time, 1, 0],
  ])
})

test('keeps the changes of a site whose file is confirmed often', async () => {
  const [a, b] = ['User-agent: *\n', 'User-agent: *\nDisallow: /\n']
  const records = Array.from({ length: 5_000 }, (_, n) =>
    decision(`${n}`, 0, { text: n < 2_500 ? a : b, confirmedAt: n * 1_000 }),
  )
  const { facts } = await report(records)
  expect(facts.changes).toMatchObject([{ after: base(2_499_000).time, before: base(2_500_000).time }])
})

test('says what is missing', async () => {
  const { facts, html } = await report([
    decision('a', 0),
    decision('b', 0),
    result('b', 10),
    result('b', 20, { outcome: 'noted', body: { sha256: '', bytes: 500 } }),
    result('lost', 30),
    { ...base(40), kind: 'gap', lost: 3, since: base(35).time, error: 'ENOSPC' },
  ])
  expect(facts).toMatchObject({ withoutResult: 1, lostRecords: 3 })
  expect(facts.totals).toEqual({ decisions: 2, requests: 1, answered: 1 })
  expect(html).toMatch(/lost records: 3, unreadable lines: 0,\srequests without a result: 1/)
})

test('a decision that replaces another leaves no request open', async () => {
  const { facts } = await report([decision('a', 0), decision('b', 10, { replaces: 'a' }), result('b', 20)])
  expect(facts).toMatchObject({ withoutResult: 0, totals: { decisions: 2, requests: 1 } })
})

test('escapes the texts of sites', async () => {
  const rule = { directive: 'disallow', text: '/<script>alert(1)</script>"\u202e', line: 2, bytes: 30 }
  const verdict = { allowed: false, because: 'rule', rule } as const
  const by = { ...BY, userAgent: '<img src=x>' }
  const { html } = await report([decision('a', 0, { verdict, by, origin: 'https://<b>.example' })])
  expect(html).not.toMatch(/<script|<img|<b>\.example|\u202e/)
  expect(html).toContain('/&#60;script&#62;alert(1)&#60;/script&#62;&#34;\\u{202e}')
})

test.each([
  { verdict: { allowed: false, because: 'rule', rule: { line: ['<script>'] } } },
  { verdict: { allowed: false, because: 'rule', rule: { line: { toLocaleString: 1 } } } },
  { by: {} },
  { time: '<script>', verdict: { allowed: false, because: 'rule' } },
  { access: { outcome: 'success', copy: {} }, robotsTxt: {} },
])('reads a record that was changed: %j', async (changed) => {
  const { html, facts } = await report([decision('a', 0), decision('b', 0, changed as never), result('a', 10)])
  expect(html).not.toMatch(/<script/)
  expect(facts.totals.requests).toBe(1)
})

test('draws at most 40 bars, however long the crawl is', async () => {
  const days = 90
  const records = Array.from({ length: days * 24 }, (_, n) => [
    decision(`${n}`, n * 3_600_000),
    result(`${n}`, n * 3_600_000),
  ])
  const { facts } = await report(records.flat())
  const { bars, barMs } = facts
  expect(barMs).toBe(604_800_000)
  expect(bars.reduce((sum, { started }) => sum + started, 0)).toBe(days * 24)
  expect(bars.length).toBeLessThanOrEqual(40)
})

test('reads a folder', async () => {
  const dir = mkdtempSync(join(tmpdir(), 'politely-report-'))
  onTestFinished(() => rmSync(dir, { recursive: true }))
  const { records, files } = generateCrawl(25, 40)
  for (const [sha256, text] of files) {
    mkdirSync(join(dir, 'files', sha256.slice(0, 2)), { recursive: true })
    writeFileSync(join(dir, 'files', sha256.slice(0, 2), `${sha256.slice(2)}.txt.zst`), zstdCompressSync(text))
  }
  writeFileSync(
    join(dir, '2026-11-28T16.ndjson'),
    `${records.map((record) => JSON.stringify(record)).join('\n')}\nnoise\n`,
  )
  const { facts } = await reportEvidence(dir)
  const { facts: expected } = await report(records, files)
  expect(facts).toEqual({ ...JSON.parse(JSON.stringify(expected)), unreadable: 1 })
  await expect(reportEvidence(join(dir, 'elsewhere'))).rejects.toThrow('is not a folder')
})
