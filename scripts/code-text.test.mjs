import { expect, test } from 'vitest'
import { codeLines, withoutText } from './code-text.mjs'

test('counts the lines that have code', () => {
  expect(codeLines('// a\n\nconst a = 1 // b\n/* c\n * d */\nconst e = /\\/\\/ f/\n')).toBe(2)
  // biome-ignore lint/suspicious/noTemplateCurlyInString: the text is code
  expect(codeLines("const a = '// b'\nconst c = `\n\n// d ${e} f\n`\n")).toBe(5)
})

test('replaces comments, patterns and texts by spaces', () => {
  expect(withoutText("a('b', /c/) // d")).toBe("a(' ',    )     ")
  // biome-ignore lint/suspicious/noTemplateCurlyInString: the text is code
  expect(withoutText('a(`b ${c} d`)')).toBe('a(`    c}   )')
})
