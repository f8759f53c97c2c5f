// The gallery of mistakes: each shows what its text says.
import { lintRobots } from '@politely/core'
import { expect, test } from 'vitest'
import { cellReport } from '../src/cell-report.ts'
import { gallery } from '../src/gallery.ts'
import { answerOf, matrixOf, signs } from '../src/matrix.ts'

/** The verdicts of each mistake, one row for each URL. */
const VERDICTS: Readonly<Record<string, readonly string[]>> = {
  'own-group': ['✓ ✗', '✓ ✗', '✗ ✓'],
  'no-slash': ['✓ ✓', '✗ ✗'],
  'blank-line': ['✗ ✗ ✓', '✗ ✗ ✓'],
  'every-query': ['✗ ✗', '✓ ✓', '✗ ✗', '✓ ✓'],
  dollar: ['✓ ✓', '✗ ✗', '✓ ✓'],
  'dollar-inside': ['✓ ✓', '✓ ✓'],
  'html-page': ['✓ ✓', '✓ ✓'],
  bom: ['✗ ✗'],
  'utf-8-path': ['✗ ✗', '✗ ✗', '✗ ✗'],
  tie: ['✓ ✓'],
  'first-match': ['✗ ✗', '✓ ✓'],
  'crawl-delay': ['✗ ✓', '✓ ✓'],
  'relative-sitemap': ['✓ ✓', '✗ ✗'],
  'blocked-css': ['✗ ✗', '✗ ✗', '✓ ✓', '✓ ✓'],
  'missing-colon': ['✗ ✗', '✗ ✗'],
  staging: ['✗ ✗ ✗', '✗ ✗ ✗', '✗ ✗ ✗'],
}

test('each mistake has a name of its own, and verdicts', () => {
  expect(gallery.map(({ id }) => id)).toEqual(Object.keys(VERDICTS))
  expect(gallery.length).toBeGreaterThanOrEqual(10)
})

test.each(gallery)('$id: the verdicts and the finding', ({ id, code, state }) => {
  const rows = matrixOf(state).map((row) => row.map(({ verdict }) => signs[answerOf(verdict)]).join(' '))
  expect(rows).toEqual(VERDICTS[id])
  const codes = lintRobots(new TextEncoder().encode(state.robots)).map((finding) => finding.code)
  if (code !== undefined) expect(codes).toContain(code)
  expect(cellReport(state)).toBeDefined()
})
