// A filter for each rule: five numbers that show for most rules that they do not match a path,
// before their patterns are read.
//
//   0  a bitmap of the byte classes in the pattern (request-path.ts); the path must have all of them
//   1  the second to fifth byte of the pattern, as one number; the path must have
//      the bytes that the mask selects
//   2  the mask: it selects, of these four bytes, the bytes before the first special character
//   3  the offset of the rule in the packed rules
//   4  the end of its form there
import { LF } from '../ascii.ts'
import { BYTE_CLASS_BIT } from '../url/request-path.ts'
import { nextRuleOffset, prefixEndAt } from './packed-rules.ts'

/** How many numbers a filter has. */
export const FILTER_SIZE = 5
/** The position of the rule's offset in a filter. */
export const OFFSET = 3
/** The position of the end of the rule's form in a filter. */
export const FORM_END = 4

/**
 * Writes the filters of the rules before `rulesEnd`, in the order of the file. @returns The end of
 * the filters.
 */
export function writeFilters(packed: Uint8Array, rulesEnd: number, filters: Int32Array): number {
  let filter = 0
  for (let offset = 0; offset < rulesEnd; filter += FILTER_SIZE) {
    let classes = 0
    let formEnd = offset + 1
    for (; packed[formEnd] !== LF; formEnd++) classes |= BYTE_CLASS_BIT[packed[formEnd] as number] as number
    const second = offset + 2
    const mask = maskOf(prefixEndAt(packed, offset, formEnd) - second)
    filters[filter] = classes
    filters[filter + 1] = fourBytes(packed, second) & mask
    filters[filter + 2] = mask
    filters[filter + OFFSET] = offset
    filters[filter + FORM_END] = formEnd
    offset = nextRuleOffset(packed, offset, formEnd)
  }
  return filter
}

/** Returns a mask of the first `length` of four bytes. */
function maskOf(length: number): number {
  return length >= 4 ? -1 : 2 ** (8 * Math.max(0, length)) - 1
}

/** Returns four bytes as one number, the first one lowest. */
export function fourBytes(bytes: Uint8Array, at: number): number {
  return (
    (bytes[at] as number) |
    ((bytes[at + 1] as number) << 8) |
    ((bytes[at + 2] as number) << 16) |
    ((bytes[at + 3] as number) << 24)
  )
}
