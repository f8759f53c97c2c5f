import { expect, test } from 'vitest'
import { fileNameOf } from '../src/input/robots-dir.ts'

test.for([
  ['https://example.com', 'example.com.txt'],
  ['https://example.com:8443', 'example.com_8443.txt'],
  ['http://example.com', 'http_example.com.txt'],
  ['http://example.com:8080', 'http_example.com_8080.txt'],
  ['ftp://example.com', 'ftp_example.com.txt'],
  ['https://[2001:db8::1]:8443', '%5B2001%3Adb8%3A%3A1%5D_8443.txt'],
  ['https://a_b.example.com', 'a%5Fb.example.com.txt'],
  ['https://http_x', 'http%5Fx.txt'],
  ['https://xn--bcher-kva.example', 'xn--bcher-kva.example.txt'],
] as const)('%s is in %s', ([origin, name]) => {
  expect(fileNameOf(origin)).toBe(name)
})
