import type { CommandSpec } from '../../command-line.ts'
import { examplesIn, flagsIn } from '../../flags.ts'

export const lintSpec: CommandSpec = {
  name: 'lint',
  summary: 'find mistakes in robots.txt files',
  description:
    'Prints each mistake with its line, its code and what to write. docs/reference/lint-findings.md describes the codes.\n\nA comment "# politely-ignore CODE" at the end of a line suppresses a finding about this line. On a line without anything else, it is about the next line. In the first line, it is also about the whole file.\n\n--fix writes a line only if it can prove that no verdict changes: for any crawler, any path, and the dialects rfc9309 and google. It leaves the other fixes to you, and says why.',
  usage: 'FILE… [--fix] [--format NAME]',
  flags: flagsIn(`
    --format NAME  how to print the findings [one of text, json, ndjson, sarif, github, gitlab, junit] [default text]
    --json  the same as --format json
    --dialect  the crawlers that the file is for; google also prints the fields that Google ignores
    --max-severity NAME  the highest severity for which the exit code is 0 [one of none, note, warning, error] [default note]
    --fix[=all]  write the fixes that change no verdict into the files; with =all, also fixes that may change one, and say what they change [one of all]
    --policy-token
    --user-agent  the User-Agent for the request, if a URL is given
    --timeout --proxy --allow-address
  `),
  examples: examplesIn(`
    lint public/robots.txt  # Lints a file.
    lint public/robots.txt --fix  # Fixes what can be fixed without a change of any verdict.
    lint public/robots.txt --dialect google  # Also prints the fields that Google ignores.
    lint https://example.com --user-agent ExampleBot  # Lints the robots.txt that a site sends.
    lint public/robots.txt --format sarif > robots.sarif  # For code scanning.
  `),
  exits: {
    success: 'no finding is more severe than --max-severity',
    fails: 'a finding is more severe than --max-severity',
  },
  run: async (args) => (await import('./lint.ts')).lint(args),
}
