// Reads error classes, their codes and their docstrings out of TypeScript source. It relies on the
// formatting that Biome enforces.

export interface SourceFile {
  readonly packageName: string
  readonly text: string
}

/** One code of one class. */
export interface ErrorRow {
  readonly code: string
  readonly className: string
  /** The class that it extends. */
  readonly base: string
  readonly packageName: string
  /**
   * The message in the source, with `<name>` for each value. Empty where the caller of the
   * constructor gives the message.
   */
  readonly template: string
  /** The first paragraph of the docstring. */
  readonly cause: string
  /** What follows `Remedy:` in the docstring. */
  readonly remedy: string
  /** The whole docstring. */
  readonly docs: string
}

const DOCSTRING = String.raw`(?:\/\*\*((?:(?!\*\/)[^])*)\*\/\n)?`
const CLASS = new RegExp(String.raw`${DOCSTRING}(?:export )?class (\w+) extends (\w*Error) \{\n([^]*?)^\}`, 'gm')
const PREFIX = 'ERR_POLITELY_'
const TEXT = /(['"`])((?:\\.|(?!\1)[^\\])*)\1/

/**
 * The codes of all error classes, sorted by code. A class has either one code,
 * `readonly code = 'ERR_POLITELY_…'`, or a union, `readonly code: SomeErrorCode`. The docstring of
 * such a union has an item for each code, with the whole code or its end: `` - `BUSY`: cause.
 * Remedy: remedy. `` An item without a remedy gets the remedy of the class.
 */
export function errorRowsIn(files: readonly SourceFile[]): ErrorRow[] {
  const rows = files.flatMap(({ packageName, text }) =>
    Array.from(text.matchAll(CLASS)).flatMap(([, comment = '', className = '', base = '', body = '']) => {
      const [, union, literal] = /readonly code(?:: (\w+))?(?: = '(\w+)')?/.exec(body) ?? []
      const template = templateOf(className, body, text)
      const classDocs = withoutMarks(comment)
      const rowOf = (code: string, docs: string): ErrorRow => {
        return {
          code,
          className,
          base,
          packageName,
          template,
          ...causeAndRemedyIn(docs),
          docs: `${classDocs}\n${docs}`,
        }
      }
      if (literal !== undefined) return [rowOf(literal, classDocs)]
      if (union === undefined || union === 'string') return []
      const items = withoutMarks(declarationOf(files, union).comment).split(/^- /m)
      return membersOf(files, union).map((code) => {
        const item = items.find((text) => code.endsWith(/^`(\w+)`: /.exec(text)?.[1] ?? '\n')) ?? ''
        const row = rowOf(code, item.replace(/^`\w+`: /, ''))
        return row.remedy === '' ? { ...row, remedy: causeAndRemedyIn(classDocs).remedy } : row
      })
    }),
  )
  const own = rows.filter(({ code }) => code.startsWith(PREFIX))
  return own.toSorted((a, b) => a.code.localeCompare(b.code) || a.packageName.localeCompare(b.packageName))
}

/**
 * The members of a union of strings: of the keys of a table in the same file, or a list whose last
 * part may be a template, such as `` `ERR_${'A' | 'B'}` ``.
 */
export function membersOf(files: readonly SourceFile[], type: string): string[] {
  const { definition, text } = declarationOf(files, type)
  const table = /^keyof typeof (\w+)$/.exec(definition.trim())?.[1]
  if (table !== undefined) {
    const [, rows = ''] = new RegExp(String.raw`\nconst ${table} = \{\n([^]*?)\n\}`).exec(text) ?? []
    return Array.from(rows.matchAll(/^ {2}'?([\w-]+)'?:/gm), ([, member = '']) => member)
  }
  const [, prefix = ''] = /`(\w+)\$\{/.exec(definition) ?? []
  return Array.from(definition.matchAll(/'([\w-]+)'/g), ([, member = '']) => prefix + member)
}

function declarationOf(files: readonly SourceFile[], type: string): Record<'comment' | 'definition' | 'text', string> {
  const pattern = new RegExp(String.raw`${DOCSTRING}(?:export )?type ${type} =([^]*?)(?=\n\S|\n\n|\n?$)`)
  for (const { text } of files) {
    const [found, comment = '', definition = ''] = pattern.exec(text) ?? []
    if (found !== undefined) return { comment, definition, text }
  }
  throw new Error(`no type ${type} in the source`)
}

/** The text that a docstring's comment marks surround. */
function withoutMarks(comment: string): string {
  return comment.replace(/^ *\*? ?/gm, '').trim()
}

function causeAndRemedyIn(docs: string): { cause: string; remedy: string } {
  const [cause, remedy] = docs.split(/\bRemedy:\s/)
  return { cause: firstParagraph(cause), remedy: firstParagraph(remedy) }
}

/** The first paragraph as one line with a capital letter; `{@link X}` becomes `` `X` ``. */
function firstParagraph(text = ''): string {
  const [paragraph = ''] = text.trim().split(/\n\n|^@/m)
  const line = paragraph
    .replace(/\s+/g, ' ')
    .replace(/\{@link (\w+)\}/g, '`$1`')
    .trim()
  return line.replace(/^(?!robots\.txt)[a-z]/, (letter) => letter.toUpperCase())
}

/** The text given to `super(…)`, or to the first `new Name(…)` in the file. */
function templateOf(className: string, body: string, text: string): string {
  const call = body.includes('super(') ? body.split('super(')[1] : text.split(`new ${className}(`)[1]
  const literal = TEXT.exec(call ?? '')?.[2] ?? ''
  return literal.replace(/\$\{[^}]*?(\w+)(?:\.href|\))*\}/g, '<$1>')
}
