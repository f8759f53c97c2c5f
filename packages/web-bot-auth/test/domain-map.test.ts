import { expect, test } from 'vitest'
import { DomainMap } from '../src/domain-map.ts'

const kept = (map: DomainMap<number>, urls: readonly string[]) => urls.filter((url) => map.has(url))

test('one domain fills a map that nobody else needs, and the least recently used goes first', () => {
  const evicted: string[] = []
  const map = new DomainMap<number>(3, 1_000, (url) => evicted.push(url))
  for (const n of [0, 1, 2]) map.set(`https://x${n}.a.test/`, n, 0)
  expect(map.get('https://x0.a.test/')).toBe(0)
  map.set('https://x3.a.test/', 3, 0)
  expect(evicted).toEqual(['https://x1.a.test/'])
  map.set('https://b.test/', 0, 0)
  expect(evicted).toEqual(['https://x1.a.test/', 'https://x2.a.test/'])
})

test('however small the entries of a domain are, they evict none of a smaller domain', () => {
  const map = new DomainMap<number>(10, 10_000)
  map.set('https://a.test/', 0, 9_000)
  for (let n = 0; n < 100; n++) map.set(`https://x${n}.hostile.test/`, n, 0)
  expect(map.has('https://a.test/')).toBe(true)
})

test('large entries of a domain make room, and a huge one does not clear the map', () => {
  const map = new DomainMap<number>(100, 1_000)
  const small = Array.from({ length: 20 }, (_, n) => `https://small${n}.test/`)
  for (const url of small) map.set(url, 0, 500)
  const large = Array.from({ length: 20 }, (_, n) => `https://x${n}.large.test/`)
  for (const url of large) map.set(url, 0, 20_000)
  expect(kept(map, [...small, ...large])).toEqual([...small, ...large.slice(-3)])
  map.set('https://huge.test/', 0, 1e9)
  expect(kept(map, [...small, 'https://huge.test/'])).toEqual(small)
})

test('domains of about the same size lose entries by their use', () => {
  const map = new DomainMap<number>(4, 1_000)
  const urls = ['https://b.test/', 'https://c.test/', 'https://d.test/', 'https://e.test/']
  for (const [n, url] of urls.entries()) map.set(url, n, n * 100)
  map.get('https://b.test/')
  map.set('https://f.test/', 0, 0)
  expect(kept(map, urls)).toEqual(['https://b.test/', 'https://d.test/', 'https://e.test/'])
})

test('counts what is deleted and replaced', () => {
  const map = new DomainMap<number>(10, 1_000)
  for (let n = 0; n < 100; n++) {
    map.set('https://a.test/', n, 5_000)
    map.set(`https://b${n}.test/`, n, 3_000)
    map.delete(`https://b${n}.test/`)
  }
  map.set('https://c.test/', 0, 3_000)
  expect(kept(map, ['https://a.test/', 'https://c.test/'])).toHaveLength(2)
})
