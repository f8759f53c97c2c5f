// `isPolitelyError`: which errors are Politely's. packages/testkit/test/errors-page.test.ts calls it
// with an error of each class, and with one of another copy of core.
import { expect, test } from 'vitest'
import { isPolitelyError, OptionError } from '../src/index.ts'
import { PolitelyError } from '../src/internal.ts'

class StoreError extends PolitelyError {
  readonly code = 'ERR_POLITELY_STORE'
}

const hostile = new Proxy(new Error('of someone else'), {
  get() {
    throw new Error('of the proxy')
  },
  getPrototypeOf() {
    throw new Error('of the proxy')
  },
})

test.each<[string, unknown, boolean]>([
  ['an OptionError', new OptionError('url', 'is missing'), true],
  ['an error of a class that extends PolitelyError', new StoreError('closed'), true],
  ['an Error of someone else with such a code', Object.assign(new Error(), { code: 'ERR_POLITELY_OPTION' }), false],
  ['a TypeError', new TypeError('fetch failed'), false],
  ['an error that wraps one of ours', new Error('fetch failed', { cause: new StoreError() }), false],
  ['a proxy whose handler throws', hostile, false],
  ['an object with a code', { code: 'ERR_POLITELY_OPTION' }, false],
  ['the class', OptionError, false],
  ['a string', 'ERR_POLITELY_OPTION', false],
  ['null', null, false],
  ['undefined', undefined, false],
])('isPolitelyError of %s', (_, error, expected) => {
  expect(isPolitelyError(error)).toBe(expected)
})

test('an OptionError is a TypeError, so that libraries which retry do not repeat the call', () => {
  expect(new OptionError('url', 'is missing')).toBeInstanceOf(TypeError)
})
