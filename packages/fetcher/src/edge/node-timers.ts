// What the package uses of node:timers, in runtimes without it: the timers as they are at import.
export const setTimeout: typeof globalThis.setTimeout = globalThis.setTimeout
export const clearTimeout: typeof globalThis.clearTimeout = globalThis.clearTimeout
