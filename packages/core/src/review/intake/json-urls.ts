// Reads the URLs of JSON: one object on each line, as servers log requests, or a document with a list.
import { requestIn } from '../access-log.ts'
import { isUrlOrPath, urlIn } from './url-in-text.ts'
import type { UrlInputProblem, UrlReader } from './url-reader.ts'

/**
 * The fields that may have the URL of a request, in order; only with letters. `urlfull` is `full` in an
 * object `url`. These four are lines of a log or of a request: `GET /page HTTP/1.1`.
 */
const FIELDS =
  'url loc requesturl requesturi clientrequesturi urlfull urloriginal request log message textpayload uri link page address path requestpath clientrequestpath csuristem'.split(
    ' ',
  )
const LINES = new Set(['request', 'log', 'message', 'textpayload'])

/** A document is parsed as a whole, so it is kept up to this length. Characters. */
const MAX_DOCUMENT_LENGTH = 64 * 1024 * 1024

/** Reads JSON that comes in lines. */
export class JsonUrls implements UrlReader {
  problem: UrlInputProblem | undefined
  skipped = 0
  firstSkipped = 0
  readonly #field: readonly string[] | undefined
  readonly #names = new FieldNames()
  #read = 0
  /** The lines of a document so far; undefined if each line is an object. */
  #document: string[] | undefined
  #length = 0

  /** @param field The path of the field, such as `request.uri`. By default, the usual fields. */
  constructor(field: string | undefined) {
    this.#field = field?.split('.')
  }

  write(lines: readonly string[]): readonly string[] {
    if (this.#read === 0 && isOfDocument(lines[0])) this.#document ??= []
    if (this.#document === undefined) return this.#urlsOf(lines.map(parsed))
    for (const line of lines) {
      this.#length += line.length
      if (this.#length <= MAX_DOCUMENT_LENGTH) this.#document.push(line)
      else this.problem = { kind: 'long-document' }
    }
    return []
  }

  end(): readonly string[] {
    if (this.#document === undefined || this.problem !== undefined) return []
    const document = parsed(this.#document.join('\n'))
    return this.#urlsOf(document === undefined ? this.#document.map(parsed) : [document])
  }

  /** Returns the first list with URLs in a value that has no URL itself; otherwise the value. */
  #itemsOf(value: unknown): readonly unknown[] {
    if (this.urlOf(value) !== undefined) return [value]
    const lists = [value, ...fieldsOf(value, this.#names).map((field) => field.value)].filter(Array.isArray)
    return lists.find((list) => list.some((item) => this.urlOf(item) !== undefined)) ?? [value]
  }

  #urlsOf(values: readonly unknown[]): readonly string[] {
    const urls: string[] = []
    for (const value of values.flatMap((each) => this.#itemsOf(each))) {
      this.#read++
      const url = this.urlOf(value)
      if (url !== undefined) urls.push(url)
      else if (++this.skipped === 1) this.firstSkipped = this.#read
    }
    return urls
  }

  /** Returns the URL of a request that a value of JSON describes. */
  urlOf(value: unknown): string | undefined {
    if (typeof value === 'string') return urlIn(value) ?? value
    if (this.#field !== undefined) return textOf(this.#field.reduce<unknown>(memberOf, value))
    const texts = new Map<string, string>()
    for (const { name, value: text } of fieldsOf(value, this.#names))
      if (typeof text === 'string' && !texts.has(name)) texts.set(name, text)
    for (const name of FIELDS) {
      const text = texts.get(name)
      const url = text === undefined ? undefined : LINES.has(name) ? requestIn(text) : urlIn(text)
      if (url !== undefined && isUrlOrPath(url)) return url
    }
    return texts.get('url')
  }
}

/** Whether a line begins a document of several lines, or a list. */
function isOfDocument(line: string | undefined): boolean {
  return line !== undefined && (/^\s*\[/.test(line) || !/\}\s*$/.test(line))
}

/** Returns undefined for a text that is not JSON. */
export function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined // counted as a line without a URL
  }
}

function memberOf(value: unknown, name: string): unknown {
  return (value as Readonly<Record<string, unknown>> | null | undefined)?.[name]
}

function textOf(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined
}

/** Returns the fields of an object, and after them the fields of the objects in it. */
function fieldsOf(value: unknown, names: FieldNames): readonly { readonly name: string; readonly value: unknown }[] {
  const outer = namedFieldsOf(value, names)
  const inner = outer.flatMap(({ name, value: object }) =>
    namedFieldsOf(object, names).flatMap((field) => [field, { name: name + field.name, value: field.value }]),
  )
  return [...outer, ...inner]
}

function namedFieldsOf(
  value: unknown,
  names: FieldNames,
): readonly { readonly name: string; readonly value: unknown }[] {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return []
  return Object.entries(value).map(([name, field]) => ({
    name: names.of(name),
    value: field,
  }))
}

/** Names of fields in lower case and only with letters. The lines of a log have the same names, so they are kept. */
export class FieldNames {
  readonly #known = new Map<string, string>()

  of(key: string): string {
    let name = this.#known.get(key)
    if (name === undefined) {
      name = key.toLowerCase().replace(/[^a-z]/g, '')
      if (this.#known.size < 1000) this.#known.set(key, name)
    }
    return name
  }
}
