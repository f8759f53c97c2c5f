// Globals of Node in bundles for runtimes that may lack them. bundle-edge.mjs imports them where they
// are used. A timer there may be a number, without `ref` and `unref`.

const { process: host, setTimeout: start, clearTimeout: stop } = globalThis

class Timer {
  constructor(id) {
    this.id = id
  }

  ref() {
    return this
  }

  unref() {
    return this
  }
}

export const setTimeout = (...args) => {
  const timer = start(...args)
  return typeof timer === 'object' ? timer : new Timer(timer)
}

export const clearTimeout = (timer) => stop(timer instanceof Timer ? timer.id : timer)

export const setImmediate = globalThis.setImmediate ?? ((listener) => start(listener, 0))

/** Workers with a compatibility date before 2025-05-05 have none. A callback may never come anyway. */
class NoRegistry {
  register() {}

  unregister() {}
}

const Registry = globalThis.FinalizationRegistry ?? NoRegistry

export { Registry as FinalizationRegistry }

export const process = {
  env: host?.env ?? {},
  versions: host?.versions ?? {},
  on: (...args) => host?.on?.(...args),
  off: (...args) => host?.off?.(...args),
  // workerd has `emitWarning`, and prints nothing unless something listens. Node itself listens.
  emitWarning(text, options) {
    if (host?.emitWarning && host.listenerCount?.('warning') !== 0) host.emitWarning(text, options)
    else console.warn(`[${options.code}] ${text}`)
  },
}
