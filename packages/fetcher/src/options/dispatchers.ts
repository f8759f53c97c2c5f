// The option `dispatcher`: an undici dispatcher for all requests, or a function that chooses one by
// origin.
import { OptionError } from '@politely/core'
import type { Dispatcher } from 'undici'
import { describeValue, withMethods } from '../base/option-checks.ts'

/** A dispatcher of undici 7 or 8, such as an Agent or a ProxyAgent. */
export interface AnyDispatcher {
  dispatch(options: never, handler: never): boolean
}

/**
 * Chooses the dispatcher for a request by its origin, such as `https://example.com`. undefined means
 * the default way. Called once for each request: redirect hops and retries too. The caller closes the
 * dispatchers.
 */
export type DispatcherByOrigin = (origin: string) => AnyDispatcher | undefined

/** Returns the dispatcher for a request to a URL, or undefined for the default way. */
export type ChooseDispatcher = (url: string) => Dispatcher | undefined

const EXPECTED = 'an undici dispatcher, or a function (origin) => … that returns one'

/** @throws {OptionError} for an invalid value. The returned function throws one, too. */
export function dispatcherChooser(
  option: AnyDispatcher | DispatcherByOrigin | undefined,
): ChooseDispatcher | undefined {
  if (option === undefined) return undefined
  if (typeof option !== 'function') {
    withMethods('dispatcher', option, ['dispatch'], EXPECTED)
    return () => option as Dispatcher
  }
  if (option.length === 0)
    throw new OptionError(
      'dispatcher',
      `a function without parameters can't depend on the origin; expected ${EXPECTED}; write (origin) => …, or the dispatcher itself`,
    )
  return (url) => {
    const { origin } = new URL(url)
    const chosen = option(origin)
    if (chosen === undefined || typeof (chosen as Partial<AnyDispatcher> | null)?.dispatch === 'function')
      return chosen as Dispatcher | undefined
    throw new OptionError(
      'dispatcher',
      `the function returned ${describeValue(chosen)} for ${origin}; return an undici dispatcher, or undefined for the default way`,
    )
  }
}
