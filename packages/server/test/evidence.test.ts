// A gate with the option `evidence` keeps what the server decides for its clients.
import type { Decision, DecisionResult, EvidenceSink } from '@politely/fetcher'
import { expect, test } from 'vitest'
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
