// The URL that names an agent: where its keys are.
import { OptionError } from '@politely/core'
import { describeValue } from '@politely/fetcher/internal'
import { DIRECTORY_PATH, type Profile } from './profiles.ts'

/**
 * Returns the URL of a key set. An origin stands for its well-known directory.
 * @returns undefined for a URL that is not https:, or has credentials, a query or a fragment.
 */
export function directoryUrlOf(agent: string): string | undefined {
  const url = URL.parse(agent)
  const isPlain =
    url?.protocol === 'https:' && url.username === '' && url.password === '' && !/[?#\s]/.test(agent) && url.host !== ''
  if (!isPlain) return undefined
  return url.pathname === '/' ? url.origin + DIRECTORY_PATH : url.href
}

/** Like `directoryUrlOf`, for the option `agent`. @throws {OptionError} for another value. */
export function checkedAgent(agent: unknown): string {
  const url = typeof agent === 'string' ? directoryUrlOf(agent) : undefined
  if (url === undefined)
    throw new OptionError(
      'agent',
      `${describeValue(agent)} is not the https: URL of a key set without credentials, query and fragment; write one such as "https://bot.example"`,
    )
  return url
}

/** Returns the value of Signature-Agent, without quotes, for the URL of a key set. */
export function agentValue(directoryUrl: string, { agent }: Profile): string {
  return agent === 'string' ? new URL(directoryUrl).origin : directoryUrl
}
