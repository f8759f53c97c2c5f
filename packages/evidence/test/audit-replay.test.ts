// Random decisions, through the records and back: each comes out the same.
import { type Dialect, type DialectName, dialects, parseRobots } from '@politely/core'
import { type AccessPolicy, accessPolicyOf, type Entry, type Outcome, settle } from '@politely/core/engine'
import { parseUrl } from '@politely/core/internal'
import { type DecidingClient, type Decision, RobotsClient } from '@politely/fetcher'
import { pick, randomPath, randomRobots, seededRandom } from '@politely/testkit/random-robots'
import { expect, test } from 'vitest'
import { clientVerdictOf, invalidUrlVerdict } from '../../fetcher/src/report/client-verdict.ts'
import { type ReplayDifference, readEvidence, replayEvidence } from '../src/audit/index.ts'
import { evidenceFiles } from '../src/index.ts'
import { START } from './decisions.ts'
import { newFolder, writtenFolder } from './evidence-folder.ts'

const DAY_MS = 86_400_000
const CUSTOM: Dialect = {
  ...dialects.rfc9309,
  name: 'mine',
  parsing: { ...dialects.rfc9309.parsing, winner: 'first', groupsForAll: 'ignored' },
}
const DIALECTS = [...Object.values(dialects), CUSTOM]
const HEADERS = [{}, { 'cache-control': 'max-age=60' }, { 'retry-after': '120' }, { expires: '0' }]

function randomPolicy(random: () => number, dialect: Dialect): AccessPolicy {
  return {
    ...accessPolicyOf(dialect.access),
    ...(random() < 0.5 && { whenUnreachable: pick(random, ['use-copy', 'disallow'] as const) }),
    ...(random() < 0.5 && { afterDays: pick(random, [0, 1, 30, Number.POSITIVE_INFINITY]) }),
    ...(random() < 0.5 && { thenAssume: pick(random, ['copy', 'unavailable'] as const) }),
    ...(random() < 0.3 && { copyAfterUnavailableMs: pick(random, [0, DAY_MS]) }),
    ...(random() < 0.3 && { maxTtlMs: pick(random, [60_000, DAY_MS]) }),
    ...(random() < 0.3 && { refreshAheadMs: DAY_MS }),
  }
}

function randomOutcome(random: () => number, origin: string, robots: string, policy: AccessPolicy): Outcome {
  const base = { url: `${origin}/robots.txt`, hops: [] }
  const headers = pick(random, HEADERS) as Record<string, string>
  const kind = pick(random, ['success', 'success', 'unavailable', 'refused', 'unreachable', 'failure'] as const)
  switch (kind) {
    case 'success':
      return { ...base, kind, status: 200, headers, body: { bytes: robots, truncated: random() < 0.2 } }
    case 'unavailable':
      return { ...base, kind, reason: 'status', status: 404, headers }
    case 'refused':
      return { ...base, kind: policy.forbidden, reason: 'status', status: 403, headers }
    case 'unreachable':
      return { ...base, kind, reason: 'status', status: 503, headers }
    case 'failure':
      return {
        ...base,
        kind: 'unreachable',
        reason: pick(random, ['dns', 'timeout', 'blocked-address'] as const),
        detail: 'x',
      }
  }
}

const URL_FORMS = [
  (url: string) => url,
  (url: string) => url,
  (url: string) => url.replace('https://', 'HTTPS://user:pass@'),
  (url: string) => url.replace('.test', '.TEST:443'),
  (url: string) => `${url}#part`,
  (url: string) => url.replace('https:', 'mailto:'),
  () => '/relative',
  (url: string) => url.replace(/(https:..[^/]*).*/, '$1/robots.txt'),
]

/** Passes the decisions of one client about one origin, as they come in a crawl of some days. */
function crawl(seed: number, decided: (decision: Decision) => void): number {
  const random = seededRandom(seed)
  const dialect = pick(random, DIALECTS)
  const client: DecidingClient = {
    userAgent: 'ExampleBot/1.0',
    productTokens: pick(random, [['ExampleBot'], ['Other', 'ExampleBot'], ['ExampleBot2']]),
    dialect,
    policy: randomPolicy(random, dialect),
    maxBodyBytes: 524_288,
  }
  const { policy, productTokens } = client
  const origin = `https://site${seed}.test`
  let at = START
  let entry: Entry | undefined
  let count = 0
  for (let fetches = 0; fetches < 6; fetches++) {
    const robots = randomRobots(random)
    entry = settle(entry, origin, randomOutcome(random, origin, robots, policy), at, policy)
    const copy = entry.copy
    const parsed = parseRobots({ bytes: copy?.bytes ?? '' }, { dialect, ...(copy && { origin }) })
    const rules = parsed.forCrawler(productTokens)
    for (let checks = 0; checks < 6; checks++) {
      at += Math.floor(random() * pick(random, [1000, 100_000, 2 * DAY_MS]))
      const text = pick(random, URL_FORMS)(`${origin}${Buffer.from(randomPath(random, robots), 'latin1')}`)
      const url = parseUrl(text)
      const isValid = typeof url !== 'string'
      const verdict = isValid
        ? clientVerdictOf(text, origin, url, { entry, rules }, at, policy)
        : invalidUrlVerdict(text, url)
      decided({
        use: 'check',
        at,
        verdict,
        redirectedFrom: [],
        entry: isValid ? entry : undefined,
        headers: undefined,
        client,
      })
      count++
    }
    if (random() < 0.5) at += DAY_MS
  }
  return count
}

async function replayed(seeds: number): Promise<void> {
  let decisions = 0
  const kinds = new Set<string>()
  const dir = await writtenFolder((sink) => {
    for (let seed = 0; seed < seeds; seed++)
      decisions += crawl(seed, (decision) => {
        const { verdict, client } = decision
        kinds.add(`${client.dialect.name} ${verdict.because} ${verdict.access?.copy?.freshness}`)
        sink.decided(decision)
      })
  })
  const differences: ReplayDifference[] = []
  const result = await replayEvidence(dir, { onDifference: (one) => void differences.push(one) })
  expect(differences).toEqual([])
  const { 'url-incomplete': invalid = 0, ...others } = result.notReplayable
  expect(others).toEqual({})
  expect(result).toMatchObject({ decisions, same: decisions - invalid })
  expect(invalid).toBeLessThan(decisions / 100)
  expect(kinds.size).toBeGreaterThan(seeds > 100 ? 50 : 20)
}

test('each of a thousand decisions comes out the same, in all dialects, policies and states', () => replayed(40))

test('each of some ten thousand decisions comes out the same', { tags: 'full' }, () => replayed(1500))

test('the decisions of a client come out the same: maxAgeMs, stale copies, missing files', async () => {
  let now = START
  const dir = newFolder()
  const sink = evidenceFiles({ dir, now: () => now })
  const responses = [
    () => new Response('User-agent: *\nDisallow: /a%7Eb\nDisallow: /*?x\n'),
    () => new Response('', { status: 503 }),
    () => new Response('', { status: 403 }),
    () => Response.error(),
  ]
  for (const dialect of Object.keys(dialects) as DialectName[]) {
    let turn = 0
    const fetch = async () => (responses[turn++ % responses.length] as () => Response)()
    const client = new RobotsClient({
      userAgent: 'ExampleBot/1.0',
      dialect,
      evidence: sink,
      fetch,
      now: () => now,
      network: 'any',
      retries: 0,
    })
    for (const path of ['/a~b', '/a%7eb?x', '/robots.txt', '/./c#d', '/é'])
      for (const maxAgeMs of [undefined, 0, 3_600_000]) {
        now += 1_800_000
        await client.check(`https://site.test${path}`, { maxAgeMs })
      }
    await client.check('/relative')
    await client.close()
  }
  await sink.close()
  const differences: ReplayDifference[] = []
  const result = await replayEvidence(dir, { onDifference: (one) => void differences.push(one) })
  expect(differences).toEqual([])
  expect(result).toMatchObject({ decisions: 80, same: 80, notReplayable: {} })
  const reasons = new Set<string>()
  for await (const { record } of readEvidence(dir))
    if (record?.kind === 'decision') reasons.add(`${record.verdict.because} ${record.state?.name}`)
  expect([...reasons].sort()).toMatchInlineSnapshot(`
    [
      "invalid-url undefined",
      "no-rule-matched lost-with-copy",
      "no-rule-matched rules",
      "no-rule-matched unavailable-with-copy",
      "restricted restricted",
      "robots-txt-itself lost",
      "robots-txt-itself lost-with-copy",
      "robots-txt-itself rules",
      "robots-txt-itself unavailable",
      "robots-txt-itself unavailable-with-copy",
      "rule lost-with-copy",
      "rule rules",
      "rule unavailable-with-copy",
      "unavailable unavailable",
      "unreachable lost",
    ]
  `)
})
