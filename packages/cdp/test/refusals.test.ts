import type { ClientVerdict } from '@politely/fetcher'
import { RobotsDisallowedError } from '@politely/gate'
import { expect, it } from 'vitest'
import { Refusals } from '../src/refusals.ts'

const refusalOf = (url: string) =>
  new RobotsDisallowedError({ allowed: false, because: 'unreachable', url, access: {} } as ClientVerdict)

const failed = (url: string) => ({ url: () => url, failure: () => 'net::ERR_BLOCKED_BY_CLIENT' })

/** Adds a refusal of each URL, and returns how many are remembered. The last one must be. */
function rememberedOf(urls: readonly string[]): number {
  const refusals = new Refusals()
  for (const url of urls) refusals.add(url, refusalOf(url))
  const found = urls.map((url) => refusals.of(failed(url))?.verdict.url)
  expect(found.at(-1)).toBe(urls.at(-1))
  return found.filter((url) => url !== undefined).length
}

it('remembers the last 1,000 refusals of short URLs', () => {
  expect(rememberedOf(Array.from({ length: 1_500 }, (_, i) => `https://a.test/${i}`))).toBe(1_000)
})

it('remembers fewer refusals of long URLs, up to 16 MiB', () => {
  const [megabyte, urls] = ['x'.repeat(1_000_000), Array.from({ length: 30 }, (_, i) => `https://a.test/${i}?`)]
  const remembered = rememberedOf(urls.map((url) => url + megabyte))
  expect(remembered).toBeGreaterThan(1)
  expect(remembered).toBeLessThan(17)
})
