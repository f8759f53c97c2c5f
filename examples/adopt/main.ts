// Installs a program from npm, or takes its files from a checkout. Crawls a site of 30 pages with
// the program as it is and with each patch, and prints what changed.
// `npm run example -- examples/adopt linkinator --packages=DIR`
import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { type Column, measure, tableOf } from './measure.ts'
import { Copy, type Program } from './program.ts'
import { browsertrix } from './programs/browsertrix.ts'
import { firecrawl } from './programs/firecrawl.ts'
import { langchain } from './programs/langchain.ts'
import { linkinator } from './programs/linkinator.ts'
import { unlighthouse } from './programs/unlighthouse.ts'

const PROGRAMS: Readonly<Record<string, Program>> = { linkinator, unlighthouse, firecrawl, browsertrix, langchain }
const USAGE = `usage: npm run example -- examples/adopt ${Object.keys(PROGRAMS).join('|')} [options]

  --packages=DIR  tarballs of our packages, of \`npm run pack -- DIR\`; without it, npm installs the published ones
  --checkout=DIR  a clone of the program; without it, git clones firecrawl or browsertrix-crawler
  --folder=DIR    where to install the program, so that the next run is faster; without it, a temporary folder`

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { packages: { type: 'string' }, checkout: { type: 'string' }, folder: { type: 'string' } },
})
const [name = ''] = positionals
const program = Object.hasOwn(PROGRAMS, name) ? PROGRAMS[name] : undefined
if (program) await main(name, program)
else {
  console.error(USAGE)
  process.exitCode = 2
}

async function main(name: string, program: Program): Promise<void> {
  const folder = resolve(values.folder ?? mkdtempSync(join(tmpdir(), 'adopt-')))
  mkdirSync(folder, { recursive: true })
  try {
    install(folder, [...program.installs, ...packages(program.ours)])
    const original = typeof program.files === 'string' ? join(folder, program.files) : checkout(folder, program.files)
    const columns: Column[] = []
    for (const [title, patch] of Object.entries(program.versions)) {
      const copy = new Copy(original, `${original}-${columns.length}`)
      patch(copy)
      columns.push(
        await measure(title, program, copy, columns[0]).catch((error: Error) => ({ title, rows: {}, error })),
      )
    }
    for (const line of tableOf(name, columns)) console.log(line)
  } finally {
    if (values.folder === undefined) rmSync(folder, { recursive: true, force: true })
  }
  process.exit() // the gates of the patched programs are still open
}

/** Returns what npm installs for our packages: their names, or the tarballs of the option `--packages`. */
function packages(names: readonly string[]): string[] {
  if (values.packages === undefined) return [...names]
  const tarballs = readdirSync(resolve(values.packages))
  return ['politely', '@politely/core', '@politely/fetcher', '@politely/gate', '@politely/robots-parser']
    .map((name) =>
      tarballs.find((file) => new RegExp(`^${name.replace('@', '').replace('/', '-')}-\\d.*\\.tgz$`).test(file)),
    )
    .filter((file) => file !== undefined)
    .map((file) => resolve(values.packages ?? '', file))
}

function install(folder: string, packages: readonly string[]): void {
  writeFileSync(join(folder, 'package.json'), '{ "private": true, "type": "module" }')
  const options = ['--ignore-scripts', '--no-audit', '--no-fund', '--legacy-peer-deps', '--loglevel=error']
  execFileSync('npm', ['install', ...options, ...packages], { cwd: folder, stdio: ['ignore', 'ignore', 'inherit'] })
}

/** Copies files of a repository into the folder. Works with a clone, a bare clone, or none. */
function checkout(folder: string, { repository, paths }: Exclude<Program['files'], string>): string {
  const clone = resolve(values.checkout ?? join(folder, 'clone'))
  if (values.checkout === undefined)
    execFileSync('git', ['clone', '--quiet', '--depth=1', '--filter=blob:none', '--no-checkout', repository, clone])
  for (const path of paths) {
    const file = join(folder, 'program', path)
    mkdirSync(dirname(file), { recursive: true })
    writeFileSync(file, execFileSync('git', ['-C', clone, 'show', `HEAD:${path}`]))
  }
  return join(folder, 'program')
}
