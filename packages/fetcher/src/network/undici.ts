// Loads undici when the first request or connection needs it. Loading takes longer than the rest of
// this package.
import type * as Undici from 'undici'

let loading: Promise<typeof Undici> | undefined

export function loadUndici(): Promise<typeof Undici> {
  loading ??= loadBesideOlder()
  return loading
}

/**
 * Throws in a runtime without sockets; see edge/undici.ts.
 * @param _feature The option or function that needs them.
 * @param _remedy What to write instead.
 */
export function requireSockets(_feature: string, _remedy: string): void {}

/** Warns of a guard that sees no addresses; see edge/undici.ts. */
export function warnOfUrlGuard(): void {}

/** Whether `robotsVia: 'own'` is possible. */
export const HAS_OWN_WAY: boolean = true

/**
 * Whether the client can make its own connections. Bun replaces undici by a module without Client and
 * connector. There, the client uses the platform's fetch.
 */
export const HAS_OWN_CONNECTIONS: boolean = process.versions.bun === undefined

/** Which names the guard looks up before a request of the platform's fetch. */
export const LOOKED_UP: 'if-lookup-given' | 'always' = 'always'

/** The key of the global dispatcher of undici 6 and 7, and of the built-in fetch of Node 22 and 24. */
const LEGACY_DISPATCHER: unique symbol = Symbol.for('undici.globalDispatcher.1')

/**
 * undici 8 replaces the global dispatcher of older versions when it is loaded, unless it finds one
 * of its own version. Puts a dispatcher that was there back: it may be a mock of a test, or the
 * proxy of `NODE_USE_ENV_PROXY`.
 */
async function loadBesideOlder(): Promise<typeof Undici> {
  const globals = globalThis as { [LEGACY_DISPATCHER]?: unknown }
  const before = globals[LEGACY_DISPATCHER]
  const undici = await import('undici')
  if (before !== undefined && globals[LEGACY_DISPATCHER] !== before) globals[LEGACY_DISPATCHER] = before
  return undici
}
