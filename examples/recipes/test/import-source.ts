// Imports modules that tests write, with packages that this package does not depend on.
import { spawn } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { pathToFileURL } from 'node:url'

const root = join(import.meta.dirname, '../../..')

/** A package that only the full run installs, because it is large. */
export interface LargePackage {
  readonly name: string
  readonly version: string
}

/**
 * Imports a module with this source. It can import the packages of docs/package.json or, if given,
 * the large package and its dependencies.
 */
// biome-ignore lint/suspicious/noExplicitAny: several of these packages have no types
export async function importSource(source: string, large?: LargePackage): Promise<any> {
  return withFile(source, large, (file) => import(pathToFileURL(file).href))
}

/** Runs a module with this source as a process. Returns all it prints. */
export async function runSource(source: string, large?: LargePackage): Promise<string> {
  return withFile(source, large, async (file) => {
    const child = spawn(process.execPath, ['--no-warnings', file], { timeout: 30_000 })
    const [out, err] = await Promise.all([text(child.stdout), text(child.stderr)])
    return out + err
  })
}

async function withFile<T>(
  source: string,
  large: LargePackage | undefined,
  use: (file: string) => Promise<T>,
): Promise<T> {
  const folder = mkdtempSync(join(large ? await installed(large) : join(root, 'docs'), '.snippets-'))
  try {
    const file = join(folder, 'module.mjs')
    writeFileSync(file, source)
    return await use(file)
  } finally {
    rmSync(folder, { recursive: true })
  }
}

async function installed({ name, version }: LargePackage): Promise<string> {
  const { installTool } = await import(pathToFileURL(join(root, 'scripts/tools.mjs')).href)
  return installTool(name, version, { why: 'tests of the table of HTTP clients need it' })
}
