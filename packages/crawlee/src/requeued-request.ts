// A call: a parked request is back in its queue, and expected. Any crawler of this process that takes from the queue may be the one that gets it.
import type { RequestSource } from './crawlee-internals.ts'

export interface RequeuedRequest {
  readonly source: RequestSource
  readonly key: string
  /** Tells who called that another one got it. */
  readonly taken: () => void
}

const open = new WeakMap<RequestSource, Map<string, RequeuedRequest>>()

export function expectRequeued(call: RequeuedRequest): void {
  const calls = open.get(call.source) ?? new Map<string, RequeuedRequest>()
  open.set(call.source, calls.set(call.key, call))
}

/** The call that a request of the queue answers, if there is one. It is open no longer. */
export function takeRequeued(source: RequestSource, key: string): RequeuedRequest | undefined {
  const call = open.get(source)?.get(key)
  if (call !== undefined) forgetRequeued(call)
  return call
}

export function forgetRequeued({ source, key }: RequeuedRequest): void {
  open.get(source)?.delete(key)
}
