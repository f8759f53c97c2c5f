// Starts all entry points and commands of the installed packages on a Node that is too old, if this
// machine has one. Each must say which Node it needs.

import { execFile } from 'node:child_process'
import { existsSync, writeFileSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { promisify } from 'node:util'
import { eachInParallel, entryPoints } from './packages.mjs'

const run = promisify(execFile)
const MESSAGE = 'politely needs Node 22.19 or later; this is '

/**
 * @param app The project with the packages.
 * @returns The problems.
 */
export async function oldNodeProblems(app, packages) {
  const old = await oldNode()
  if (old === undefined) {
    console.log('packages: not started on an old Node, because the PATH has no Node 20 or 21')
    return []
  }
  const entries = packages.flatMap(({ manifest }) => entryPoints(manifest).map(({ specifier }) => specifier))
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

/** Returns the first Node 20 or 21 of the PATH, whose first one is the Node of this process. */
async function oldNode() {
  for (const folder of process.env.PATH.split(delimiter)) {
    const node = join(folder, 'node')
    if (!existsSync(node)) continue
    const { stdout } = await run(node, ['--version'])
    if (/^v2[01]\./.test(stdout)) return node
  }
  return undefined
}
