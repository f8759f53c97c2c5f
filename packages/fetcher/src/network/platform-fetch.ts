// Tells the platform's plain fetch from one that was replaced, and undici's default dispatcher from
// another one.
import { createRequire } from 'node:module'
import { Socket } from 'node:net'
import { types } from 'node:util'
import { fetchAtImport, type PlatformFetch, withoutGates } from './wrapped-fetches.ts'

/** Dispatchers of Politely. They enter a gate, and then make their own connections. */
const politeDispatchers = new WeakSet<object>()

/** Registers a dispatcher that enters a gate and makes its own connections. */
export function registerPoliteDispatcher(dispatcher: object): void {
  politeDispatchers.add(dispatcher)
}

const connectAtImport = Socket.prototype.connect

/** By fetch: whether it is one of the platform or of undici. */
const plainFetches = new WeakMap<object, boolean>()

/** Returns whether a fetch is the platform's, or undici's own one. */
export function isPlainFetch(fetch: PlatformFetch): boolean {
  let isPlain = plainFetches.get(fetch)
  if (isPlain === undefined) {
    isPlain = isBuiltIn(fetch) || isOfUndici(fetch)
    plainFetches.set(fetch, isPlain)
  }
  return isPlain
}

/**
 * A test may have replaced fetch before this module was loaded. So on Node the function's own text
 * decides: only code of Node can require a module under `internal/`.
 */
function isBuiltIn(fetch: PlatformFetch): boolean {
  const isNode = process.versions.bun === undefined && process.versions.deno === undefined
  return isNode ? /\brequire\('internal\//.test(Function.prototype.toString.call(fetch)) : fetch === fetchAtImport
}

/** Returns whether a copy of undici that this process has loaded exports this fetch. */
function isOfUndici(fetch: PlatformFetch): boolean {
  const loaded = createRequire(process.execPath).cache ?? {}
  return Object.entries(loaded).some(
    ([path, module]) => /[\\/]undici\d*[\\/]index\.js$/.test(path) && module?.exports?.fetch === fetch,
  )
}

/**
 * Returns whether a mock such as nock has replaced the connections of `node:net` since this module
 * was loaded. It then gets the requests of the built-in fetch too. A tool that only observes
 * connections does not replace fetch.
 */
export function areSocketsMocked(): boolean {
  return Socket.prototype.connect !== connectAtImport && isGlobalFetchReplaced()
}

function isGlobalFetchReplaced(): boolean {
  const fetch = withoutGates(globalThis.fetch)
  return typeof fetch === 'function' && !isPlainFetch(fetch)
}

/** undici 6 and 7 use the first, undici 8 the second. */
const LEGACY_DISPATCHER = Symbol.for('undici.globalDispatcher.1')
const DISPATCHER = Symbol.for('undici.globalDispatcher.2')

/** Returns the global dispatchers of undici: of version 8, and of older versions. */
function globalDispatchers(): readonly [current: object | undefined, legacy: object | undefined] {
  const globals = globalThis as { readonly [DISPATCHER]?: object; readonly [LEGACY_DISPATCHER]?: object }
  return [globals[DISPATCHER], globals[LEGACY_DISPATCHER]]
}

/** Returns the global dispatcher that is not undici's default one, if there is one. */
export function otherGlobalDispatcher(): object | undefined {
  const [current, legacy] = globalDispatchers()
  if (current !== undefined && !isPlainDispatcher(current)) return current
  if (legacy === undefined || isPlainDispatcher(legacy)) return undefined
  // undici 8 makes the older versions use its own dispatcher, through a wrapper.
  return current !== undefined && nameOf(legacy) === 'Dispatcher1Wrapper' ? undefined : legacy
}

/**
 * Returns whether a dispatcher connects as undici's default Agent does. A dispatcher with
 * interceptors (`compose`) is a Proxy.
 */
function isPlainDispatcher(dispatcher: object): boolean {
  if (politeDispatchers.has(dispatcher)) return true
  if (types.isProxy(dispatcher) || nameOf(dispatcher) !== 'Agent') return false
  const { connect, tls, interceptors } = (internalOf(dispatcher, 'options') ?? {}) as Readonly<Record<string, unknown>>
  const { name = 'defaultFactory' } = (internalOf(dispatcher, 'factory') ?? {}) as { readonly name?: string }
  return connect === undefined && tls === undefined && interceptors === undefined && name === 'defaultFactory'
}

/** Returns the property of an Agent whose key is a symbol of undici's with this description. */
function internalOf(agent: object, description: string): unknown {
  const key = Object.getOwnPropertySymbols(agent).find((symbol) => symbol.description === description)
  return key && (agent as { readonly [key: symbol]: unknown })[key]
}

function nameOf(object: object): string | undefined {
  return object.constructor?.name
}

/** Names the global fetch or dispatcher of the process, if it is not the default one. */
export function replacedGlobal(): string | undefined {
  if (isGlobalFetchReplaced()) return 'globalThis.fetch has been replaced'
  const dispatcher = otherGlobalDispatcher()
  return dispatcher && `the global dispatcher is a ${nameOf(dispatcher)}`
}
