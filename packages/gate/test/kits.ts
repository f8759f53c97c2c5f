// The two fetches that `politely` is tested with: Node's fetch and undici's fetch, each with its
// own classes.
import * as undici from 'undici'

export interface Kit {
  readonly name: string
  readonly fetch: typeof globalThis.fetch
  readonly Request: typeof globalThis.Request
  readonly Headers: typeof globalThis.Headers
  readonly FormData: typeof globalThis.FormData
}

const { fetch, Request, Headers, FormData } = undici
/** The classes have the same shape, but not the same type for the compiler. */
export const undiciKit: Kit = { name: 'undici.fetch', fetch, Request, Headers, FormData } as unknown as Kit

const own = globalThis
const globalKit: Kit = {
  name: 'globalThis.fetch',
  fetch: own.fetch,
  Request: own.Request,
  Headers: own.Headers,
  FormData: own.FormData,
}

export const kits: readonly Kit[] = [globalKit, undiciKit]
