// Replaces received-bodies.ts in runtimes without sockets. Nothing shows what was received there.

export { loadTransports } from '../fetch/load-transports.ts'

export const UNSEEN_CODING = 'this fetch does not show the coded bytes of a body'

export function watchCoding(): undefined {}

export function isDecodedByFetch({ 'content-encoding': coding }: { readonly 'content-encoding'?: unknown }): boolean {
  return coding !== undefined && coding !== 'identity'
}

export function endsWithConnection(): boolean {
  return false
}

export function problemOfConnection(): undefined {}

export function framingOf(): Readonly<Record<string, never>> {
  return {}
}
