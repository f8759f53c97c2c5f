// PoliteGate has no methods for other parts of Politely: `gatePort` gives them what they need.
import { readPage } from '@politely/testkit/doc-page'
import { expect, test } from 'vitest'
import { PoliteGate } from '../src/index.ts'

test('the list of public names has every method of a gate', () => {
  const methods = Object.entries(Object.getOwnPropertyDescriptors(PoliteGate.prototype))
    .filter(([name, { value }]) => typeof value === 'function' && name !== 'constructor')
    .map(([name]) => `\`${name}\``)
  const line = `- \`PoliteGate\`: class with ${methods.toSorted().join(', ')}\n`
  expect(readPage('docs/reference/public-names.md')).toContain(line)
})
