// The scripts of `politely completion`. Each runs in its shell, if the shell is installed.
import { execFileSync, spawnSync } from 'node:child_process'
import { expect, test } from 'vitest'
import { runInThisProcess } from './run-cli.ts'

const scriptFor = async (shell: string) => (await runInThisProcess(['completion', shell])).stdout

const run = (shell: string, ...args: readonly string[]) => execFileSync(shell, args, { encoding: 'utf8' })

/** Returns what bash offers after these words. `FILES` stands for the names of files. */
async function offers(...words: readonly string[]): Promise<readonly string[]> {
  const script = `${await scriptFor('bash')}
compopt() { COMPREPLY+=(FILES); }
COMP_WORDS=(politely ${words.map((word) => `'${word}'`).join(' ')}); COMP_CWORD=${words.length}
_politely
printf '%s\n' "\${COMPREPLY[@]}"`
  return run('bash', '-uc', script).split('\n').filter(Boolean)
}

test('bash completes commands, flags, values and files', { tags: 'full' }, async () => {
  expect(await offers('e')).toEqual(['explain', 'evidence'])
  expect(await offers('help', 'li')).toEqual(['lint'])
  expect(await offers('lint', '--fi')).toEqual(['--fix'])
  expect(await offers('lint', '--format', 's')).toEqual(['sarif'])
  expect(await offers('lint', '--format', '=', 's')).toEqual(['sarif'])
  expect(await offers('lint', '--fix', '=')).toEqual(['all'])
  expect(await offers('explain', '--dialect', 'g')).toEqual(['google'])
  expect(await offers('test', '--format', 'j')).toEqual(['json', 'junit'])
  expect(await offers('completion', 'f')).toEqual(['fish'])
  expect(await offers('cache', 'ex')).toEqual(['export', 'FILES'])
  expect(await offers('lint', 'pub')).toEqual(['FILES'])
  expect(await offers('lint', '--fix', '')).toEqual(['FILES'])
  expect(await offers('explain', '--robots', '')).toEqual(['FILES'])
  expect(await offers('explain', '--user-agent', '')).toEqual([])
  expect(await offers('check', 'htt')).toEqual([])
})

const isInstalled = (shell: string) => spawnSync(shell, ['-c', 'exit 0']).status === 0

test('fish completes commands, flags, values and files', async ({ skip }) => {
  skip(!isInstalled('fish'), 'fish is not installed')
  const script = await scriptFor('fish')
  const offered = (line: string) =>
    run('fish', '--no-config', '-c', `${script}\ncomplete -C '${line}'`)
      .split('\n')
      .map((each) => each.split('\t')[0])
      .filter(Boolean)
  expect(offered('politely e')).toEqual(['explain'])
  expect(offered('politely lint --max')).toEqual(['--max-severity'])
  expect(offered('politely lint --format s')).toEqual(['sarif'])
  expect(offered('politely completion f')).toEqual(['fish'])
  expect(offered('politely cache ex')).toContain('export')
  expect(offered('politely lint packages/cl')).toEqual(['packages/cli/'])
  expect(offered('politely check packages/cl')).toEqual([])
})

test('zsh accepts the script', async ({ skip }) => {
  skip(!isInstalled('zsh'), 'zsh is not installed')
  const script = `compdef() { print "$@"; }\n${await scriptFor('zsh')}`
  expect(run('zsh', '-fc', script)).toBe('_politely politely\n')
})

test.each(['zsh', 'fish'])('%s gets every command and flag', async (shell) => {
  const script = await scriptFor(shell)
  for (const word of ['check', 'explain', 'completion', 'user-agent', 'max-severity', 'sarif'])
    expect(script).toContain(word)
})
