// Loads undici when the first request or connection needs it. Loading takes longer than the rest of
// this package.
import type * as Undici from 'undici'

let loading: Promise<typeof Undici> | undefined

export function loadUndici(): Promise<typeof Undici> {
  loading ??= import('undici')
  return loading
}
