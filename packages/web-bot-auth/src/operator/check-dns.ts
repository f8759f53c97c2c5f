// Confirms that the addresses of a crawler have names, and that the names lead back to them.
import { Resolver } from 'node:dns/promises'
import { withTimeout } from '@politely/fetcher/internal'
import { type Finding, finding } from './finding.ts'
import type { Identity } from './identity.ts'
import { isSameAddress, ptrName, sampleOf } from './ip-range.ts'

/** Asks a DNS server, as a `Resolver` of `node:dns/promises` does. Experimental. */
export interface DnsResolver {
  resolvePtr(name: string): Promise<string[]>
  resolve4(name: string): Promise<string[]>
  resolve6(name: string): Promise<string[]>
}

/**
 * How many addresses of each range are looked up. An IPv6 range has too many addresses, unless it
 * is small.
 */
const PER_RANGE = 8
const MAX_ADDRESSES = 64
const MAX_IPV6_HOST_BITS = 8
/** How many lookups run at the same time. */
const AT_ONCE = 8
/** How many faults of one kind are named. */
const MAX_NAMED = 4
/** How long all lookups take together at most, as a multiple of the time limit of one. */
const ALL_OF = 3
const NO_SUCH_RECORD = ['ENOTFOUND', 'ENODATA']

/** What can be said of an address, in the order of the findings. */
const CODES = ['dns-ok', 'dns-without-ptr', 'dns-not-confirmed', 'dns-other-domain', 'dns-failed'] as const

interface Outcome {
  readonly code: (typeof CODES)[number]
  readonly text: string
}

export async function dnsFindings(
  identity: Identity,
  timeoutMs: number,
  resolver?: DnsResolver,
): Promise<readonly Finding[]> {
  const own = resolver === undefined ? new Resolver({ timeout: timeoutMs, tries: 2 }) : undefined
  try {
    const outcomes = await outcomesOf(identity, timeoutMs, bounded(resolver ?? (own as Resolver), timeoutMs))
    return summaryOf(outcomes, identity.hostNames)
  } finally {
    own?.cancel() // what it still waits for would keep the process alive
  }
}

/**
 * Returns the same resolver, with a limit for each lookup: a Resolver waits longer before each of
 * its tries.
 */
function bounded(resolver: DnsResolver, timeoutMs: number): DnsResolver {
  const within = (lookup: Promise<string[]>) =>
    withTimeout(lookup, timeoutMs, (): never => {
      throw Object.assign(new Error(`no answer within ${timeoutMs} ms`), { code: 'ETIMEOUT' })
    })
  return {
    resolvePtr: (name) => within(resolver.resolvePtr(name)),
    resolve4: (name) => within(resolver.resolve4(name)),
    resolve6: (name) => within(resolver.resolve6(name)),
  }
}

async function outcomesOf(
  { ranges, hostNames }: Identity,
  timeoutMs: number,
  resolver: DnsResolver,
): Promise<readonly Outcome[]> {
  const endsAt = performance.now() + ALL_OF * timeoutMs
  const looked = ranges.filter(({ version, bits }) => version === 4 || 128 - bits <= MAX_IPV6_HOST_BITS)
  const addresses = looked.flatMap((range) => sampleOf(range, PER_RANGE)).slice(0, MAX_ADDRESSES)
  const outcomes: Outcome[] = []
  for (let at = 0; at < addresses.length; at += AT_ONCE) {
    const some = addresses.slice(at, at + AT_ONCE)
    outcomes.push(...(await Promise.all(some.map((address) => outcomeOf(address, hostNames, resolver)))))
    const left = addresses.length - outcomes.length
    const isSilent = outcomes.every(({ code }) => code === 'dns-failed')
    if (left > 0 && (isSilent || performance.now() > endsAt))
      return [{ code: 'dns-failed', text: `${left} addresses, which were not looked up` }, ...outcomes]
  }
  return outcomes
}

async function outcomeOf(address: string, hostNames: readonly string[], resolver: DnsResolver): Promise<Outcome> {
  let names: readonly string[]
  try {
    // `reverse` looks into the hosts file too, and reports a server without an answer as ENOTFOUND.
    names = await resolver.resolvePtr(ptrName(address))
  } catch (error) {
    const { code = String(error) } = error as NodeJS.ErrnoException
    if (!NO_SUCH_RECORD.includes(code)) return { code: 'dns-failed', text: `the PTR record of ${address} (${code})` }
    names = []
  }
  if (names.length === 0) return { code: 'dns-without-ptr', text: address }
  const own = names.map((name) => name.toLowerCase().replace(/\.$/, '')).slice(0, PER_RANGE)
  const isOwn = (name: string) => hostNames.some((host) => name === host || name.endsWith(`.${host}`))
  const name = hostNames.length === 0 ? own[0] : own.find(isOwn)
  if (name === undefined) return { code: 'dns-other-domain', text: `${address} is ${own[0]}` }
  try {
    const forward = await (address.includes(':') ? resolver.resolve6(name) : resolver.resolve4(name))
    if (forward.some((each) => isSameAddress(each, address))) return { code: 'dns-ok', text: name }
    return {
      code: 'dns-not-confirmed',
      text: `${address} is ${name}, which leads to ${forward.slice(0, 2).join(', ')}`,
    }
  } catch (error) {
    const { code = String(error) } = error as NodeJS.ErrnoException
    if (NO_SUCH_RECORD.includes(code))
      return { code: 'dns-not-confirmed', text: `${address} is ${name}, which has no address` }
    return { code: 'dns-failed', text: `the addresses of ${name} (${code})` }
  }
}

/** Returns one finding for each code of the outcomes. */
function summaryOf(outcomes: readonly Outcome[], hostNames: readonly string[]): readonly Finding[] {
  return CODES.flatMap((code) => {
    const texts = outcomes.filter((outcome) => outcome.code === code).map(({ text }) => text)
    if (texts.length === 0) return []
    const more = texts.length - MAX_NAMED
    const values = {
      confirmed: texts.length,
      all: outcomes.length,
      example: texts[0] as string,
      named: `${texts.slice(0, MAX_NAMED).join('; ')}${more > 0 ? `; and ${more} more` : ''}`,
      domains: hostNames.join(' or '),
    }
    return finding(code, values, code === 'dns-without-ptr' && hostNames.length === 0 ? 'warn' : undefined)
  })
}
