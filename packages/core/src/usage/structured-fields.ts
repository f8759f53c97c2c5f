// Prepares structured fields (RFC 9651) for the library that parses them.

/** A Date (RFC 9651 §3.3.7) where an item may begin. Or a String, in which an `@` begins no Date. */
const DATE = /"(?:[^"\\]|\\.)*(?:"|\\?$)|(?<=^|[\s,=(])@(?=-?\d+(?![\d.]))/g

/**
 * Replaces each Date in a structured field by an Integer of the same value. structured-headers 2.1
 * rejects a Date that anything follows, and with it the whole field.
 */
export function datesAsIntegers(field: string): string {
  return field.replace(DATE, (match) => (match === '@' ? '' : match))
}
