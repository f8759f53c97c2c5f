import type { CommandSpec } from '../../command-line.ts'
import { examplesIn, flagsIn } from '../../flags.ts'

export const doctorSpec: CommandSpec = {
  name: 'doctor',
  summary: 'say what works from here: Node, proxy, DNS, TLS, clock, store',
  description:
    'Checks what a crawler needs on this machine, and says what to do about each problem. Without a URL it makes no requests. With a URL, it resolves the host, connects, and requests the robots.txt of the site twice: once to look at the response, and once as the client of politely does.',
  usage: '[URL] [--store FILE] [--user-agent NAME]',
  flags: flagsIn(`
    --user-agent --product-token --store --timeout --proxy --allow-address
    --format NAME  how to print the findings [one of text, json] [default text]
    --json  the same as --format json
  `),
  examples: examplesIn(`
    doctor --user-agent "ExampleBot/1.0" --store robots.sqlite  # Checks this machine, without any request.
    doctor https://example.com --user-agent ExampleBot  # Checks the way to a site, too.
  `),
  exits: { success: 'nothing failed; there may be warnings', fails: 'something failed' },
  run: async (args) => (await import('./doctor.ts')).doctor(args),
}
