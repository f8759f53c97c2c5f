// The scripts of `politely completion`. The bash script runs in bash.
import { execFileSync } from 'node:child_process'
import { expect, test } from 'vitest'
import { runInThisProcess } from './run-cli.ts'

const scriptFor = async (shell: string) => (await runInThisProcess(['completion', shell])).stdout

/** Returns what bash offers after these words. */
async function offers(...words: readonly string[]): Promise<readonly string[]> {
  const script = `${await scriptFor('bash')}
COMP_WORDS=(politely ${words.map((word) => `'${word}'`).join(' ')}); COMP_CWORD=${words.length}
_politely
printf '%s\\n' "\${COMPREPLY[@]}"`
  return execFileSync('bash', ['-c', script], { encoding: 'utf8' }).split('\n').filter(Boolean)
}

test('bash completes commands, flags and values', async () => {
  expect(await offers('e')).toEqual(['explain'])
  expect(await offers('lint', '--fi')).toEqual(['--fix'])
  expect(await offers('lint', '--format', 's')).toEqual(['sarif'])
  expect(await offers('test', '--format', 'j')).toEqual(['json', 'junit'])
  expect(await offers('lint', 'pub')).toEqual([]) // bash itself completes the names of files
})

test.each(['zsh', 'fish'])('%s gets every command and flag', async (shell) => {
  const script = await scriptFor(shell)
  for (const word of ['check', 'explain', 'completion', 'user-agent', 'max-severity', 'sarif'])
    expect(script).toContain(word)
})
