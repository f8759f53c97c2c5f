// Values of the async context, which share one AsyncLocalStorage.
import { expect, test } from 'vitest'
import { AsyncVariable } from '../src/base/async-variable.ts'

test('each variable has its own value, also in nested contexts and after an await', async () => {
  const one = new AsyncVariable<string>()
  const other = new AsyncVariable<string>()
  const values = () => [one.getStore(), other.getStore()]
  await one.run('outer', async () => {
    await other.run('of the other', async () => {
      await one.run('inner', async () => {
        await Promise.resolve()
        expect(values()).toEqual(['inner', 'of the other'])
      })
      expect(values()).toEqual(['outer', 'of the other'])
    })
    expect(values()).toEqual(['outer', undefined])
  })
  expect(values()).toEqual([undefined, undefined])
})
