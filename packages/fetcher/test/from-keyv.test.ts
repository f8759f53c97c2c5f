// Failures of a Keyv. packages/testing runs the cases of all stores on one.
import { OptionError } from '@politely/core'
import Keyv from 'keyv'
import { expect, test } from 'vitest'
import { fromKeyv } from '../src/index.ts'

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
  expect(() => fromKeyv(given as unknown as Parameters<typeof fromKeyv>[0])).toThrow(OptionError)
})
