// The table of methods in the README, which is written by hand.
import { readPage } from '@politely/testkit/doc-page'
import { expect, test } from 'vitest'
import { RobotsClient } from '../src/index.ts'

test('packages/fetcher/README.md has a table with all methods of a client', () => {
  const methods = Object.entries(Object.getOwnPropertyDescriptors(RobotsClient.prototype))
    .filter(([name, { value }]) => typeof value === 'function' && name !== 'constructor')
    .map(([name]) => name)
  const [, table = ''] = readPage('packages/fetcher/README.md').split('| method | what it does |')
  const rows = table.split('\n\n', 1)[0] ?? ''
  expect(Array.from(rows.matchAll(/`(\w+)\(/g), ([, name]) => name).toSorted()).toEqual(methods.toSorted())
})
