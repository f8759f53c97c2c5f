// A gate with the option `evidence` keeps what the server decides for its clients.
import type { LookupFunction } from 'node:net'
import { type Decision, type DecisionResult, type EvidenceSink, RobotsClient } from '@politely/fetcher'
import { expect, onTestFinished, test } from 'vitest'
import { applyReport } from '../src/permits/reports.ts'
import { deskKit, permitOf, shown } from './kit.ts'

test('a permit and a refusal are decisions, a wait is none, and a report is a result', async () => {
  const decisions: Decision[] = []
  const results: DecisionResult[] = []
  const evidence: EvidenceSink = {
    decided: (decision) => ({ id: `d${decisions.push(decision)}` }),
    ended: (result) => results.push(result),
  }
  const { ask, advance, desk, tenant, gate } = await deskKit('User-agent: *\nDisallow: /private', { evidence })
  const someone = tenant('a')
  const first = await ask(['/1', '/2', '/private'], { tenant: someone })
  expect(first.map(shown)).toEqual(['go', 'wait 1100 own-delay', 'refused rule'])
  await advance(1_100)
  const second = await ask(['/2'], { tenant: someone })
  expect(second.map(shown)).toEqual(['go'])
  expect(decisions.map(({ use, verdict }) => `${use} ${new URL(verdict.url).pathname} ${verdict.because}`)).toEqual([
    'request /private rule',
    'request /1 no-rule-matched',
    'request /2 no-rule-matched',
  ])
  applyReport(desk, someone, { permit: permitOf(first[0]), status: 200 }, 3_600_000)
  applyReport(desk, someone, { permit: permitOf(second[0]), outcome: 'not-sent' }, 3_600_000)
  expect(results.map(({ id, outcome, status }) => `${id} ${outcome} ${status}`)).toEqual([
    'd2 answered 200',
    'd3 not-sent undefined',
  ])
  expect(gate.gauges.underWay).toBe(0)
})

test('a decision names no source of a URL whose client may not reach private hosts', async () => {
  const decisions: Decision[] = []
  const evidence: EvidenceSink = { decided: (one) => ({ id: `d${decisions.push(one)}` }), ended: () => undefined }
  const lookup = ((_host: string, options: { all?: boolean }, done: (...results: unknown[]) => void) =>
    options.all
      ? done(null, [{ address: '127.0.0.1', family: 4 }])
      : done(null, '127.0.0.1', 4)) as unknown as LookupFunction
  const robots = new RobotsClient({ userAgent: 'ExampleBot/1.0', network: 'any', lookup })
  const { site, desk, tenant } = await deskKit('', { robots, evidence } as object)
  onTestFinished(() => robots.close())
  const url = `http://www.example.com:${new URL(site.origin).port}/`
  await robots.check(url)
  const call = { tenant: tenant('a'), mayReachPrivate: false, startWithinMs: 100, holdMs: 0, leaseMs: 60_000 }
  const { results } = await desk.grant({ ...call, signal: new AbortController().signal, requests: [{ url }] })
  expect([...results].map(shown)).toEqual(['go'])
  expect(decisions.map(({ redirectedFrom }) => redirectedFrom)).toEqual([[]])
})
