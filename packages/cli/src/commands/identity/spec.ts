import type { CommandSpec } from '../../command-line.ts'
import { examplesIn, flagsIn } from '../../flags.ts'

export const identitySpec: CommandSpec = {
  name: 'identity',
  summary: 'make and check what a crawler publishes about itself',
  description:
    'Experimental. Needs the package @politely/web-bot-auth. docs/identity.md explains it, and lists the fields of FILE.\n\n"init FILE" makes what sites expect, from one JSON file with the name of your crawler, its product token, its contact, and so on: the page about it with an example robots.txt, the User-Agent, its IP ranges as JSON, the signed key directory, and the signature agent card. Run it again to sign the directory again: it replaces its files, but keeps a page that you have edited.\n\n"check FILE" looks at all of them as a stranger does, and says what is wrong and what to do. It makes its requests directly, without a proxy.',
  usage: 'init|check FILE …',
  flags: flagsIn(`
    --output DIR  init: the folder for the files
    --key FILE…  a key of the directory, from politely keys new; check: it must be there
    --valid DAYS  init: for how long the signatures of the directory are valid [default 7]
    --overwrite  init: replace a page that you have edited
    --user-agent NAME  check: the header that your crawler really sends [otherwise the header that init has made]
    --dns-server ADDRESS  check: a DNS server outside of your network, such as 9.9.9.9 [otherwise the DNS servers of this machine]
    --timeout SECONDS  check: time limit of each request [default 20]
    --allow-address
    --format NAME  how to print the result [one of text, json] [default text]
    --json  the same as --format json
  `),
  examples: examplesIn(`
    identity init bot.json --key bot.jwk --output public  # Makes the files in the folder public.
    identity check bot.json --key bot.jwk  # Checks what is published.
    identity check bot.json --dns-server 9.9.9.9  # Asks a DNS server outside of your network.
  `),
  exits: { success: 'it was done; check: nothing failed, there may be warnings', fails: 'check: something failed' },
  run: async (args) => (await import('./identity.ts')).identity(args),
}
