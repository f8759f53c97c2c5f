// The commands, in the order of the help. Each folder of commands/ begins with its spec: flags,
// examples and exit codes. The code of a command is loaded when it runs, so that `--help` starts
// quickly and `match` does not load the network code.
import type { CommandSpec } from './command-line.ts'
import { auditSpec } from './commands/audit/spec.ts'
import { cacheSpec } from './commands/cache/spec.ts'
import { checkSpec } from './commands/check/spec.ts'
import { completionSpec } from './commands/completion/spec.ts'
import { crawlSpec } from './commands/crawl/spec.ts'
import { diffSpec } from './commands/diff/spec.ts'
import { doctorSpec } from './commands/doctor/spec.ts'
import { explainSpec } from './commands/explain/spec.ts'
import { fetchSpec } from './commands/fetch/spec.ts'
import { identitySpec } from './commands/identity/spec.ts'
import { keysSpec } from './commands/keys/spec.ts'
import { lintSpec } from './commands/lint/spec.ts'
import { matchSpec } from './commands/match/spec.ts'
import { mcpSpec } from './commands/mcp/spec.ts'
import { serveSpec } from './commands/serve/spec.ts'
import { sitemapSpec } from './commands/sitemap/spec.ts'
import { testSpec } from './commands/test/spec.ts'
import { usageSpec } from './commands/usage/spec.ts'

export const commands: readonly CommandSpec[] = [
  checkSpec,
  explainSpec,
  usageSpec,
  testSpec,
  lintSpec,
  diffSpec,
  auditSpec,
  matchSpec,
  fetchSpec,
  sitemapSpec,
  crawlSpec,
  cacheSpec,
  doctorSpec,
  mcpSpec,
  serveSpec,
  identitySpec,
  keysSpec,
  completionSpec,
]
