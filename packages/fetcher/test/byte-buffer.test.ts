// The buffer that collects a body.
import { expect, test } from 'vitest'
import { BodyBuffer } from '../src/base/byte-buffer.ts'

test('returns the bytes that were added, up to the limit', () => {
  const bytes = new BodyBuffer(10)
  for (const text of ['', 'abc', 'defg', 'hijklm', 'n']) bytes.add(Buffer.from(text))
  expect(bytes.size).toBe(10)
  expect(bytes.take().toString()).toBe('abcdefghij')
  expect(bytes.size).toBe(0)
})

test('copies each chunk: a kept view of one byte would keep the 64 KiB alive that undici has read', () => {
  const bytes = new BodyBuffer(10)
  const read = Buffer.from('abc')
  bytes.add(read.subarray(0, 1))
  read.fill('x')
  expect(bytes.take().toString()).toBe('a')
})
