// Tells code from comments and texts in TypeScript, without a parser.

const COMMENT = /\/\/.*|\/\*[\s\S]*?\*\//.source
const STRING = /'(?:\\.|[^'\\\n])*'|"(?:\\.|[^"\\\n])*"/.source
// A slash starts a regular expression if no operand precedes it; otherwise it divides. This
// heuristic works for formatted code.
const REGULAR_EXPRESSION = /(?<=(?:^|[=(,:[!&|?{};>]|\breturn)\s*)\/(?:\\.|\[(?:\\.|[^\]\\\n])*\]|[^/\\[\n])+\//.source

/**
 * Replaces comments, regular expressions and the contents of strings by spaces. Offsets do not
 * change.
 */
export function withoutText(code) {
  return withReplaced(code, {
    comment: blank,
    pattern: blank,
    string: (text) => text[0] + blank(text.slice(1, -1)) + text[0],
    template: blank,
  })
}

/** Returns the number of lines that have code: all but blank lines and lines with comments only. */
export function codeLines(code) {
  const keep = (text) => text
  // A blank line of a template belongs to its text.
  const template = (text) => text.replace(/^$/gm, '.')
  const kept = withReplaced(code, { comment: blank, pattern: keep, string: keep, template })
  return kept.split('\n').filter((line) => line.trim() !== '').length
}

export function blank(text) {
  return text.replace(/[^\n]/g, ' ')
}

/** Replaces the parts of a code, each by the function for its kind. */
function withReplaced(code, replace) {
  const token = new RegExp(`(?<comment>${COMMENT})|(?<pattern>${REGULAR_EXPRESSION})|(?<string>${STRING})|[\`{}]`, 'g')
  const templateText = /(?:\\[\s\S]|\$(?!\{)|[^\\$`])*(?:`|\$\{)?/y
  const braces = [] // for each open brace, whether it belongs to a `${` in a template
  let result = ''
  let end = 0
  for (let match = token.exec(code); match; match = token.exec(code)) {
    const [text] = match
    const kind = ['comment', 'pattern', 'string'].find((one) => match.groups[one] !== undefined)
    result += code.slice(end, match.index)
    end = token.lastIndex
    if (kind !== undefined) result += replace[kind](text)
    else if (text === '{') {
      braces.push(false)
      result += text
    } else if (text === '}' && !braces.pop()) result += text
    else {
      // A template starts, or continues after the `}` of an expression.
      templateText.lastIndex = end
      const [inside] = templateText.exec(code)
      if (inside.endsWith('${')) braces.push(true)
      result += text + replace.template(inside)
      end += inside.length
      token.lastIndex = end
    }
  }
  return result + code.slice(end)
}
