// Says in a terminal that the command waits for a response.
import type { Arguments } from '../command-line.ts'
import { errorLine } from './style.ts'

const LATE_MS = 3000

/** Writes one line on stderr after three seconds, unless it is disposed of before. */
export function lateNotice(args: Arguments): Disposable {
  const timer = setTimeout(() => {
    if (process.stderr.isTTY === true)
      process.stderr.write(
        errorLine(`no response yet; --timeout limits the wait (now ${args.get('timeout')} s for one robots.txt)`),
      )
  }, LATE_MS)
  timer.unref()
  return { [Symbol.dispose]: () => clearTimeout(timer) }
}
