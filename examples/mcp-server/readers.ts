// The two who read pages: one for what a model wants by itself, one for what a person asked for. A site can speak to each by its name;
// both together keep one pace, since it is one machine that asks.
import { OptionError, productTokenOf } from '@politely/core'
import { LocalPacer } from '@politely/gate'
import { PageReader, type PageReaderOptions } from './page-reader.ts'

export interface ReadersOptions extends Omit<PageReaderOptions, 'userAgent' | 'pacer'> {
  /** Who you are, such as `ExampleMCP/1.0 (+https://example.com/mcp)`: the readers are called ExampleMCP-Autonomous and ExampleMCP-User. */
  readonly userAgent: string
}

export interface Readers {
  /** For a model's own wishes. */
  readonly autonomous: PageReader
  /** For a person's. */
  readonly user: PageReader
  close(): Promise<void>
}

/** @throws {OptionError} for an option that cannot be used. */
export function createReaders({ userAgent, ...options }: ReadersOptions): Readers {
  const pacer = new LocalPacer(() => performance.timeOrigin + performance.now())
  const autonomous = new PageReader({ ...options, pacer, userAgent: namedFor('Autonomous', userAgent) })
  const user = new PageReader({ ...options, pacer, userAgent: namedFor('User', userAgent) })
  return { autonomous, user, close: async () => void (await Promise.all([autonomous.close(), user.close()])) }
}

/** `ExampleMCP/1.0` for a User is `ExampleMCP-User/1.0`. */
function namedFor(who: 'Autonomous' | 'User', userAgent: string): string {
  const token = productTokenOf(userAgent)
  if (token !== undefined) return userAgent.replace(token, `${token}-${who}`)
  const example = 'begin it with a name such as ExampleMCP/1.0'
  throw new OptionError('userAgent', `no product token can be taken from ${JSON.stringify(userAgent)}; ${example}`)
}
