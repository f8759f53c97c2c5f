// Starts the sites with the traps, and reports how a crawler did.
//
//   node examples/traps                                   waits for a crawler, and reports at Ctrl-C
//   node examples/traps --run 'wget -q -r "$START_URL"'   runs a crawler, and reports when it ends
import { spawn } from 'node:child_process'
import { constants } from 'node:os'
import { parseArgs } from 'node:util'
import { count, reportJson, reportText, type Sites, startSites } from './sites.ts'

const USAGE = `usage: node examples/traps [--run COMMAND] [--idle SECONDS] [--delay SECONDS] [--port NUMBER]
                           [--token NAME] [--json] [--help]

  --run COMMAND    Run this crawler in a shell, and report when it ends. START_URL is a page with links to
                   all traps; START_URLS are the first pages of all traps, separated by spaces.
  --idle SECONDS   Report when no request has come for this long. Default: report at Ctrl-C.
  --delay SECONDS  What Crawl-delay and Retry-After ask for, a whole number from 2. Default: 2.
  --port NUMBER    The port of the start page; the traps use the ports after it. Default: free ports.
  --token NAME     The crawler's product token, for the groups of robots.txt that name it. Default: what
                   its User-Agent header begins with.
  --json           Print the report as JSON.
  --help           Print this text.

Exit code 1: it fell into a trap, missed allowed pages, or passed no trap. Exit code 2: the sites could not
be started.
`

process.exitCode = await main().catch((error: Error) => {
  console.error(error.message) // such as a port that is in use
  process.exit(2)
})

async function main(): Promise<number> {
  const options = readOptions()
  if (typeof options === 'string') {
    console.error(`${options}\n${USAGE}`)
    return 2
  }
  const { help, run, idleMs, json, ...rest } = options
  if (help) {
    process.stdout.write(USAGE)
    return 0
  }
  const sites = await startSites(rest)
  console.error(`start: ${sites.start}\nreport: ${sites.start}report`)
  if (run !== undefined) console.error(`The crawler ended with status ${await runCrawler(run, sites)}.`)
  else await waitForCrawler(sites, idleMs)
  const report = sites.report()
  sites.close()
  process.stdout.write(json ? reportJson(report) : `\n${reportText(report)}`)
  const isClean = count(report, 'fell') + count(report, 'missed') === 0
  return isClean && count(report, 'passed') > 0 ? 0 : 1
}

function readOptions() {
  try {
    const text = { type: 'string' } as const
    const flag = { type: 'boolean' } as const
    const options = { run: text, idle: text, delay: text, port: text, token: text, json: flag, help: flag }
    const { values } = parseArgs({ options })
    return {
      help: values.help ?? false,
      run: values.run,
      idleMs: wholeNumber('idle', values.idle, 1) * 1000,
      // The log can't tell a shorter pause from none.
      delayMs: wholeNumber('delay', values.delay ?? '2', 2) * 1000,
      port: wholeNumber('port', values.port ?? '0', 0, 65_500),
      token: values.token,
      json: values.json ?? false,
    }
  } catch (error) {
    return (error as Error).message
  }
}

function wholeNumber(name: string, value: string | undefined, least: number, most = 86_400): number {
  if (value === undefined) return Infinity
  if (/^\d+$/.test(value) && Number(value) >= least && Number(value) <= most) return Number(value)
  throw new RangeError(`--${name}: ${value} is out of range; expected a whole number from ${least} to ${most}`)
}

/** Runs the crawler with the output on stderr, since stdout has the report. Returns its exit status. */
function runCrawler(command: string, { start, urls }: Sites): Promise<number> {
  const env = { ...process.env, START_URL: start, START_URLS: urls.join(' ') }
  return new Promise((resolve, reject) => {
    const child = spawn(command, { shell: true, env, stdio: ['ignore', 2, 2] })
    process.once('SIGINT', () => child.kill('SIGINT')) // the report follows
    child.once('error', reject)
    child.once('close', (code, signal) => resolve(code ?? 128 + constants.signals[signal ?? 'SIGTERM']))
  })
}

/** Waits for Ctrl-C, or until the sites had no request for `idleMs`, after at least one. */
async function waitForCrawler(sites: Sites, idleMs: number): Promise<void> {
  await new Promise<void>((resolve) => {
    process.once('SIGINT', resolve).once('SIGTERM', resolve)
    setInterval(() => Date.now() - (sites.lastRequestAt() ?? Infinity) > idleMs && resolve(), 200).unref()
  })
}
