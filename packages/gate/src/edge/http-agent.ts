// Replaces http/http-agent.ts in runtimes without sockets.
import { requireSockets } from '@politely/fetcher/internal'

/** @throws {UnsupportedRuntimeError} */
export function politeHttpAgent(): void {
  requireSockets('politeHttpAgent', 'write politely(fetch, { … })')
}
