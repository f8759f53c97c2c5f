// The keys in Redis: `politely:{https://example.com}:robots`.
import { OptionError } from '@politely/core'
import { describeValue } from '@politely/fetcher/internal'

export const DEFAULT_KEY_PREFIX = 'politely:'

/**
 * Returns the key of an origin. The braces mark the part by which a cluster chooses the hash slot,
 * so all keys of an origin are on one node. Braces in the origin itself are escaped: a host name
 * may contain them.
 */
export function redisKeyOf(prefix: string, origin: string, kind: string): string {
  return `${prefix}{${origin.replace(/[%{}]/g, encodeURIComponent)}}:${kind}`
}

/** Checks the option `keyPrefix`. Braces in it would choose the hash slot instead of the origin. */
export function checkedKeyPrefix(prefix: unknown): string {
  if (typeof prefix === 'string' && !/[{}]/.test(prefix)) return prefix
  throw new OptionError(
    'keyPrefix',
    `${describeValue(prefix)} is invalid; expected a string without braces, such as "${DEFAULT_KEY_PREFIX}"`,
  )
}
