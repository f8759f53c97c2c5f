// Adapts a Keyv to the Store interface.
import { OptionError } from '@politely/core'
import { KeyvSetError } from '../base/errors.ts'
import type { Store } from './store.ts'

/** The methods of Keyv 6 that the store calls. `new Keyv(…)` has them. */
export interface KeyvLike {
  get(key: string): Promise<unknown>
  /** @param ttl Milliseconds. */
  set(key: string, value: string, ttl?: number): Promise<unknown>
  delete(key: string): Promise<unknown>
}

/**
 * Creates a store over a Keyv. It guarantees what the Keyv's own storage guarantees. A Keyv over a
 * Map has no size limit and grows with every origin: use a storage with a limit, or `MemoryStore`.
 * Entries expire by Keyv's clock, `Date.now`. A failed read is a miss if Keyv reports it only by
 * its event `error`. The store has no `close`: the caller disconnects the Keyv.
 *
 * @param keyv The Keyv. Give it a namespace if it holds other data, since the keys are plain
 * origins.
 * @throws {OptionError} if `keyv` lacks one of the methods.
 */
export function fromKeyv(keyv: KeyvLike): Store {
  for (const method of ['get', 'set', 'delete'] as const) {
    if (typeof keyv?.[method] !== 'function')
      throw new OptionError('keyv', `has no method ${method}; write fromKeyv(new Keyv())`)
  }
  return {
    async get(origin) {
      const text = await keyv.get(origin)
      return typeof text === 'string' ? text : undefined // a value of another type is not an entry
    },
    async set(origin, text, keepUntil) {
      const ttl = keepUntil - Date.now()
      // To Keyv, a ttl of 0 or less means that the value never expires.
      if (ttl <= 0) await keyv.delete(origin)
      else if ((await keyv.set(origin, text, ttl)) === false) throw new KeyvSetError(origin)
    },
    async delete(origin) {
      await keyv.delete(origin)
    },
  }
}
