import { spawnSync } from 'node:child_process'

/**
 * Runs Node scripts one after the other, and prints one line for each. A failed script does not
 * stop the others. The output of a script is printed only if it fails. Returns how many failed.
 */
export function runSteps(steps) {
  let failed = 0
  for (const [name, ...argv] of steps) {
    const start = performance.now()
    const { status, stdout, stderr } = spawnSync(process.execPath, argv, { encoding: 'utf8', maxBuffer: 2 ** 28 })
    const seconds = ((performance.now() - start) / 1000).toFixed(1)
    const output = stdout.trim()
    const figure = status === 0 && !output.includes('\n') ? output : '' // a passed script prints one line or nothing
    console.log(`${status === 0 ? 'ok    ' : 'FAILED'}  ${name.padEnd(20)} ${seconds} s  ${figure}`.trimEnd())
    if (status === 0) continue
    failed++
    console.log(`${stdout}${stderr}`.trim().replace(/^/gm, '    '))
  }
  return failed
}
