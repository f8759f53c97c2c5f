// The two page readers: one for requests of the model, one for requests of a person. Each has its
// own product token, so a site can write rules for each. They share one pacer, because a site sees
// both as one machine.
import { OptionError, productTokenOf } from '@politely/core'
import { LocalPacer } from '@politely/gate'
import type { FetchToolsOptions } from './options.ts'
import { PageReader } from './page-reader.ts'

export interface Readers {
  /** For requests that the model makes by itself. */
  readonly autonomous: PageReader
  /** For requests that a person makes. */
  readonly user: PageReader
  close(): Promise<void>
}

/** @throws {OptionError} for an invalid option. */
export function createReaders({ userAgent, ...options }: FetchToolsOptions): Readers {
  const pacer = new LocalPacer()
  const autonomous = new PageReader({ ...options, pacer, userAgent: withSuffix('Autonomous', userAgent) })
  const user = new PageReader({ ...options, pacer, userAgent: withSuffix('User', userAgent) })
  return { autonomous, user, close: async () => void (await Promise.all([autonomous.close(), user.close()])) }
}

/** `ExampleMCP/1.0` becomes `ExampleMCP-User/1.0`. */
function withSuffix(suffix: 'Autonomous' | 'User', userAgent: string): string {
  const token = productTokenOf(userAgent)
  if (token !== undefined) return userAgent.replace(token, `${token}-${suffix}`)
  const example = 'begin it with a name such as ExampleMCP/1.0'
  throw new OptionError('userAgent', `${JSON.stringify(userAgent)} contains no product token; ${example}`)
}
