// Which octets stand somewhere, in one number: a bit for each that tells paths apart. To see that a rule needs an octet that a path
// has not, one look at two such numbers is enough.

/** The octets of each bit, from bit 0 on. What stands nowhere here, because nearly every path has it or hardly any rule, has none. */
const OCTETS = [
  '?',
  '&',
  '=',
  '_',
  '-',
  '.',
  '0123456789',
  'ABCDEFGHIJKLMNOPQRSTUVWXYZ',
  'jqxyz',
  '%',
  "'*$",
  ...'bcdfghklmnprstuvw',
]

/** The bit of each octet, or 0; the upper four of a number of 32 bits are nobody's. */
export const signs: Int32Array = new Int32Array(256)
OCTETS.forEach((octets, bit) => {
  for (let i = 0; i < octets.length; i++) signs[octets.charCodeAt(i)] = 1 << bit
})

/** All bits of octets that stand from `start` to `end`. */
export function signsOf(bytes: Uint8Array, start: number, end: number): number {
  let all = 0
  for (let i = start; i < end; i++) all |= signs[bytes[i] as number] as number
  return all
}
