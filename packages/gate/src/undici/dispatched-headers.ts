// Reads the headers of a dispatched request once, in any form that undici accepts, and adds the
// User-Agent.
import type { Dispatcher } from 'undici'
import { assertNoPseudoHeader } from '../adapter/target.ts'
import { warnOfOtherName } from '../adapter/user-agent.ts'
import type { PoliteGate } from '../gate.ts'

type DispatchedHeaders = Dispatcher.DispatchOptions['headers']

/** The default User-Agents of fetch: the default of Node, and the default of undici. */
const DEFAULTS_OF_FETCH: ReadonlySet<unknown> = new Set(['node', 'undici'])

/** The copied headers, and the values of all Host headers. */
interface FixedHeaders {
  readonly headers: NonNullable<DispatchedHeaders>
  readonly hosts: readonly unknown[]
}

/**
 * Returns a copy of the headers that cannot change later. Sets the User-Agent unless the caller
 * has. The copy has the form of the input: undici accepts several values for one name only in an
 * object.
 * @throws {InvalidRequestError} for a pseudo-header of HTTP/2.
 */
export function fixedHeaders(headers: DispatchedHeaders, gate: PoliteGate): FixedHeaders {
  const isList = typeof headers === 'object' && headers !== null && Symbol.iterator in headers
  return isList ? fixedList(headers as Iterable<unknown>, gate) : fixedObject({ ...headers }, gate)
}

/** @param copy Is changed. */
function fixedObject(copy: Record<string, unknown>, gate: PoliteGate): FixedHeaders {
  const hosts: unknown[] = []
  let hasUserAgent = false
  for (const name of Object.keys(copy)) {
    const lowerName = name.toLowerCase()
    assertNoPseudoHeader(lowerName)
    if (lowerName === 'host') hosts.push(copy[name])
    else if (lowerName === 'user-agent' && !hasUserAgent) {
      hasUserAgent = true
      copy[name] = fixedUserAgent(copy[name], gate)
    }
  }
  if (!hasUserAgent) copy['user-agent'] = gate.robots.userAgent
  return { headers: copy as NonNullable<DispatchedHeaders>, hosts: valuesOf(hosts) }
}

/** @param headers `[name, value, name, value]`, or pairs. */
function fixedList(headers: Iterable<unknown>, gate: PoliteGate): FixedHeaders {
  const items = Array.isArray(headers) ? headers : [...headers].flat()
  // A name may be a Buffer, which undici converts to a string.
  const list = items.map((item: unknown, n) => (n % 2 === 0 ? String(item) : item))
  const names = list.map((name, n) => (n % 2 === 0 ? String(name).toLowerCase() : ''))
  for (const name of names) assertNoPseudoHeader(name)
  const hosts = list.filter((_, n) => names[n - 1] === 'host')
  const at = names.indexOf('user-agent')
  if (at === -1) list.push('user-agent', gate.robots.userAgent)
  else list[at + 1] = fixedUserAgent(list[at + 1], gate)
  return { headers: list as string[], hosts: valuesOf(hosts) }
}

/** Replaces the default of fetch. Warns of a value that does not name the gate's crawler. */
function fixedUserAgent(value: unknown, gate: PoliteGate): unknown {
  if (DEFAULTS_OF_FETCH.has(value)) return gate.robots.userAgent
  warnOfOtherName(gate, value)
  return value
}

/** A header may have several values, or none. */
function valuesOf(hosts: readonly unknown[]): readonly unknown[] {
  return hosts.length === 0 ? hosts : hosts.flat().filter((host) => host !== undefined)
}
