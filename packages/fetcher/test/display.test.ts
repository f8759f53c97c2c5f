import { expect, test } from 'vitest'
import { displayUrl } from '../src/index.ts'

test.for([
  ['https://xn--bcher-kva.test/x', 'https://bücher.test/x'],
  ['https://a.test/xn--bcher-kva', 'https://a.test/xn--bcher-kva'],
  ['no URL', 'no URL'],
] as const)('displayUrl(%j) returns %j', ([url, expected]) => {
  expect(displayUrl(url)).toBe(expected)
})
