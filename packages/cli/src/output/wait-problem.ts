import { escapeControls } from '@politely/core/internal'
import type { WaitTooLongError } from '@politely/gate'

/** Describes a refusal because of `--max-wait` for users of the command. */
export function waitProblem({ message, verdict }: WaitTooLongError): string {
  return message
    .replace(`${escapeControls(verdict.url)} `, 'the request ')
    .replaceAll('raise maxWaitMs', 'raise --max-wait')
    .replace(/maxWaitMs is (\d+)/, (_, ms) => `--max-wait is ${ms / 1000}`)
}
