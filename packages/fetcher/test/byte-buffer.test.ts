// The buffer that collects a body.
import { collectGarbage } from '@politely/testkit/heap'
import { expect, test } from 'vitest'
import { ByteBuffer } from '../src/byte-buffer.ts'

test('returns the bytes that were added, up to the limit', () => {
  const bytes = new ByteBuffer(10)
  for (const text of ['', 'abc', 'defg', 'hijklm', 'n']) bytes.add(Buffer.from(text))
  expect(bytes.size).toBe(10)
  expect(bytes.take().toString()).toBe('abcdefghij')
  expect(bytes.size).toBe(0)
})

test('keeps no chunk alive: a site could send a byte in each 64 KiB that it makes undici read', () => {
  const bytes = new ByteBuffer(500 * 1024)
  const memory = () => {
    collectGarbage()
    return process.memoryUsage().arrayBuffers
  }
  const before = memory()
  for (let n = 0; n < 2_000; n++) bytes.add(Buffer.alloc(64 * 1024, 'x').subarray(n, n + 1))
  expect(memory() - before).toBeLessThan(32 * 1024 * 1024) // the chunks have 125 MiB; other tests of this process may add a little
  expect(bytes.take().toString()).toBe('x'.repeat(2_000))
})
