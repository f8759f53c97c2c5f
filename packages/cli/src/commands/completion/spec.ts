import type { CommandSpec } from '../../command-line.ts'

export const completionSpec: CommandSpec = {
  name: 'completion',
  summary: 'print a script that completes commands and flags in a shell',
  description: 'Prints a script for bash, zsh or fish. Its first lines say where to write it.',
  usage: 'SHELL',
  flags: [],
  examples: [['completion bash > /etc/bash_completion.d/politely', 'For bash.']],
  exits: { success: 'the script was printed' },
  run: async (args, all) => (await import('./completion.ts')).completion(args, all),
}
