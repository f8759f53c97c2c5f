// Warns of options that are written where they have no effect, or another one than it seems.
import { OptionError } from '@politely/core'
import { CLIENT_OPTIONS, describeValue } from '@politely/fetcher/internal'
import { GATE_OPTIONS, OPTIONS_OF_FETCH } from '../options/pacing.ts'

/**
 * Options of `politely` that are also options of a request, or that have no effect on pages: such a limit
 * of a request can have no remedy.
 */
const SILENT: ReadonlySet<string> = new Set(['dispatcher', 'signal', 'maxRedirects', 'maxBodyBytes'])
/** The names of our other options. */
const MEANT: ReadonlySet<string> = new Set(
  Object.keys({ ...OPTIONS_OF_FETCH, ...CLIENT_OPTIONS, ...GATE_OPTIONS }).filter((name) => !SILENT.has(name)),
)
const warned = new Set<string>()

/** Forgets the warnings. For tests. */
export function forgetMisplaced(): void {
  warned.clear()
}

/**
 * Warns of options of `politely` among the options of one request, such as `retry`. Once for each name:
 * the wrapped fetch gets them, and may know them. A wrapper such as ofetch passes on its own options, and
 * makes a `Headers` of the headers.
 * @param isBuiltIn Whether `politely` wraps the fetch of Node: that of node-fetch 2 knows `timeout`.
 */
export function warnOfMisplaced(init: object, isBuiltIn: boolean): void {
  for (const name in init) {
    if (!MEANT.has(name) && !(name === 'timeout' && isBuiltIn)) continue
    const value: unknown = init[name as keyof typeof init]
    const { headers } = init as { readonly headers?: Partial<Headers> | null }
    if (!value || warned.has(name) || typeof headers?.append === 'function') continue
    warn(name, `has no effect on politely here, in the options of one request; write ${remedyOf(name, value)}`)
  }
}

/**
 * @throws {OptionError} for a function `dispatcher` of `politely`: the wrapped fetch sends the pages, so
 * it would choose the way of robots.txt only.
 */
export function assertNoDispatchers(dispatcher: unknown): void {
  if (typeof dispatcher === 'function')
    throw new OptionError(
      'dispatcher',
      'a function would choose the way of robots.txt only, since the fetch that you wrap sends the pages; write it there, and robots.txt takes the same way: politely((url, init) => fetch(url, { ...init, dispatcher: choose(new URL(url).origin) }), { … }) with the fetch of undici, or politeAgent({ dispatcher })',
    )
}

/** Warns of `retries` in the options of `politely`, which does not repeat requests for pages. */
export function warnOfRetries(retries: unknown): void {
  if (typeof retries === 'number' && retries > 0 && !warned.has('retries'))
    warn(
      'retries',
      `${retries} is for requests for robots.txt only; for pages write ${remedyOf('retries', retries)}; if you mean robots.txt, write retry: undefined too`,
    )
}

function remedyOf(name: string, value: unknown): string {
  const isNumber = typeof value === 'number' && value >= 1
  if (name === 'retries' || name === 'retry')
    return `politely(fetch, { retry: { attempts: ${isNumber ? describeValue(value + 1) : 3} } })`
  if (name === 'timeout' || name === 'timeoutMs')
    return `politely(fetch, { requestTimeoutMs: ${isNumber ? describeValue(value) : 30_000} })`
  return `politely(fetch, { ${name} })`
}

function warn(name: string, problem: string): void {
  warned.add(name)
  process.emitWarning(`${name}: ${problem}`, { type: 'PolitelyWarning', code: 'POLITELY_MISPLACED_OPTION' })
}
