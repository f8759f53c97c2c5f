import type { CommandSpec } from '../../command-line.ts'
import { examplesIn, flagsIn } from '../../flags.ts'

export const keysSpec: CommandSpec = {
  name: 'keys',
  summary: 'create, rotate, publish and check the keys that sign requests',
  description:
    'Experimental. For Web Bot Auth: signed requests tell a site who you are. Needs the package @politely/web-bot-auth. docs/identity.md explains it.\n\n"new FILE" creates an Ed25519 key, in a file that only you may read. "rotate OLD NEW" creates the key that replaces another one, and writes into OLD until when it stays published. Both keys are in the directory until then.\n\n"directory KEY… --agent URL" signs the key directory: a JSON file, and headers that prove whose it is. With --output, it writes them into a folder for a static host; sign again before they expire. A program can serve them with directoryHandler, which signs by itself.\n\n"check URL" fetches a directory as a stranger does, and says what is wrong and what to do.',
  usage: 'new|rotate|directory|check …',
  flags: flagsIn(`
    --agent URL  directory: where it will be: an origin such as https://bot.example, which stands for its well-known path
    --output DIR  directory: the folder for the file and its headers, instead of stdout
    --valid DAYS  directory: for how long its signatures are valid; new: for how long the key is [otherwise 7 for a directory, no end for a key]
    --lead DAYS  rotate: how long the new key is published before you sign with it, since verifiers keep a directory for up to a day [default 1]
    --overlap DAYS  rotate: how long the old key stays published after that [default 7]
    --key FILE…  check: a key that must be in the directory
    --timeout SECONDS  check: time limit of the request [default 20]
    --allow-address
    --format NAME  how to print the result [one of text, json] [default text]
    --json  the same as --format json
  `),
  examples: examplesIn(`
    keys new bot.jwk  # Creates a key.
    keys directory bot.jwk --agent https://bot.example --output public  # Writes the directory of the key, to be published at https://bot.example.
    keys rotate bot.jwk bot-2.jwk  # Creates the next key. Publish both now, and sign with the new one tomorrow.
    keys check https://bot.example --key bot.jwk  # Looks at the directory as a verifier does.
  `),
  exits: { success: 'it was done; check: nothing failed, there may be warnings', fails: 'check: something failed' },
  run: async (args) => (await import('./keys.ts')).keys(args),
}
