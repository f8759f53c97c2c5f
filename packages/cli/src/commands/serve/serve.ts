// `politely serve`: runs the command of @politely/server, which is installed only by those who use it.
import { loadOptional } from '../../optional-package.ts'

const MISSING =
  '@politely/server is not installed next to politely; write npm install @politely/server (with --global if politely is global), or start npx @politely/server'

/** Returns the exit code. */
export async function serve(args: readonly string[]): Promise<number> {
  const { runCommand } = await loadOptional('@politely/server', () => import('@politely/server/command'), MISSING)
  return runCommand(args)
}
