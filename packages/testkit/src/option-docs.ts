// Reads the options of interfaces, and their docstrings, out of TypeScript source. It relies on the
// formatting that Biome enforces.

/** One option of an interface. */
export interface OptionRow {
  readonly name: string
  /** Its type as Markdown, such as `ms`, or `` `start` or `end` ``. */
  readonly type: string
  /** Its default as Markdown, `required`, or undefined if the docstring names none. */
  readonly defaultText: string | undefined
  /** The first sentence of the docstring, up to a colon or semicolon; or an empty text. */
  readonly meaning: string
}

const PROPERTY =
  /^(?: {2}\/\*\*((?:(?!\*\/)[\s\S])*?)\*\/\n)? {2}readonly (\w+)(\??): ([\s\S]*?)\n(?= {2}\/\*\*| {2}readonly|\})/gm

/**
 * Returns the options that an interface or an object type declares itself, in their order, without
 * internal ones.
 * @param source The text of all files, in which its types are looked up.
 * @throws {Error} if the source does not export such a type.
 */
export function optionRowsIn(source: string, type: string): OptionRow[] {
  const [, body] =
    new RegExp(String.raw`^(?:export )?(?:interface|type) ${type}\b[^{]*\{\n([\s\S]*?^\})`, 'm').exec(source) ?? []
  if (body === undefined) throw new Error(`no exported type ${type} in the source`)
  const properties = Array.from(body.matchAll(PROPERTY)).filter(([, comment = '']) => !comment.includes('@internal'))
  return properties.map(([, comment = '', name = '', isOptional, text = '']) => {
    const docs = comment.replace(/^ *\*? ?/gm, '').trim()
    return {
      name,
      type: typeText(source, name, text),
      defaultText: isOptional ? defaultIn(docs) : 'required',
      meaning: firstSentence(docs),
    }
  })
}

/** A character of a sentence: code in backticks, a dot inside a word or number, or any other one. */
const IN_SENTENCE = String.raw`(?:\`[^\`]*\`|\.(?=\w)|[^.\`])`
const SENTENCE = new RegExp(String.raw`^${IN_SENTENCE}*\.`)
/** The part of a sentence before a colon or semicolon, if it has at least four words. */
const FIRST_PART = /^(?:(?:`[^`]*`|[^:;`\s])+\s){3,}(?:`[^`]*`|[^:;`\s])+/
/** What the column of units says already. */
const UNIT = /,? in (?:milliseconds|bytes)\b(?=[,.:;])/g
/** A sentence, or its last part after a semicolon, that begins with `default`. */
const DEFAULT = new RegExp(`(?:^|[.;] )[Dd]efault(?: and minimum)?:? ((?:(?!;)${IN_SENTENCE})+)`)

/** Four or more words after the value of a default. */
const LONG_REASON = /[:;](?: \S+){4,}$/

function firstSentence(docs: string): string {
  const sentence = SENTENCE.exec(oneLine(docs))?.[0] ?? oneLine(docs)
  const text = sentence.replace(UNIT, '')
  return FIRST_PART.exec(text)?.[0].replace(/\.?$/, '.') ?? text
}

/** What follows `@default`, `Default` or `default:`, or the value before `(the default)`. */
function defaultIn(docs: string): string | undefined {
  const [, tag] = /@default (.+)/.exec(docs) ?? []
  if (tag !== undefined) return asMarkdown(tag)
  const line = oneLine(docs)
  const [, value] = /(`[\w-]+`)(?: \(|, )the default\)/.exec(line) ?? DEFAULT.exec(line) ?? []
  return value && asMarkdown(value.trim().replace(LONG_REASON, ''))
}

/** Without tags, and `{@link X}` as code. */
function oneLine(docs: string): string {
  const [text = ''] = docs.split(/^@/m)
  return text
    .replace(/\{@link (\w+)\}/g, '`$1`')
    .replace(/\s+/g, ' ')
    .trim()
}

/** Writes a number with commas, and a name or a text in quotes as code. */
function asMarkdown(value: string): string {
  const withCommas = value.replace(/^\d+(?!\S)/, (digits) => Number(digits).toLocaleString('en-US'))
  return withCommas.replace(/^'(.*)'$|^(true|false|\w+\.\w+)$/, (_, text, name) => `\`${text ?? name}\``)
}

/** The units that names end with. */
const UNITS: Readonly<Record<string, string>> = { Ms: 'ms', Bytes: 'bytes', Days: 'days' }

/** A type for readers: units, `function`, the values of a choice, or its TypeScript as code. */
function typeText(source: string, name: string, text: string): string {
  const members = partsOf(text).filter((part) => part !== 'undefined' && part !== 'null')
  const unit = UNITS[/(Ms|Bytes|Days)(?:In|Out)?$/.exec(name)?.[1] ?? '']
  const words = members.flatMap((part) => {
    if (part.includes('=>') || part === 'LookupFunction') return ['function']
    if (part === 'typeof globalThis.fetch' || part === 'SitemapFetch') return ['fetch']
    if (part === 'number' && unit !== undefined) return [unit]
    if (/^'.*'$/.test(part)) return [`\`${part.slice(1, -1)}\``]
    if (/^(?:number|boolean|string)$/.test(part)) return [part]
    const simple = part.replace(/\breadonly /g, '').replace(/^Omit<([\w.]+),.*>$/, '$1')
    return literalsOf(source, part) ?? [`\`${simple}\``]
  })
  return words.length < 3 ? words.join(' or ') : `${words.slice(0, -1).join(', ')} or ${words.at(-1)}`
}

/** Splits a union at the bars that are outside of brackets. */
function partsOf(text: string): string[] {
  const parts = ['']
  let depth = 0
  for (const char of text
    .replace(/\s+/g, ' ')
    .replace(/^ ?\| /, '')
    .replaceAll('=>', '⇒')) {
    if ('({<['.includes(char)) depth++
    if (')}>]'.includes(char)) depth--
    if (char === '|' && depth === 0) parts.push('')
    else parts.push(`${parts.pop()}${char}`)
  }
  return parts.map((part) => part.replaceAll('⇒', '=>').trim())
}

/** The members of a type that is a union of texts, or of such a field of an interface. */
function literalsOf(source: string, part: string): string[] | undefined {
  const [, type = part, field] = /^(\w+)\['(\w+)'\]$/.exec(part) ?? []
  const declaration =
    field === undefined
      ? new RegExp(String.raw`^export type ${type} =([\s\S]*?)(?=\n\S|\n\n)`, 'm')
      : new RegExp(String.raw`^export interface ${type}\b[\s\S]*?^ {2}readonly ${field}\??: ([^\n]*)`, 'm')
  const [, definition = ''] = declaration.exec(source) ?? []
  const members = partsOf(definition).filter((member) => member !== 'undefined')
  const literals = members.map((member) =>
    /^'.*'$/.test(member)
      ? [`\`${member.slice(1, -1)}\``]
      : /^\w+(?:\['\w+'\])?$/.test(member)
        ? literalsOf(source, member)
        : undefined,
  )
  return literals.includes(undefined) ? undefined : (literals.flat() as string[])
}
