// @module-tag full
// `npm run parts` with stubs in place of the programs. It downloads nothing here: a program that is
// found is used as it is.
import { spawnSync } from 'node:child_process'
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, onTestFinished, test } from 'vitest'

const VERSION = 'case "$*" in *--version*) echo "Chromium 156"; exit 0;; esac'

test.each([
  ['opens a page', 'echo "<html><head></head><body></body></html>"', 0, 'headless-shell: Chromium 156, '],
  ['prints its version but cannot open a page', 'echo "no ICU data" >&2; exit 133', 1, 'failed (no ICU data)'],
  ['opens no page', 'exit 0', 1, 'opened no page'],
])('a headless shell that %s', (_, script, status, message) => {
  const folder = mkdtempSync(join(tmpdir(), 'parts-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  const stub = join(folder, 'chromium-headless-shell')
  writeFileSync(stub, `#!/bin/sh\n${VERSION}\n${script}\n`)
  chmodSync(stub, 0o755)
  const parts = fileURLToPath(new URL('parts.mjs', import.meta.url))
  const env = { ...process.env, PATH: `${folder}:${process.env.PATH}` }
  const result = spawnSync(process.execPath, [parts, 'headless-shell'], { encoding: 'utf8', env })
  expect(result.stderr).toContain(message)
  expect(result.status).toBe(status)
})
