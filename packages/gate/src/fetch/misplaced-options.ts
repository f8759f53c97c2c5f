// Warns of options that are written where they have no effect, or another one than it seems.
import { CLIENT_OPTIONS, describeValue } from '@politely/fetcher/internal'
import { GATE_OPTIONS, OPTIONS_OF_FETCH } from '../options/pacing.ts'

/** Options of `politely` that are also options of a request. */
const OF_REQUESTS: ReadonlySet<string> = new Set(['dispatcher', 'signal'])
const warned = new Set<string>()

/**
 * Warns of options of `politely` among the options of one request, such as `retry`. Once for each name:
 * the wrapped fetch gets them, and may know them.
 */
export function warnOfMisplaced(init: object): void {
  for (const [name, value] of Object.entries(init)) {
    const isOurs = [OPTIONS_OF_FETCH, CLIENT_OPTIONS, GATE_OPTIONS].some((options) => Object.hasOwn(options, name))
    if (!isOurs || OF_REQUESTS.has(name) || warned.has(name)) continue
    const pages = name === 'retries' || name === 'retry'
    const remedy = pages ? repeating(value) : `politely(fetch, { ${name} })`
    warn(
      name,
      `is an option of politely(fetch, { … }) and has no effect in the options of one request; write ${remedy}`,
    )
  }
}

/** Warns of `retries` in the options of `politely`, which does not repeat requests for pages. */
export function warnOfRetries(retries: unknown): void {
  if (typeof retries === 'number' && retries > 0 && !warned.has('retries'))
    warn('retries', `${retries} is for requests for robots.txt only; for pages write ${repeating(retries)}`)
}

function repeating(value: unknown): string {
  const attempts = typeof value === 'number' && value >= 2 ? describeValue(value) : 3
  return `politely(fetch, { retry: { attempts: ${attempts} } })`
}

function warn(name: string, problem: string): void {
  warned.add(name)
  process.emitWarning(`${name}: ${problem}`, { type: 'PolitelyWarning', code: 'POLITELY_MISPLACED_OPTION' })
}
