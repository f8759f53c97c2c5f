import { describeReason } from '@politely/core'
import type { Describable } from '@politely/core/internal'

/** What to write in code, as errors of the API say it, and the flags of the command that do it. */
const FLAGS: readonly (readonly [code: RegExp, flags: string | ((...groups: string[]) => string)])[] = [
  [
    /allowAddresses: \[([^\]]*)\](?:, or network: 'any' if no host may be refused)?/g,
    (_, addresses = '') => [...addresses.matchAll(/'([^']*)'/g)].map(([, each]) => `--allow-address ${each}`).join(' '),
  ],
  [/(?:start Node with NODE_USE_ENV_PROXY=1, or )?write dispatcher: new EnvHttpProxyAgent\(\)/g, 'write --proxy URL'],
  [/\(timeoutMs\)/g, '(--timeout)'],
]

/** Describes the reason of a verdict for users of the command. */
export function reasonText(verdict: Describable): string {
  return withFlags(describeReason(verdict))
}

/** Replaces options of the API in a message by flags of the command. */
export function withFlags(message: string): string {
  return FLAGS.reduce((text, [code, flags]) => text.replace(code, flags as string), message)
}
