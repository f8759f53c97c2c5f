// @module-tag timers
// The deadline of an attempt, and the waits that it does not count. Our choice.

import { disallowsPage } from '@politely/testkit/cases/response-cases'
import { lookupIn } from '@politely/testkit/servers/lookup'
import { type Answer, startSites } from '@politely/testkit/servers/sites'
import { afterEach, describe, expect, onTestFinished, test, vi } from 'vitest'
import { Deadline } from '../src/fetch/deadline.ts'
import { OwnRequests } from '../src/fetch/own-requests.ts'
import { RobotsFetcher } from '../src/fetch/robots-fetcher.ts'
import { clientSettingsOf } from '../src/options/options.ts'

afterEach(() => void vi.useRealTimers())

const useFakeTimers = () => vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] })

describe('a pause', () => {
  test('leaves the time that was left before it', async () => {
    useFakeTimers()
    const deadline = new Deadline(1_000)
    for (let n = 0; n < 3; n++) {
      vi.advanceTimersByTime(200)
      const turn = Promise.withResolvers<void>()
      const paused = deadline.pauseDuring(turn.promise)
      vi.advanceTimersByTime(10_000)
      turn.resolve()
      await paused
    }
    vi.advanceTimersByTime(399)
    expect(deadline.isOver).toBe(false)
    vi.advanceTimersByTime(1)
    expect(deadline.isOver).toBe(true)
  })

  test('ends with the deadline if that is ended, and rejects like the work', async () => {
    useFakeTimers()
    const deadline = new Deadline(1_000)
    const turn = Promise.withResolvers<void>()
    const paused = deadline.pauseDuring(turn.promise)
    deadline.end()
    expect(deadline.isOver).toBe(true)
    turn.reject(new Error('removed'))
    await expect(paused).rejects.toThrow('removed')
    expect(vi.getTimerCount()).toBe(0)
  })
})

describe('an attempt that waits for its turn after a redirect', () => {
  /** Starts an attempt that waits after its redirect for ten times its deadline. */
  async function waitAfterRedirect(atTarget: Answer) {
    const sites = await startSites()
    onTestFinished(() => sites.close())
    sites.respond('http://a.test:PORT/robots.txt', {
      status: 301,
      headers: { location: 'http://b.test:PORT/robots.txt' },
    })
    sites.respond('http://b.test:PORT/robots.txt', atTarget)
    const settings = clientSettingsOf({
      userAgent: 'ExampleBot/1.0',
      lookup: lookupIn(),
      timeoutMs: 20_000,
      retries: 0,
    })
    const fetcher = new RobotsFetcher(settings, new OwnRequests())
    onTestFinished(() => fetcher.close())
    useFakeTimers()
    const [waiting, turn] = [Promise.withResolvers<string>(), Promise.withResolvers<undefined>()]
    const attempt = fetcher.fetch(sites.withPort('http://a.test:PORT/robots.txt'), undefined, (url) => {
      waiting.resolve(url)
      return turn.promise
    })
    expect(await waiting.promise).toBe(sites.withPort('http://b.test:PORT/robots.txt'))
    vi.advanceTimersByTime(200_000)
    expect(sites.requests).toHaveLength(1)
    turn.resolve(undefined)
    return { attempt, sites }
  }

  test('then has the time that was left', async () => {
    const { attempt } = await waitAfterRedirect({ status: 200, body: disallowsPage })
    expect(await attempt).toMatchObject({ outcome: { kind: 'success' }, requests: 2 })
  })

  test('then still ends with its deadline', async () => {
    const { attempt, sites } = await waitAfterRedirect(() => undefined)
    await sites.requested(2)
    vi.advanceTimersByTime(20_000)
    expect(await attempt).toMatchObject({ outcome: { kind: 'unreachable', reason: 'timeout' }, requests: 2 })
  })
})
