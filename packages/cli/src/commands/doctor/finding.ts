// What the doctor finds.

export interface Finding {
  readonly check: string
  readonly result: 'ok' | 'warn' | 'fail'
  /** What was found; and after a semicolon what to do, if something is to be done. */
  readonly text: string
}

export const ok = (check: string, text: string): Finding => ({ check, result: 'ok', text })
export const warn = (check: string, text: string): Finding => ({ check, result: 'warn', text })
export const fail = (check: string, text: string): Finding => ({ check, result: 'fail', text })
