// The guard without a browser: the test makes the paused requests.
import type { ClientVerdict } from '@politely/fetcher'
import type { Permit } from '@politely/gate'
import { describe, expect, it, vi } from 'vitest'
import { Guard, type PageRequestOptions, type PausedRequest, type RequestAdmission } from '../src/internal.ts'

const allowed = (url: string) => ({ allowed: true, url, origin: new URL(url).origin }) as ClientVerdict

describe('the checks of a guard for a canceled navigation', () => {
  const open = (enter: RequestAdmission['enter']) =>
    new Guard(
      { enter, check: async (url) => allowed(url) },
      { contexts: 'all', pageRequests: 'check', refusedPage: 'Aborted' },
    )
  const page: PausedRequest = {
    requestId: 'request',
    request: { url: 'http://a.test/' },
    frameId: 'page',
    resourceType: 'Document',
    networkId: 'request',
  }

  it('run one series at a time for a page', { tags: 'full' }, async () => {
    const guard = open(() => Promise.withResolvers<Permit>().promise)
    void guard.onRequest(page, 'page')
    const isPending = vi.fn(async () => true)
    await Promise.all(
      Array.from({ length: 20 }, () => guard.endCanceledNavigation('page', 'http://a.test/', isPending)),
    )
    expect(isPending).toHaveBeenCalledTimes(8) // two series of four checks
  })

  it('end a navigation that waits at the gate and was canceled', { tags: 'full' }, async () => {
    const signals: AbortSignal[] = []
    const guard = open((_, { signal }) => {
      signals.push(signal)
      return Promise.withResolvers<Permit>().promise
    })
    void guard.onRequest(page, 'page')
    await guard.endCanceledNavigation('page', 'http://a.test/', async () => false)
    expect(signals.map(({ aborted }) => aborted)).toEqual([true])
  })

  it('ask the browser about a navigation that was sent only if its URL has failed', { tags: 'full' }, async () => {
    const guard = open(async () => ({ release: () => undefined }) as Permit)
    expect(await guard.onRequest(page, 'page')).toBeUndefined()
    const isPending = vi.fn(async () => true)
    await guard.endCanceledNavigation('page', 'http://a.test/other', isPending)
    expect(isPending).not.toHaveBeenCalled()
    await guard.endCanceledNavigation('page', 'http://a.test/#fragment', isPending)
    expect(isPending).toHaveBeenCalledWith('request')
  })
})

describe('a guard', () => {
  const chains: (readonly string[])[] = []
  const newGuard = () =>
    new Guard(
      {
        enter: () => Promise.reject(new Error('no navigation in these tests')),
        check: async (url: string, { redirectedFrom }: PageRequestOptions) => {
          chains.push(redirectedFrom)
          return allowed(url)
        },
      },
      { contexts: 'all', pageRequests: 'check', refusedPage: 'Aborted' },
    )
  const image = (requestId: string, url: string, redirectedRequestId?: string): PausedRequest => ({
    requestId,
    request: { url },
    frameId: 'frame',
    resourceType: 'Image',
    redirectedRequestId,
  })

  it('passes the origins that redirected a page request to the check, in order', async () => {
    const guard = newGuard()
    chains.length = 0
    const hops = ['http://a.test/1', 'http://b.test/2', 'http://c.test/3']
    for (const [i, url] of hops.entries())
      expect(await guard.onRequest(image(`${i}`, url, i === 0 ? undefined : `${i - 1}`), 'other')).toBeUndefined()
    expect(chains).toEqual([[], ['http://a.test'], ['http://a.test', 'http://b.test']])
  })

  it('refuses a redirect when so many requests were sent meanwhile that its previous hop is no longer known', async () => {
    const guard = newGuard()
    await guard.onRequest(image('first', 'http://a.test/'), 'other')
    for (let i = 0; i < 30_000; i++) await guard.onRequest(image(`${i}`, 'http://a.test/'), 'other')
    expect(await guard.onRequest(image('next', 'http://b.test/', 'first'), 'other')).toBe('BlockedByClient')
    expect(await guard.onRequest(image('other', 'http://b.test/', '29999'), 'other')).toBeUndefined()
  })
})
