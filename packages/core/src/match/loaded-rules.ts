// The matchers of the files that were checked last. To load rules takes about as long as two checks,
// and a crawler checks URLs of many sites by turns.
//
// Small files share a ring of matchers: each load takes the next matcher, and reuses its memory.
// Larger files share one matcher. So the memory does not grow with the number of files.
import { ByteBuffer } from '../bytes.ts'
import { FILTER_SIZE } from './filters.ts'
import { Matcher } from './matcher.ts'

/** How many matchers the ring has. A crawler rarely visits more sites at a time. Our choice. */
const MAX_MATCHERS = 512
/** The rules of a small file, with their filters, take at most this many bytes. Our choice. */
const MAX_SMALL_BYTES = 2 ** 12

export class LoadedRules {
  readonly #ring: { readonly matcher: Matcher; readonly buffer: ByteBuffer }[] = []
  #next = 0
  readonly #large = { matcher: new Matcher(), buffer: new ByteBuffer(2 ** 14) }

  /**
   * Loads packed rules into a matcher. Another load may replace them; `Matcher.loads` then differs.
   */
  load(packed: string, groupsAt: number, count: number, takesFirst: boolean): Matcher {
    const isSmall = packed.length + 4 * FILTER_SIZE * count <= MAX_SMALL_BYTES
    const { matcher, buffer } = isSmall ? this.#nextOfRing() : this.#large
    matcher.loads++ // the load may fail
    buffer.release()
    buffer.fillLatin1(packed)
    matcher.load(buffer.bytes, groupsAt, count, takesFirst)
    return matcher
  }

  #nextOfRing() {
    const index = this.#next
    this.#next = (index + 1) % MAX_MATCHERS
    const next = this.#ring[index] ?? { matcher: new Matcher(), buffer: new ByteBuffer(2 ** 9) }
    this.#ring[index] = next
    return next
  }
}
