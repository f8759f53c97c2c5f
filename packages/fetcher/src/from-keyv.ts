// A Keyv as a store, for whoever has one already.
import { OptionError } from '@politely/core'
import type { Store } from './store.ts'

/** What is used of a Keyv, version 6: `new Keyv(…)` fits. */
export interface KeyvLike {
  get(key: string): Promise<unknown>
  /** @param ttl Milliseconds. */
  set(key: string, value: string, ttl?: number): Promise<unknown>
  delete(key: string): Promise<unknown>
}

/** Thrown by `set` where Keyv says that it could not keep a text. Why, it tells the listeners of its event `error` only. */
export class KeyvSetError extends Error {
  override readonly name = 'KeyvSetError'
  readonly code = 'ERR_POLITELY_KEYV_SET'
  readonly origin: string
  constructor(origin: string) {
    super(`Keyv did not keep the text of ${origin}; listen to its event "error" for why`)
    this.origin = origin
  }
}

/**
 * Keyv's promises are those of what is behind it. A plain Keyv, over a Map, has no bound and grows with every origin: give it a
 * store that has one, or use `MemoryStore`. Expiry is by Keyv's clock, `Date.now`. Reads that fail are misses where Keyv
 * only says so by its event `error`. There is no `close`: the Keyv stays yours to disconnect.
 *
 * @param keyv One with a namespace of its own, if it holds other things as well: the keys are bare origins.
 * @throws {OptionError} for what is no Keyv.
 */
export function fromKeyv(keyv: KeyvLike): Store {
  for (const method of ['get', 'set', 'delete'] as const) {
    if (typeof keyv?.[method] !== 'function')
      throw new OptionError('keyv', `has no method ${method}; write fromKeyv(new Keyv())`)
  }
  return {
    async get(origin) {
      const text = await keyv.get(origin)
      return typeof text === 'string' ? text : undefined // another's value is none of ours
    },
    async set(origin, text, keepUntil) {
      const ttl = keepUntil - Date.now()
      // To Keyv a ttl of 0, or one below it, means for ever.
      if (ttl <= 0) await keyv.delete(origin)
      else if ((await keyv.set(origin, text, ttl)) === false) throw new KeyvSetError(origin)
    },
    async delete(origin) {
      await keyv.delete(origin)
    },
  }
}
