// One Chromium for the tests of a file.
import { chromiumArguments, findChromium, isMissing } from '@politely/testkit'
import { type Browser, chromium, type LaunchOptions } from 'playwright-core'

const found = findChromium()

export const noChromium: boolean = isMissing('chromium', found)

export function launchOptions(): LaunchOptions {
  if (found === undefined) throw new Error('there is no Chromium')
  return { executablePath: found.command, env: { ...process.env, ...found.env }, args: [...chromiumArguments] }
}

export function launch(): Promise<Browser> {
  return chromium.launch(launchOptions())
}
