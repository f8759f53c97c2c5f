// Before and after: changed verdicts, by the line that causes them.
import { expect, test } from 'vitest'
import { compareFiles } from '../src/comparison.ts'
import { countCells, matrixOf } from '../src/matrix.ts'
import { startState } from '../src/state.ts'

const state = {
  ...startState,
  before: 'User-agent: *\nDisallow: /cart\n\nUser-agent: GPTBot\nDisallow: /\n',
  robots: 'User-agent: *\nDisallow: /cart\nDisallow: /search\n',
  urls: ['/search?q=1', '/cart', '/'],
  crawlers: ['Googlebot', 'GPTBot'],
}

test('counts the changes of the matrix by the line that causes them', () => {
  expect(compareFiles(state)?.given).toEqual([
    {
      crawler: 'Googlebot',
      disallowed: [{ file: 'new', line: 3, rule: 'Disallow: /search', count: 1, examples: ['/search?q=1'] }],
      allowed: [],
    },
    {
      crawler: 'GPTBot',
      disallowed: [],
      allowed: [{ file: 'old', line: 5, rule: 'Disallow: /', count: 1, examples: ['/'] }],
    },
  ])
})

test('finds changes that the URLs of the matrix do not show', () => {
  const { given, sampled, samples } = compareFiles({ ...state, urls: [], crawlers: [] }) ?? {}
  expect(given).toEqual([])
  expect(sampled?.map(({ crawler }) => crawler)).toEqual(['*', 'GPTBot'])
  expect(sampled?.[0]?.disallowed[0]?.examples).toEqual(['/search', '/searchx'])
  expect(samples).toBeGreaterThan(3)
})

test('compares fewer crawlers if the files are large, and says how many it left out', () => {
  const groups = Array.from({ length: 99 }, (_, i) => `User-agent: bot${i}\nDisallow: /\n`).join('')
  const large = `${groups}${`# ${'x'.repeat(1000)}\n`.repeat(200)}`
  expect(compareFiles({ ...state, before: large, robots: `${large}Allow: /a\n` })?.leftOut).toBeGreaterThan(50)
  expect(compareFiles(state)?.leftOut).toBe(0)
})

test('marks the changed cells', () => {
  expect(matrixOf(state).map((row) => row.map(({ isChanged }) => isChanged))).toEqual([
    [true, false],
    [false, false],
    [false, true],
  ])
  expect(countCells(matrixOf(state), ({ isChanged }) => isChanged)).toBe(2)
})

test('without an earlier file there is no comparison', () => {
  expect(compareFiles({ ...state, before: undefined })).toBeUndefined()
  expect(matrixOf({ ...state, before: undefined })[0]?.[0]).toMatchObject({ before: undefined, isChanged: false })
})
