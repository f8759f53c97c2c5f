// @module-tag nodes
// The cases of all pacers, on the pacer of the gate and on one of a caller.
import { LocalPacer } from '@politely/gate'
import { expect, test } from 'vitest'
import { RemotePacer } from '../../gate/test/remote-pacer.ts'
import { circuitCases, type PacerCase, pacerCases } from '../src/cases/index.ts'

test.for([...pacerCases, ...circuitCases])('LocalPacer: $name', async ({ run }) => {
  await run({ open: (now) => new LocalPacer(now) })
})

test.for(pacerCases)('a pacer that returns promises and keeps a queue: $name', async ({ run }) => {
  await run({ open: (now) => new RemotePacer(now) })
})

/** Returns the names of the cases that a pacer fails. */
async function failedBy(
  cases: readonly Pick<PacerCase, 'name' | 'run'>[],
  open: Parameters<PacerCase['run']>[0]['open'],
) {
  const failed: string[] = []
  for (const { name, run } of cases) await run({ open }).catch(() => failed.push(name))
  return failed
}

test('each case of circuits detects a pacer that never opens one', async () => {
  const never = <T extends object>(limits: T) => ({ ...limits, failures: 1_000 })
  const failed = await failedBy(circuitCases, (now) => {
    const pacer = new LocalPacer(now)
    return Object.assign(new LocalPacer(now), {
      admit: (...[origin, limits]: Parameters<LocalPacer['admit']>) => pacer.admit(origin, never(limits)),
      settle: (...[origin, limits, result]: Parameters<LocalPacer['settle']>) =>
        pacer.settle(origin, never(limits), result),
    })
  })
  const undetected = circuitCases.filter(({ name }) => !failed.includes(name)).map(({ name }) => name)
  expect(undetected).toEqual(['forgets failures that are as old as the limit'])
})

test('the cases detect a broken pacer', async () => {
  const failed = await failedBy(pacerCases, (now) => {
    const pacer = new LocalPacer(now)
    return {
      reserve: (key, limits) => pacer.reserve(key, { ...limits, ownDelayMs: 0 }),
      sent: pacer.sent.bind(pacer),
      cancel: pacer.cancel.bind(pacer),
      report: () => {},
      pause: () => {},
      end: () => {},
      estimate: pacer.estimate.bind(pacer),
    }
  })
  expect(failed.length).toBeGreaterThan(12)
})

test('a failed case names itself, and shows the replies that differ', async () => {
  const [first] = pacerCases.filter(({ name }) => name.startsWith('makes the next request wait'))
  const open = (now: () => number) => {
    const pacer = new LocalPacer(now)
    return Object.assign(new LocalPacer(now), {
      reserve: (key: string) => pacer.reserve(key, { ownDelayMs: 0, maxDelayMs: undefined, crawlDelayMs: undefined }),
    })
  }
  await expect(first?.run({ open })).rejects.toMatchObject({
    name: 'AssertionError',
    message: expect.stringContaining('makes the next request wait for the delay: [{"step":0,'),
    expected: expect.arrayContaining([{ step: 2, reply: { kind: 'wait', waitMs: 600, because: 'own-delay' } }]),
  })
})

test('a case says which request has no slot', async () => {
  const waits = { kind: 'wait', ticket: 'waits', waitMs: 1_000, because: 'own-delay' } as const
  const open = (now: () => number) => Object.assign(new LocalPacer(now), { reserve: () => waits })
  const sent = pacerCases.filter(({ needs }) => needs.includes('sent'))
  for (const { run } of sent) await expect(run({ open })).rejects.toThrow(/ has no slot$/)
})
