// PoliteGate has no methods for other parts of Politely: `gatePort` gives them what they need.
import { readPage } from '@politely/testkit/doc-page'
import { expect, test } from 'vitest'
import { PoliteGate } from '../src/index.ts'

test('the API reference has every method of a gate', () => {
  const methods = Object.entries(Object.getOwnPropertyDescriptors(PoliteGate.prototype))
    .filter(([name, { value }]) => typeof value === 'function' && name !== 'constructor')
    .map(([name]) => name)
  const [, section = ''] = readPage('docs/reference/api/gate.md').split('\n### PoliteGate\n')
  const [own = ''] = section.split('\n### ', 1)
  expect(Array.from(own.matchAll(/^##### (\w+)\(\)/gm), ([, name]) => name).toSorted()).toEqual(methods.toSorted())
})
