// Decodes the character references in the values of attributes. HTML §13.2.5.72.
import { decodeText, encodeText } from '../../bytes.ts'
import type { Attribute } from './html-tokenizer.ts'

/**
 * The character references that may stand in a name, a rule or a URL. There are 2,231 in all, of
 * letters and symbols that these values do not contain.
 */
const REFERENCES: ReadonlyMap<string, string> = new Map(
  Object.entries({
    amp: '&',
    AMP: '&',
    lt: '<',
    LT: '<',
    gt: '>',
    GT: '>',
    quot: '"',
    QUOT: '"',
    nbsp: '\u00a0',
    apos: "'",
    comma: ',',
    colon: ':',
    commat: '@',
    semi: ';',
    period: '.',
    sol: '/',
    equals: '=',
    lowbar: '_',
    num: '#',
    percnt: '%',
    quest: '?',
    plus: '+',
    ast: '*',
    Tab: '\t',
    NewLine: '\n',
  }),
)

/** These references need no semicolon, unless `=` or a letter or digit follows. */
const REFERENCE = /&(?:#x([0-9a-f]+);?|#(\d+);?|([a-z]+);|(amp|lt|gt|quot|nbsp)(?![=a-z0-9]))/gi

/**
 * Returns the value of an attribute with its character references decoded, as a string that shares
 * no memory with the page.
 */
export function decodedValue(value: Attribute | undefined): string {
  return value === undefined ? '' : decodeText(encodeText(withCharacters(value.text)))
}

/** Returns HTML with characters in place of the references above. */
export function withCharacters(html: string): string {
  return html.replace(REFERENCE, (whole, hex, decimal, name, shortName) => {
    if (hex !== undefined) return characterOf(Number.parseInt(hex, 16))
    if (decimal !== undefined) return characterOf(Number(decimal))
    return REFERENCES.get(name ?? shortName) ?? whole
  })
}

function characterOf(code: number): string {
  return code === 0 || code > 0x10ffff || (code >= 0xd800 && code <= 0xdfff) ? '\ufffd' : String.fromCodePoint(code)
}
