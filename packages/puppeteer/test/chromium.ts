// One Chromium for the tests of a file.
import { findChromium, isMissing } from '@politely/testkit'
import puppeteer, { type Browser, type LaunchOptions } from 'puppeteer-core'

const found = findChromium()

export const noChromium: boolean = isMissing('chromium', found)

/** Loopback only; root can have no sandbox, nor can others in many a container. */
const ARGS = [
  '--no-sandbox',
  '--disable-gpu',
  '--no-proxy-server',
  '--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1, EXCLUDE localhost',
]

export function launch(options: LaunchOptions = {}): Promise<Browser> {
  if (found === undefined) throw new Error('there is no Chromium')
  return puppeteer.launch({
    executablePath: found.command,
    env: { ...process.env, ...found.env },
    args: ARGS,
    ...options,
  })
}
