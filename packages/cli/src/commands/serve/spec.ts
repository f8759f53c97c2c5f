// The command line of `politely serve`.
import { SERVE_FLAGS } from '@politely/server/flags'
import type { CommandSpec } from '../../command-line.ts'
import { runInstalled } from '../../installed-command.ts'

export const serveSpec: CommandSpec = {
  name: 'serve',
  summary: 'grant permits to crawlers in any language, over HTTP',
  description:
    'Runs the server of the package @politely/server, which npm install @politely/server installs. Crawlers ask it which URL they may request, and when. All of them share one pace and one copy of each robots.txt.\n\nserve token NAME prints a token for a caller, and the line for the file of --tokens.',
  usage: '--user-agent NAME',
  flags: SERVE_FLAGS,
  examples: [
    ['serve --user-agent "ExampleBot/1.0 (+https://example.com/bot)"', 'Serves programs of this machine at port 7420.'],
    ['serve --user-agent ExampleBot --socket /run/politely.sock', 'Serves programs of this user.'],
    ['serve token search', 'Prints a token for the caller named search.'],
  ],
  exits: { success: 'the server was stopped by SIGTERM or SIGINT' },
  run: (args) => runInstalled('@politely/server', () => import('@politely/server/command'), args, SERVE_FLAGS),
}
