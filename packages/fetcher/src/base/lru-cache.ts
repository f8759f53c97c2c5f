// The cache of the library lru-cache, with a type for the part of it that Politely uses. The build
// of this package contains the library, so users don't have its declarations.
import { LRUCache as LibraryCache } from 'lru-cache'

/** A map that evicts the least recently used keys. */
export interface LRUCache<K, V> extends Pick<Map<K, V>, 'get' | 'has' | 'delete' | 'clear' | 'size'> {
  /** @param options The size of the value, for a cache without `sizeCalculation`. */
  set(key: K, value: V, options?: { readonly size: number }): unknown
  /** Like `get`, but does not update recency. */
  peek(key: K): V | undefined
  /** Of the options; 0 without it. */
  readonly maxSize: number
  /** The sum of the sizes of all values. */
  readonly calculatedSize: number
  /** The keys, the least recently used first. */
  rkeys(): Iterable<K>
  /** The most recently used first. */
  entries(): Iterable<[K, V]>
}

interface LRUOptions<K, V> {
  /** The maximum number of keys. */
  readonly max?: number
  /** The maximum of the sum of all sizes. A larger value is not stored. */
  readonly maxSize?: number
  readonly sizeCalculation?: (value: V, key: K) => number
  /** How long a value is valid, in milliseconds. */
  readonly ttl?: number
  /** Called for each value that is evicted, replaced or deleted. */
  readonly dispose?: (value: V, key: K) => void
}

export const LRUCache: new <K extends string, V extends {}>(options: LRUOptions<K, V>) => LRUCache<K, V> =
  LibraryCache as never

/**
 * Returns a cache of at most `max` keys. A cache with the option `max` allocates room for all of them;
 * this one grows.
 */
export function boundedMap<V extends {}>(max: number): LRUCache<string, V> {
  return new LRUCache({ maxSize: max, sizeCalculation: () => 1 })
}
