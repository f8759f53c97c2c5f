// Limits for all items, for each site and for each platform, compared with a naive model in random
// order of calls.
import { pick, seededRandom } from '@politely/testkit/random-robots'
import { sampled } from '@politely/testkit/scope'
import { expect, test } from 'vitest'
import { DomainTurns } from '../src/base/domain-turns.ts'
import type { Site } from '../src/base/site.ts'
import { siteOf } from '../src/network/host-name.ts'

const SITES = ['a.test', 'b.test', 't1.netlify.app', 't2.netlify.app', 't3.netlify.app', 's.github.io'].map((host) =>
  siteOf(`http://${host}`),
)
const MAX_EXEMPT_FACTOR = 4

interface Item {
  readonly site: Site
  isExempt: boolean
}

/** With fewer, rare cases would not occur. */
const SEEDS = Math.max(10, sampled(100))

test('in random order of calls, the limits hold, and no item waits while it may start', () => {
  const seen = { started: 0, exempt: 0, ended: 0, deleted: 0, blocked: 0, slow: 0 }
  for (let seed = 1; seed <= SEEDS; seed++) {
    const roll = seededRandom(seed)
    const below = (n: number) => Math.floor(roll() * n)
    const [max, maxPerSite] = [1 + below(8), 1 + below(3)]
    const maxPerPlatform = Math.max(maxPerSite, Math.min(4 * maxPerSite, Math.floor(max / 2)))
    const turns = new DomainTurns<Item>(max, maxPerSite)
    const waiting = new Set<Item>()
    const underWay = new Set<Item>()
    const slow = new Set<string>()
    const countOf = (isCounted: (item: Item) => boolean) => [...underWay].filter(isCounted).length
    const platformCount = ({ platform }: Site, isExempt: boolean) =>
      platform === undefined ? 0 : countOf((item) => item.site.platform === platform && item.isExempt === isExempt)
    const hasRoomAtSite = ({ name }: Site) => {
      const isOfSite = (item: Item) => item.site.name === name
      if (slow.has(name) && countOf((item) => isOfSite(item) && !item.isExempt) > 0) return false
      return countOf(isOfSite) < maxPerSite
    }
    const isFull = () => countOf((item) => !item.isExempt) >= max
    const isPlatformFull = (site: Site) => site.platform !== undefined && platformCount(site, false) >= maxPerPlatform
    const blocked = () =>
      [...waiting]
        .filter(({ site }) => hasRoomAtSite(site) && (isFull() || isPlatformFull(site)))
        .map(({ site }) => site)
    const startNext = () => {
      for (let item = turns.next(); item !== undefined; item = turns.next()) {
        expect(waiting.delete(item)).toBe(true)
        expect(hasRoomAtSite(item.site) && !isFull() && !isPlatformFull(item.site)).toBe(true)
        turns.start(item.site)
        underWay.add(item)
        seen.started++
      }
    }
    for (let step = 0; step < 100; step++) {
      const what = roll()
      if (what < 0.45) {
        const item = { site: pick(roll, SITES), isExempt: false }
        turns.add(item.site, item)
        waiting.add(item)
      } else if (what < 0.55 && waiting.size > 0) {
        const item = pick(roll, [...waiting])
        turns.delete(item.site, item)
        waiting.delete(item)
        seen.deleted++
      } else if (what < 0.8 && underWay.size > 0) {
        const item = pick(roll, [...underWay])
        underWay.delete(item)
        const isInTime = !item.isExempt && roll() < 0.5
        turns.end(item.site, item.isExempt ? 'exempt' : isInTime ? 'in-time' : pick(roll, ['slow', undefined]))
        if (isInTime) slow.delete(item.site.name)
        seen.ended++
      } else if (underWay.size > 0) {
        const item = pick(roll, [...underWay])
        if (item.isExempt) continue
        const { platform } = item.site
        const helps = blocked().some((site) => (isPlatformFull(site) ? site.platform === platform : isFull()))
        const hasLeft =
          countOf(({ isExempt }) => isExempt) < MAX_EXEMPT_FACTOR * max &&
          (platform === undefined || platformCount(item.site, true) < MAX_EXEMPT_FACTOR * maxPerPlatform)
        expect(turns.exempt(item.site)).toBe(helps && hasLeft)
        if (helps && hasLeft) {
          item.isExempt = true
          slow.add(item.site.name)
          seen.exempt++
        }
      }
      startNext()
      const stillBlocked = blocked()
      expect(turns.isBlocked).toBe(stillBlocked.length > 0)
      if (stillBlocked.length > 0) seen.blocked++
      expect(turns.underWay).toBe(underWay.size)
      for (const site of SITES) {
        const full = isFull() ? 'all' : !hasRoomAtSite(site) || isPlatformFull(site) ? 'domain' : undefined
        expect(turns.fullLimit(site)).toBe(full)
        if (full === undefined) expect(turns.waiting(site)).toBe(0)
        if (slow.has(site.name)) seen.slow++
      }
    }
  }
  for (const count of Object.values(seen)) expect(count).toBeGreaterThan(SEEDS)
})
