// One Chromium for the tests of a file.
import { chromiumArguments, findChromium, isMissing } from '@politely/testkit'
import puppeteer, { type Browser, type LaunchOptions } from 'puppeteer-core'

const found = findChromium()

export const noChromium: boolean = isMissing('chromium', found)

export function launch(options: LaunchOptions = {}): Promise<Browser> {
  if (found === undefined) throw new Error('there is no Chromium')
  return puppeteer.launch({
    executablePath: found.command,
    env: { ...process.env, ...found.env },
    args: [...chromiumArguments],
    ...options,
  })
}
