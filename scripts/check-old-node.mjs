// Starts the entry points and commands of the installed packages on a Node that is too old for them.
// Each must say which Node it needs.

import { execFile } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { eachInParallel, entryPoints } from './packages.mjs'
import { nodeCommand, OLDER_NODES } from './tools.mjs'

const run = promisify(execFile)
const MESSAGE = 'politely needs Node 22.19 or later; this is '

/**
 * @param app The project with the packages.
 * @returns The problems.
 */
export async function oldNodeProblems(app, packages) {
  const old = nodeCommand(OLDER_NODES[0], { why: 'the packages say there which Node they need' })
  const entries = packages
    .filter(({ manifest }) => manifest.engines.node !== '>=20')
    .flatMap(({ manifest }) => entryPoints(manifest).map(({ specifier }) => specifier))
  const program = join(app, 'old-node.mjs')
  writeFileSync(
    program,
    `for (const entry of ${JSON.stringify(entries)})
  await import(entry).then(() => console.log(entry + ' does not check the version of Node'), ({ code, stack }) => {
    if (code !== 'ERR_POLITELY_NODE') console.log(entry + ' on Node 20: ' + stack)
  })\n`,
  )
  const { stdout } = await run(old, [program], { cwd: app }).catch((error) => error)
  const commands = packages.flatMap(({ manifest: { name, bin = {} } }) =>
    Object.values(bin).map((file) => join(app, 'node_modules', name, file)),
  )
  const problems = await eachInParallel(commands, async (file) => {
    const { code, stderr } = await run(old, [file, '--help'], { cwd: app }).catch((error) => error)
    return code === 70 && stderr.startsWith(MESSAGE) ? '' : `${file} on Node 20: exit ${code}, ${stderr}`
  })
  return [stdout.trim(), ...problems].filter(Boolean)
}
