// How often the desk asks a pacer of another process for one permit.
import { LocalPacer, type Pacer, type PoliteGateOptions } from '@politely/gate'
import { expect, test } from 'vitest'
import { deskKit, shown, ticketOf } from './kit.ts'

/** Replies with promises, and gives a ticket to each request that has to wait. */
function remotePacer(): { readonly pacer: Pacer; readonly calls: () => string[] } {
  const local = new LocalPacer(() => Date.now())
  const calls: string[] = []
  let tickets = 0
  const asked = async <T>(name: string, reply: T): Promise<T> => {
    calls.push(name)
    return reply
  }
  const pacer: Pacer = {
    reserve: async (...args) => {
      const reply = await asked(args[2] === undefined ? 'reserve' : `reserve ${args[2]}`, local.reserve(...args))
      return reply.kind === 'wait' ? { ...reply, ticket: args[2] ?? `t${++tickets}` } : reply
    },
    estimate: (...args) => asked('estimate', local.estimate(...args)),
    admit: (origin, limits) => asked('admit', local.admit(origin, limits)),
    settle: (...args) => asked('settle', local.settle(...args)),
    cancel: async (key, ticket) => {
      calls.push(`cancel ${ticket}`)
      if (typeof ticket === 'number') local.cancel(key, ticket)
    },
    started: (...args) => local.started(...args),
    sent: (...args) => local.sent(...args),
    report: (...args) => local.report(...args),
    end: (...args) => local.end(...args),
  }
  return { pacer, calls: () => calls.splice(0) }
}

async function kit(robotsTxt: string, options: Omit<PoliteGateOptions, 'robots'> = {}) {
  const { pacer, calls } = remotePacer()
  const desk = await deskKit(robotsTxt, { pacer, circuit: false, maxConcurrentPerKey: 99, ...options })
  return { ...desk, pacer, calls }
}

test('one for a permit that is granted at once, none for the URLs behind it', async () => {
  const { ask, calls } = await kit('User-agent: *\nCrawl-delay: 2')
  expect((await ask(['/a'])).map(shown)).toEqual(['go'])
  expect(calls()).toEqual(['reserve'])
  expect((await ask(['/b', '/c'])).map(shown)).toEqual(['wait 2100 crawl-delay', 'wait 4100 crawl-delay'])
  expect(calls()).toEqual([])
})

test('one for a URL that is told to wait, whose ticket is used when it comes back', async () => {
  const { ask, advance, calls, pacer, site } = await kit('')
  const limits = { ownDelayMs: 3_000, maxDelayMs: undefined, crawlDelayMs: undefined }
  await pacer.reserve(site.origin, limits) // another process has the slot
  calls()
  const [wait] = await ask(['/a'])
  expect([shown(wait), ...calls()]).toEqual(['wait 3000 own-delay', 'reserve'])
  expect((await ask([`/a ${ticketOf(wait)}`])).map(shown)).toEqual(['wait 3000 own-delay'])
  expect(calls()).toEqual([])
  await advance(3_000)
  expect((await ask([`/a ${ticketOf(wait)}`])).map(shown)).toEqual(['go'])
  expect(calls()).toEqual(['reserve t1'])
})

test('two with a circuit that is not known: admit comes first', async () => {
  const { ask, calls } = await kit('', { circuit: {} })
  expect((await ask(['/a'])).map(shown)).toEqual(['go'])
  expect(calls()).toEqual(['admit', 'reserve'])
})

test('one to cancel the turn of URLs that do not come back', async () => {
  const { ask, advance, calls, pacer, site, desk } = await kit('')
  const limits = { ownDelayMs: 3_000, maxDelayMs: undefined, crawlDelayMs: undefined }
  await pacer.reserve(site.origin, limits)
  calls()
  await ask(['/a', '/b', '/c'])
  await advance(30_000)
  expect([desk.waiting, ...calls()]).toEqual([3, 'reserve'])
  await advance(15_000)
  expect([desk.waiting, ...calls()]).toEqual([0, 'cancel t1'])
})
