import { expect, test } from 'vitest'
import { displayUrl, withoutCredentials } from '../src/index.ts'

test.for([
  ['https://me:secret@a.test/x', 'https://a.test/x'],
  ['http:me@a.test/', 'http:a.test/'],
  ['FTP://me:p@ss@a.test', 'FTP://a.test'],
  ['https:\\\\me:secret@a.test/', 'https:\\\\a.test/'],
  ['https:\t//me:secret@a.test/x', 'https://a.test/x'],
  ['\0ht\ntps://me:secret@a.test/x', 'https://a.test/x'],
  ['//me:secret@a.test/x', '//a.test/x'],
  ['///me:secret@a.test/x', '///a.test/x'],
  ['wss://me:secret@a.test/x', 'wss://a.test/x'],
  ['ws:me:secret@a.test/x', 'ws:a.test/x'],
  ['redis+tls.v-1://me:secret@a.test', 'redis+tls.v-1://a.test'],
  ['blob:https://me:secret@a.test/x', 'blob:https://a.test/x'],
  ['\u00a0https://me:secret@a.test/x', 'https://a.test/x'],
  ['\u3000\ufeff//me:secret@a.test/x', '//a.test/x'],
  ['https://a.test/\t', 'https://a.test/\t'],
  ['/a//me@a.test', '/a//me@a.test'],
  ['data:text/html,//me@a.test', 'data:text/html,//me@a.test'],
  ['https://a.test/@me', 'https://a.test/@me'],
  ['https://a.test?to=me@a.test', 'https://a.test?to=me@a.test'],
  ['mailto:me@a.test', 'mailto:me@a.test'],
  ['', ''],
] as const)('withoutCredentials(%j) returns %j', ([url, expected]) => {
  expect(withoutCredentials(url)).toBe(expected)
})

test.for([
  ['https://xn--bcher-kva.test/x', 'https://bücher.test/x'],
  ['https://a.test/xn--bcher-kva', 'https://a.test/xn--bcher-kva'],
  ['no URL', 'no URL'],
] as const)('displayUrl(%j) returns %j', ([url, expected]) => {
  expect(displayUrl(url)).toBe(expected)
})
