// The store contract over a Keyv, as far as its Map supports it.
import { OptionError } from '@politely/core'
import { storeCasesFor } from '@politely/testkit/cases/store-contract'
import Keyv from 'keyv'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { fromKeyv, type KeyvLike } from '../src/index.ts'

// Keyv uses Date.now and has no option for another clock.
beforeEach(() => void vi.useFakeTimers({ toFake: ['Date'] }))
afterEach(() => void vi.useRealTimers())

test.for(storeCasesFor('fromKeyv over a Map'))('store contract, $name', async ({ run }) => {
  const map = new Map()
  const clock = { now: Date.now, advance: (ms: number) => void vi.setSystemTime(Date.now() + ms) }
  await run({ open: () => fromKeyv(new Keyv({ store: map })), clock })
})

test('a value of another type is a miss', async () => {
  const keyv = new Keyv()
  await keyv.set('https://a.test', { not: 'a text' })
  expect(await fromKeyv(keyv).get('https://a.test')).toBeUndefined()
})

test('set rejects with a code if Keyv could not save the text', async () => {
  const failing = new Map()
  failing.set = () => {
    throw new Error('no space')
  }
  const keyv = new Keyv({ store: failing })
  const said: unknown[] = []
  keyv.on('error', (error) => void said.push(error))
  await expect(fromKeyv(keyv).set('https://a.test', 'of a', Date.now() + 1_000)).rejects.toMatchObject({
    code: 'ERR_POLITELY_KEYV_SET',
    origin: 'https://a.test',
  })
  expect(said).toEqual([expect.objectContaining({ message: 'no space' })])
})

test.for([undefined, null, {}, new Map().entries()])('rejects a value that is not a Keyv: %o', (given) => {
  expect(() => fromKeyv(given as unknown as KeyvLike)).toThrow(OptionError)
})
