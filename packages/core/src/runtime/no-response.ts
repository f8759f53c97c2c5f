// Warns of arguments that cannot be responses, for functions that never throw.

interface Runtime {
  readonly process?: { emitWarning?(text: string, options: { readonly type: string; readonly code: string }): void }
}

const warned = new Set<string>()

/**
 * Warns with `POLITELY_NOT_A_RESPONSE` if a value is a number, such as a status, or a promise. Once
 * for each function and type. A runtime without process warnings gets none. Never throws.
 *
 * @param call The function that was called, such as `outcomeOf`.
 * @param ofStatus What else to write with a number in place of `STATUS`.
 */
export function warnOfNoResponse(call: string, value: unknown, ofStatus = ''): void {
  const isNumber = typeof value === 'number'
  if ((!isNumber && !isPromise(value)) || warned.has(`${call} ${isNumber}`)) return
  warned.add(`${call} ${isNumber}`)
  const what = isNumber ? `${value} is not a response` : 'a promise is not a response'
  const remedy = isNumber ? `${call}(response)${ofStatus.replace('STATUS', String(value))}` : `${call}(await response)`
  const { process: host } = globalThis as Runtime
  host?.emitWarning?.(`${call}: ${what}, so the result is undefined; write ${remedy}`, {
    type: 'PolitelyWarning',
    code: 'POLITELY_NOT_A_RESPONSE',
  })
}

function isPromise(value: unknown): boolean {
  try {
    return typeof (value as PromiseLike<unknown> | null | undefined)?.then === 'function'
  } catch {
    return false // a proxy, whose handler threw
  }
}
