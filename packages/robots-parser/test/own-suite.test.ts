// robots-parser's own test suite, as it stands in its package, asked of ours.
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { compileFunction } from 'node:vm'
import { chai, describe, expect, it } from 'vitest'
import robotsParser from '../src/index.ts'
import { reasons } from './differences.ts'

const path = createRequire(import.meta.url).resolve('robots-parser/test/Robots.js')

/** What the suite gets for its `require`. */
const modules: Readonly<Record<string, unknown>> = { '../index': robotsParser, chai }

/** Where we answer otherwise than the suite wants, and why. */
const unlike: Readonly<Record<string, string>> = {
  'should handle lone high / low surrogates': reasons.surrogate,
}

const seen: string[] = []

describe("robots-parser 3.0.1's own test suite", () => {
  const test = (name: string, run: () => void) => {
    seen.push(name)
    const why = unlike[name]
    if (why === undefined) it(name, run)
    else it.fails(`${name} (${why})`, run)
  }
  const suite = compileFunction(readFileSync(path, 'utf8'), ['require', 'describe', 'it'], { filename: path })
  suite((name: string) => modules[name], describe, test)

  it('was found', () => {
    expect(seen.length).toBeGreaterThan(40)
    expect(Object.keys(unlike).filter((name) => !seen.includes(name))).toEqual([])
  })
})
