// A call: a parked request is back in its queue, and expected. Any crawler of this process that takes from the queue may be the one that gets it.
import type { RequestSource } from './inside.ts'

export interface Call {
  readonly source: RequestSource
  readonly key: string
  /** Tells who called that another one got it. */
  readonly taken: () => void
}

const open = new WeakMap<RequestSource, Map<string, Call>>()

export function openCall(call: Call): void {
  const calls = open.get(call.source) ?? new Map<string, Call>()
  open.set(call.source, calls.set(call.key, call))
}

/** The call that a request of the queue answers, if there is one. It is open no longer. */
export function answeredCall(source: RequestSource, key: string): Call | undefined {
  const call = open.get(source)?.get(key)
  if (call !== undefined) closeCall(call)
  return call
}

export function closeCall({ source, key }: Call): void {
  open.get(source)?.delete(key)
}
