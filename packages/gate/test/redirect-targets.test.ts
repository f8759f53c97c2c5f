import { expect, test } from 'vitest'
import { RedirectTargets } from '../src/redirects/redirect-targets.ts'

const FROM = 'http://public.example.com/go'
const CHAIN = ['http://public.example.com']

// The URLs that clients request after a redirect to each Location.
test.for([
  [302, 'http://inside.test/page', 'http://inside.test/page#top'],
  [301, '//inside.test/page', 'http://inside.test/page'],
  [300, 'http://INSIDE.test:80/page', 'http://inside.test/page'],
  [305, 'http://127.0.0.1/page', 'http://127.0.0.1/page'],
  [399, 'http://2130706433/a/../page', 'http://127.0.0.1/page'],
  [302, 'http://x:y@127.0.0.1/page', 'http://127.0.0.1/page'],
  [302, 'http://127.0.0.1/page', 'http://x:y@127.0.0.1/page'],
  [302, 'http://127.0.0.1/page#', 'http://127.0.0.1/page'],
  [302, 'http://127.0.0.1/page?', 'http://127.0.0.1/page'],
  [302, 'http://127.0.0.1/%70age', 'http://127.0.0.1/%70age'],
  [302, Buffer.from('http://127.0.0.1/é').toString('latin1'), 'http://127.0.0.1/%C3%A9'],
  [302, Buffer.from('http://127.0.0.1/é').toString('latin1'), 'http://127.0.0.1/%C3%83%C2%A9'],
  [302, "http://127.0.0.1/a'b{c}|d", 'http://127.0.0.1/a%27b%7Bc%7D%7Cd'],
  [302, 'http://[::1]/page', 'http://[::1]/page'],
  [302, 'http://localhost./page', 'http://localhost./page'],
  [302, 'http://127.0.0.1;.example.com/x', 'http://127.0.0.1/;.example.com/x'],
  // As clients read them that use `url.resolve`, or take the first of several values.
  [302, 'http://127.0.0.1:8080 .example.com/x', 'http://127.0.0.1:8080/%20.example.com/x'],
  [302, 'http://127.0.0.1:8080|.example.com/x', 'http://127.0.0.1:8080/%7C.example.com/x'],
  [302, 'http://127.0.0.1/page, /other', 'http://127.0.0.1/page'],
  [302, 'http://127.0.0.1/%61dmin', 'http://127.0.0.1/admin'],
  [302, 'ftp://127.0.0.1/page', 'ftp://127.0.0.1/page'],
] as const)('stores the target of a %i to %s', ([status, location, target]) => {
  const targets = new RedirectTargets(() => 0)
  targets.note(FROM, status, location)
  expect(targets.to(target)).toEqual(CHAIN)
  expect(targets.to(`${new URL(target).origin}/other`)).toEqual([])
})

test.for([
  [200, 'http://inside.test/page'],
  [404, 'http://inside.test/page'],
  [302, null],
  [302, 'http://'],
  [302, '/page'],
] as const)('stores nothing for %i and Location %s', ([status, location]) => {
  const targets = new RedirectTargets(() => 0)
  targets.note('http://inside.test/go', status, location)
  targets.note(FROM, 302, 'http://other.test/')
  expect(targets.to('http://inside.test/page')).toEqual([])
})

test('does not store public targets, which would evict private ones', () => {
  const targets = new RedirectTargets(() => 0)
  targets.note(FROM, 302, 'http://inside.test/page')
  for (let i = 0; i < 20_000; i++) targets.note(FROM, 302, `http://h${i}.example.com/`)
  expect(targets.to('http://inside.test/page')).toEqual(CHAIN)
  expect(targets.to('http://h1.example.com/')).toEqual([])
})

test('does not store a host that is too long to have an address, which would take much memory', () => {
  const targets = new RedirectTargets(() => 0)
  const target = (length: number) => `http://${'a'.repeat(length - '.test'.length)}.test/page`
  for (const length of [253, 255]) targets.note(FROM, 302, target(length))
  expect(targets.to(target(253))).toEqual(CHAIN)
  expect(targets.to(target(255))).toEqual([])
})

test('stores the chain of origins, also over hops on the same host', () => {
  const targets = new RedirectTargets(() => 0)
  targets.note(FROM, 302, 'http://b.test/1')
  targets.note('http://b.test/1', 302, '/2')
  targets.note('http://b.test/2', 302, 'http://c.test/')
  expect(targets.to('http://c.test/')).toEqual([...CHAIN, 'http://b.test', 'http://b.test'])
})

test('evicts a target after ten minutes', () => {
  let now = 0
  const targets = new RedirectTargets(() => now)
  targets.note(FROM, 302, 'http://inside.test/page')
  now = 10 * 60_000 - 1
  expect(targets.to('http://inside.test/page')).toEqual(CHAIN)
  now++
  expect(targets.to('http://inside.test/page')).toEqual([])
})

test('treats every private URL as a target for ten minutes after too many targets', () => {
  let now = 0
  const targets = new RedirectTargets(() => now)
  targets.note(FROM, 302, 'http://inside.test/page')
  for (let i = 0; i < 10_000; i++) targets.note(FROM, 302, `http://127.0.0.1/${i}/${'x'.repeat(300)}`)
  expect(targets.to('http://inside.test/page')).toEqual(CHAIN)
  expect(targets.to('http://never.test/seen')).toEqual(CHAIN)
  expect(targets.to('http://public.example.com/')).toEqual([])
  now = 10 * 60_000
  expect(targets.to('http://never.test/seen')).toEqual([])
  // Expired targets are evicted first.
  targets.note(FROM, 302, 'http://127.0.0.1/another')
  expect(targets.to('http://never.test/seen')).toEqual([])
})
