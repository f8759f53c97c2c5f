// `politely mcp`: runs the command of @politely/mcp, which is installed only by those who use it.
import { loadOptional } from '../../optional-package.ts'

const MISSING =
  '@politely/mcp is not installed next to politely; write npm install @politely/mcp (with --global if politely is global), or start npx @politely/mcp'

/** Returns the exit code. */
export async function mcp(args: readonly string[]): Promise<number> {
  const { runCommand } = await loadOptional('@politely/mcp', () => import('@politely/mcp/command'), MISSING)
  return runCommand(args)
}
