// CrawlTimeline, as text and as SVG.
import { OptionError } from '@politely/core'
import { RobotsClient } from '@politely/fetcher'
import { PoliteGate } from '@politely/gate'
import { expect, test } from 'vitest'
import { simulate } from '../../gate/test/simulation.ts'
import { HOSTS, lookup } from '../../gate/test/visits.ts'
import { CrawlTimeline } from '../src/index.ts'
import { labelsOf, shortened, ticksOf } from '../src/scale.ts'

/** Crawls two origins: one with a delay and a pushback, one with a refusal. */
async function crawl() {
  const simulation = await simulate({ 'a.test': 'Crawl-delay: 2', 'b.test': 'Disallow: /private' })
  const { gate, enter, advance, site } = simulation
  const timeline = new CrawlTimeline({ gate })
  for (let n = 0; n < 4; n++) {
    const response = n === 1 ? { status: 429, headers: { 'retry-after': '4' } } : undefined
    void enter(String(n), 'a.test').then((permit) => permit.release(response))
  }
  void enter('page', 'b.test').then((one) => one.release())
  await advance(3_000)
  await gate.enter(site.at('b.test', '/private')).catch(() => undefined)
  await gate.enter('no URL').catch(() => undefined)
  await advance(10_000)
  return { ...simulation, timeline }
}

/** Removes the port, which differs from run to run. */
const plain = (text: string) => text.replaceAll(/test:\d+/g, 'test:80')

test('rows: returns the marks of each origin, with times since the first mark', async () => {
  const { timeline } = await crawl()
  const rows = timeline.rows().map(({ origin, marks }) => [plain(origin), marks])
  expect(rows).toEqual([
    [
      'http://a.test:80',
      [
        { kind: 'start', at: 0, waitedMs: 0 },
        { kind: 'start', at: 2_000, waitedMs: 2_000, waitedLevel: 'origin' },
        { kind: 'pushback', at: 2_000, status: 429 },
        { kind: 'start', at: 6_000, waitedMs: 6_000, waitedLevel: 'origin' },
        { kind: 'start', at: 8_000, waitedMs: 8_000, waitedLevel: 'origin' },
      ],
    ],
    [
      'http://b.test:80',
      [
        { kind: 'start', at: 0, waitedMs: 0 },
        { kind: 'refuse', at: 3_000 },
      ],
    ],
  ])
  expect(JSON.parse(JSON.stringify(timeline.rows()))).toEqual(timeline.rows())
})

test('text: draws lines of at most the given width', async () => {
  const { timeline, site } = await crawl()
  const width = `a.test:${site.port}`.length
  expect(timeline.text({ columns: 60 + width }).replaceAll(`test:${site.port}`, 'test:#####')).toBe(`\
a.test:##### │●············!···························●············●│ 4
b.test:##### │●                   x                                  │ 1
             └┬────────────┬─────────────┬─────────────┬────────────┬┘
              0 s          2 s           4 s           6 s         8 s
● a request starts   2 to 9: that many start   + more   · one waits
! too many requests   x refused by robots.txt
`)
  for (const columns of [40, 60, 80, 120, 200]) {
    const lines = timeline.text({ columns }).split('\n')
    expect(Math.max(...lines.map(({ length }) => length))).toBeLessThanOrEqual(columns)
  }
})

test('svg: draws everything inside the image, and escapes text from sites', async () => {
  const { timeline } = await crawl()
  for (const [width, lastTick] of [
    [800, '8 s'],
    [340, '5 s'],
  ] as const) {
    const svg = timeline.svg({ width })
    expect(svg).toContain(`<svg xmlns="http://www.w3.org/2000/svg" width="${width}" `)
    expect(svg.match(/<circle /g)?.length).toBe(5 + 1) // one is in the legend
    expect(svg).toContain(`>${lastTick}</text>`)
    const texts = Array.from(svg.matchAll(/<text x="([\d.]+)" y="([\d.]+)"([^>]*)>([^<]*)/g))
    for (const [, x, y, attributes = '', text = ''] of texts) {
      const [start, end] = attributes.includes('text-anchor') ? [0.5, 0.5] : [0, 1]
      const textWidth = 6 * text.length
      if (!attributes.includes('"end"')) expect(Number(x) + end * textWidth, text).toBeLessThanOrEqual(width)
      expect(Number(x) - start * textWidth, text).toBeGreaterThanOrEqual(0)
      expect(Number(y)).toBeLessThanOrEqual(Number(svg.match(/height="(\d+)"/)?.[1]))
    }
  }
})

test('shows when a circuit was open', async () => {
  const circuit = { failures: 3, coolMs: 60_000, factor: 2, maxMs: 200_000 }
  const { gate, site, advance } = await simulate({ 'a.test': '' }, { circuit, minDelayMs: 1_000 })
  using timeline = new CrawlTimeline({ gate })
  const refused = Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED' })
  const error = Object.assign(new TypeError('fetch failed'), { cause: refused })
  const all = [1, 2, 3, 4, 5].map(async (n) => {
    const permit = await gate.enter(site.at('a.test', `/${n}`)).catch(() => undefined)
    permit?.release({ failed: true, error })
  })
  await advance(70_000)
  await Promise.all(all)
  expect(timeline.rows()[0]?.marks.filter(({ kind }) => kind === 'rest')).toEqual([
    { kind: 'rest', at: 2_000, forMs: 60_000 },
    { kind: 'rest', at: 62_000, forMs: 120_000 },
  ])
  expect(timeline.text()).toMatch(/│●[^│]*_{10,}●│ 4\n/)
  expect(timeline.text()).toContain('_ the circuit is open')
  expect(timeline.svg()).toContain('>the circuit is open</text>')
})

test('shows which waits were for a shared limit', async () => {
  const { gate, enter, advance } = await simulate(HOSTS, { lookup, minDelayPerDomainMs: 2_000 })
  const timeline = new CrawlTimeline({ gate })
  const both = ['a.one.test', 'b.one.test'].map(async (host) => (await enter('1', host)).release())
  await advance(2_000)
  await Promise.all(both)
  timeline.stop()
  expect(timeline.text({ columns: 60 })).toMatch(/b\.one.*│-+●│ 1\n[\s\S]*one waits for: - its domain/)
  expect(timeline.svg()).toContain('one waits for its domain, its address or the gate')
})

test('shows the origins with the most requests, and counts the others', { tags: 'full' }, async () => {
  const { gate, site, advance } = await simulate({ '*': '' }, { minDelayMs: 0 })
  const timeline = new CrawlTimeline({ gate })
  for (let n = 0; n < 10; n++) {
    for (let times = 0; times <= n; times++) (await gate.enter(site.at(`o${n}.test`))).release()
  }
  await advance(1)
  const text = timeline.text({ columns: 80, maxRows: 2 })
  expect(text).toMatch(/^o8\.test.* {2}9\no9\.test.* 10\nand 8 more origins\n/)
  expect(timeline.svg({ maxRows: 2 })).toContain('>and 8 more origins</text>')
})

test('keeps at most maxMarks, and counts the dropped marks', async () => {
  const { gate, site } = await simulate({ 'a.test': '' }, { minDelayMs: 0 })
  const timeline = new CrawlTimeline({ gate, maxMarks: 5 })
  for (let n = 0; n < 8; n++) (await gate.enter(site.at('a.test'))).release()
  expect([timeline.rows()[0]?.marks.length, timeline.dropped]).toEqual([5, 3])
})

test('records one gate or all gates, until stop', async () => {
  const { gate, site, enter } = await simulate({ 'a.test': '' }, { minDelayMs: 0 })
  const other = await simulate({ 'a.test': '' })
  const [own, all] = [new CrawlTimeline({ gate }), new CrawlTimeline()]
  ;(await enter('1', 'a.test')).release()
  ;(await other.enter('1', 'a.test')).release()
  own.stop()
  all[Symbol.dispose]()
  ;(await gate.enter(site.at('a.test'))).release()
  const marksIn = (timeline: CrawlTimeline) => timeline.rows().flatMap(({ marks }) => marks).length
  expect([marksIn(own), marksIn(all)]).toEqual([1, 2])
  expect(new CrawlTimeline().text()).toBe('no requests\n')
})

test.each([
  ['columns', (timeline: CrawlTimeline) => timeline.text({ columns: 10 })],
  ['maxRows', (timeline: CrawlTimeline) => timeline.text({ maxRows: 0 })],
  ['width', (timeline: CrawlTimeline) => timeline.svg({ width: Number.NaN })],
  ['maxMarks', () => new CrawlTimeline({ maxMarks: 0 })],
  ['colums', (timeline: CrawlTimeline) => timeline.text({ colums: 80 } as object)],
  ['height', (timeline: CrawlTimeline) => timeline.svg({ height: 80 } as object)],
] as const)('rejects an invalid %s', (option, make) => {
  using timeline = new CrawlTimeline()
  expect(() => make(timeline)).toThrow(expect.objectContaining({ code: 'ERR_POLITELY_OPTION', option }))
})

test('says what to write instead of another object', async () => {
  await using robots = new RobotsClient({ userAgent: 'ExampleBot/1.0' })
  const gate = new PoliteGate({ robots })
  // A module with a query is evaluated again, so its class is another one.
  const { PoliteGate: OtherGate } = await import(import.meta.resolve('../../gate/src/gate.ts?copy'))
  const copies =
    'npm ls @politely/gate lists the copies; install one version only, and leave the package out of bundles'
  const messages: [options: object, message: string][] = [
    [gate, 'options: a PoliteGate was given instead of options; write new CrawlTimeline({ gate })'],
    [{ gat: 1 }, 'gat: is an unknown option'],
    [{ gate: robots }, 'gate: an object is not a PoliteGate'],
    [{ gate: { gate } }, 'gate: an object with a gate is not a PoliteGate; write agent.gate'],
    [{ gate: new OtherGate({ robots }) }, `gate: is a PoliteGate of another copy of @politely/gate; ${copies}`],
  ]
  for (const [options, message] of messages) {
    const make = () => new CrawlTimeline(options)
    expect(make).toThrow(OptionError)
    expect(make).toThrow(message)
  }
})

test('labels: leave out the scheme unless two would be equal, and are shortened in the middle', () => {
  const rows = ['https://a.test', 'http://a.test', 'https://b.test'].map((origin) => ({ origin, marks: [] }))
  expect(labelsOf(rows)).toEqual(['https://a.test', 'http://a.test', 'b.test'])
  expect(shortened('a-very-long-name.example.com:8080', 16)).toBe('a-very-lon…:8080')
  expect(shortened('short.test', 16)).toBe('short.test')
})

test.each([
  [3, '3 ms'],
  [900, '900 ms'],
  [3_200, '3 s'],
  [1_200, '1.2 s'],
  [90_000, '90 s'],
  [600_000, '10 min'],
  [86_400_000, '24 h'],
  [40 * 86_400_000, '40 d'],
])('draws ticks for a span of %d ms, the last one near %s', (spanMs, last) => {
  const ticks = ticksOf(spanMs, 7)
  expect(ticks.length).toBeGreaterThan(2)
  expect(ticks.length).toBeLessThanOrEqual(7)
  expect(ticks[0]).toMatchObject({ at: 0 })
  expect(ticks.at(-1)?.label.split(' ')[1]).toBe(last.split(' ')[1])
})
