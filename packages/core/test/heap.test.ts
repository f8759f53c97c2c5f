// @module-tag heap
// @module-tag full
import { heldBytes } from '@politely/testkit/heap'
import { expect, it } from 'vitest'
import { parseRobots } from '../src/index.ts'

it('request-rates and visit-times need little memory, about as much as memoryBytes counts', async () => {
  const hour = (i: number) => String(i % 24).padStart(2, '0')
  const lines = Array.from({ length: 1_000 }, (_, i) =>
    i % 2 ? `Request-rate: ${i}/999999999${i} ${hour(i)}00-${hour(i)}59` : `Visit-time: ${hour(i)}00-${hour(i)}59`,
  )
  const bound = () => parseRobots(['User-agent: *', ...lines].join('\n')).forCrawler('ExampleBot')
  const held = await heldBytes(() => Array.from({ length: 200 }, bound))
  const counted = 200 * bound().memoryBytes
  expect(counted).toBeLessThan(200 * 10_000)
  expect(held).toBeLessThan(counted * 1.2 + 100_000)
  expect(counted).toBeLessThan(held * 3 + 100_000)
})
