// When the gates of a test let requests start.
import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import type { StartMessage } from '@politely/gate'
import { onTestFinished } from 'vitest'

/**
 * Collects the starts of all requests until the test ends: milliseconds, comparable with
 * `performance.now()`.
 */
export function collectStarts(): readonly number[] {
  const starts: number[] = []
  const onStart = (message: unknown) => void starts.push((message as StartMessage).at - performance.timeOrigin)
  subscribe('politely:gate:start', onStart)
  onTestFinished(() => void unsubscribe('politely:gate:start', onStart))
  return starts
}

/**
 * Returns the time from the first start until a server received a request. On a busy machine, the
 * first request may reach the server late, so the time between two arrivals may be shorter than the
 * delay.
 */
export function sinceFirstStart([first]: readonly number[], request: { readonly at: number } | undefined): number {
  if (first === undefined || request === undefined) throw new Error('no request has started, or arrived')
  return request.at - first
}
