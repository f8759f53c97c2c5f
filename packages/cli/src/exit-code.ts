// What the command says to a script.
import type { ClientVerdict } from '@politely/fetcher'

/** Read by people (`--help`) and by the code below. */
export const EXIT_CODES = {
  fine: { code: 0, meaning: 'every URL is allowed; for match: it ran through' },
  disallowed: { code: 1, meaning: 'a URL is disallowed' },
  usage: { code: 2, meaning: 'something cannot be used as it was written: an option, a file, a URL' },
  unreachable: { code: 3, meaning: 'a robots.txt is unreachable, so nobody knows what it says' },
  internal: { code: 70, meaning: 'a fault in politely itself, or in the system under it' },
  interrupted: { code: 130, meaning: 'Ctrl-C' },
} as const

export type Exit = keyof typeof EXIT_CODES

/** Where URLs fare differently, the last of these is the exit code. */
const BY_GRAVITY: readonly Exit[] = ['fine', 'disallowed', 'unreachable', 'usage']

export function exitOf(verdict: ClientVerdict): Exit {
  if (verdict.because === 'invalid-url') return 'usage'
  if (verdict.because === 'unreachable') return 'unreachable'
  return verdict.allowed ? 'fine' : 'disallowed'
}

export function graver(a: Exit, b: Exit): Exit {
  return BY_GRAVITY.indexOf(a) > BY_GRAVITY.indexOf(b) ? a : b
}
