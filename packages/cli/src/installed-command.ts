// Runs the commands of packages that only their users install, so that the install of `politely`
// stays small.
import { loadOptional } from '@politely/core/flags'
import type { Arguments, Flag } from './command-line.ts'
import { UsageError } from './exit-code.ts'

/**
 * Runs the command of a package with the same arguments. Returns the exit code.
 * @param load Imports the command. A bundler has to see the name in its `import`.
 * @throws {UsageError} if the package is not installed.
 */
export async function runInstalled(
  name: string,
  load: () => Promise<{ runCommand(args: readonly string[]): Promise<number> }>,
  args: Arguments,
  flags: readonly Flag[],
): Promise<number> {
  const problem = `${name} is not installed next to politely; write npm install ${name} (with --global if politely is global), or start npx ${name}`
  const { runCommand } = await loadOptional(name, load, () => new UsageError(problem))
  const given = flags.flatMap(({ name, value }) => {
    if (!args.has(name)) return []
    return value === undefined ? [`--${name}`] : args.all(name).map((text) => `--${name}=${text}`)
  })
  return runCommand([...args.operands, ...given])
}
