import { expect, test } from 'vitest'
import { RedirectTargets } from '../src/redirect-targets.ts'

const FROM = 'http://public.example.com/go'

test.for([
  [302, 'http://inside.test/page', 'http://inside.test/page#top'],
  [301, '//inside.test/page', 'http://inside.test/page'],
  [300, 'http://INSIDE.test:80/page', 'http://inside.test/page'],
  [399, 'http://inside.test/a/../page', 'http://inside.test/page'],
] as const)('notes the target of a %i to %s', ([status, location, target]) => {
  const targets = new RedirectTargets()
  targets.note(FROM, status, location)
  expect(targets.to(target)).toEqual(['http://public.example.com'])
  expect(targets.to(`${target.replace(/#.*/, '')}/other`)).toEqual([])
})

test.for([
  [200, 'http://inside.test/page'],
  [404, 'http://inside.test/page'],
  [302, null],
  [302, 'ftp://inside.test/page'],
  [302, 'http://'],
  [302, '/page'],
] as const)('notes nothing for %i and Location %s', ([status, location]) => {
  const targets = new RedirectTargets()
  targets.note(FROM, status, location)
  expect(targets.to('http://inside.test/page')).toEqual([])
  expect(targets.to('http://public.example.com/page')).toEqual([])
})

test('remembers a chain, also over hops on the same host', () => {
  const targets = new RedirectTargets()
  targets.note(FROM, 302, 'http://b.test/1')
  targets.note('http://b.test/1', 302, '/2')
  targets.note('http://b.test/2', 302, 'http://c.test/')
  expect(targets.to('http://c.test/')).toEqual(['http://public.example.com', 'http://b.test', 'http://b.test'])
})

test('is bounded, however long and many the targets are', () => {
  const targets = new RedirectTargets()
  const path = 'x'.repeat(16_000)
  for (let i = 0; i < 1_000; i++) targets.note(FROM, 302, `http://h${i}.test/${path}`)
  const known = Array.from({ length: 1_000 }, (_, i) => targets.to(`http://h${i}.test/${path}`).length > 0)
  expect(known.filter(Boolean).length).toBeLessThan(300)
  expect(known.at(-1)).toBe(true)
})
