// Runs the test suite of the robots-parser package on our package.
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { compileFunction } from 'node:vm'
import { chai, describe, expect, it } from 'vitest'
import robotsParser from '../src/index.ts'
import { reasons } from './differences.ts'

const path = createRequire(import.meta.url).resolve('robots-parser/test/Robots.js')

/** The modules that the suite loads with `require`. */
const modules: Readonly<Record<string, unknown>> = { '../index': robotsParser, chai }

/** Tests that fail with our package on purpose, and why. */
const expectedFailures: Readonly<Record<string, string>> = {
  'should handle lone high / low surrogates': reasons.surrogate,
}

const seen: string[] = []

describe("robots-parser 3.0.1's own test suite", () => {
  const test = (name: string, run: () => void) => {
    seen.push(name)
    const reason = expectedFailures[name]
    if (reason === undefined) it(name, run)
    else it.fails(`${name} (${reason})`, run)
  }
  const suite = compileFunction(readFileSync(path, 'utf8'), ['require', 'describe', 'it'], { filename: path })
  suite((name: string) => modules[name], describe, test)

  it('has more than 40 tests', () => {
    expect(seen.length).toBeGreaterThan(40)
    expect(Object.keys(expectedFailures).filter((name) => !seen.includes(name))).toEqual([])
  })
})
