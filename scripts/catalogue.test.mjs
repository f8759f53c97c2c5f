// The tables of core: their JSON, and the modules made from them.
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { expect, test } from 'vitest'
import { MADE, SOURCE } from './catalogue.mjs'

const { Ajv2020 } = createRequire(new URL('../packages/cli/package.json', import.meta.url))('ajv/dist/2020.js')

test('the rows follow the schema, one on each line', () => {
  const text = readFileSync(SOURCE, 'utf8')
  const { crawlers, ...rest } = JSON.parse(text)
  const ajv = new Ajv2020({ allErrors: true })
  const validate = ajv.compile(JSON.parse(readFileSync(SOURCE.replace('.json', '.schema.json'), 'utf8')))
  expect(validate({ crawlers, ...rest }), ajv.errorsText(validate.errors)).toBe(true)
  const lines = text.split('\n').filter((line) => line.includes('"token"'))
  expect(lines.map((line) => JSON.parse(line.replace(/,$/, '')))).toEqual(crawlers)
})

test.each(Object.entries(MADE))('%s is made from its rows', (path, text) => {
  expect(text(), 'run `npm run update`, which writes it').toBe(readFileSync(path, 'utf8'))
})
