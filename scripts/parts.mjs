// `npm run parts [name…]`: the programs that tests use and npm does not have, each into .tools/parts/<name>/, where
// packages/testkit/src/parts.ts finds them. What this machine has already is left alone and used.
//
// They come as packages of Debian, downloaded and unpacked but not installed, so nobody has to be root. To get them anew,
// delete the folder. Tried on Debian 12, amd64. Ubuntu has Chromium as a snap only: there, and where there is no apt, it ends
// with the line that says what to do.

import { spawnSync } from 'node:child_process'
import { mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { findChromium, findHeadlessShell } from '../packages/testkit/src/parts.ts'
import { once } from './once.mjs'

const PARTS = {
  chromium: {
    find: findChromium,
    packages: ['chromium'],
    command: 'usr/lib/chromium/chromium', // usr/bin/chromium is a script that wants to be at home in /usr
    orElse: 'install Chromium and set CHROME_BIN to its command',
  },
  'headless-shell': {
    find: findHeadlessShell,
    packages: ['chromium-headless-shell', 'chromium-common'],
    command: 'usr/lib/chromium/chromium-headless-shell',
    orElse: 'none is needed: the tests then take Chromium',
  },
}

class PartError extends Error {}

const names = process.argv.length > 2 ? process.argv.slice(2) : Object.keys(PARTS)
if (names.every((name) => Object.hasOwn(PARTS, name))) names.forEach(provide)
else {
  console.error(`usage: npm run parts [${Object.keys(PARTS).join('|')}]`)
  process.exitCode = 2
}

function provide(name) {
  const part = PARTS[name]
  const say = (line) => console.error(`[parts] ${name}: ${line}`)
  try {
    const home = join('.tools', 'parts', name)
    const isDone = () => part.find() !== undefined
    once(isDone, () => unpack(part, home, say))
    const { command, env } = part.find()
    say(`${versionOf(command, env)}, ${command}`)
  } catch (error) {
    if (!(error instanceof PartError)) throw error
    say(`${error.message}. Another way: ${part.orElse}`)
    process.exitCode = 1
  }
}

/** Downloads the packages of a part, and those they need that this machine lacks, and unpacks them. */
function unpack({ packages, command }, home, say) {
  if (spawnSync('apt-get', ['--version']).status !== 0) throw new PartError('there is no apt-get here to get it with')
  const apt = join(process.cwd(), home, 'apt')
  const files = join(home, 'files')
  rmSync(home, { recursive: true, force: true })
  for (const folder of ['lists/partial', 'archives/partial']) mkdirSync(join(apt, folder), { recursive: true })
  mkdirSync(files)

  // Lists and cache of our own: those of the system are root's, and may be empty or out of date. As nothing of the system is
  // written, its locks (root's too) are not needed, and root need not become a user who cannot write here.
  const own = [`Dir::State::lists=${apt}/lists`, `Dir::Cache=${apt}`, 'Debug::NoLocking=1', 'APT::Sandbox::User=root']
  const options = own.flatMap((option) => ['-o', option])

  say('getting the lists of packages')
  const start = performance.now()
  // Fails as a whole if one source of many does. What matters is whether the lists that did come know the packages.
  const { stderr: complaints } = spawnSync('apt-get', [...options, 'update'], { encoding: 'utf8' })
  const install = ['install', '--print-uris', '--yes', '--no-install-recommends', ...packages]
  const plan = run('apt-get', [...options, ...install], { complaints })
  // 'http://…/libogg0_1.3.5-3_amd64.deb' libogg0_1.3.5-3_amd64.deb 23364 MD5Sum:…
  const debs = Array.from(plan.matchAll(/^'.*' (\S+)\.deb (\d+) /gm), ([, id, bytes]) => ({ id, bytes: Number(bytes) }))
  if (debs.length === 0) throw new PartError(`${packages.join(', ')} is installed, but not where tests look for it`)

  const megabytes = Math.ceil(debs.reduce((sum, { bytes }) => sum + bytes, 0) / 1e6)
  say(`downloading ${debs.length} packages, ${megabytes} MB`)
  const wanted = debs.map(({ id }) => {
    const [name, version, arch] = decodeURIComponent(id).split('_') // the colon of a version is encoded
    return `${name}${arch === 'all' ? '' : `:${arch}`}=${version}`
  })
  // apt shows how far it is, and checks every package against the signed lists.
  run('apt-get', [...options, 'download', ...wanted], { cwd: join(apt, 'archives'), show: true })

  say(`unpacking them into ${files}`)
  for (const file of readdirSync(join(apt, 'archives')).filter((file) => file.endsWith('.deb'))) {
    run('dpkg', ['-x', join(apt, 'archives', file), files])
  }
  rmSync(apt, { recursive: true })
  // Last: a part without it was interrupted, and is made anew. All in it is relative, for the clone may be moved.
  const libraries = libraryFolders(files).map((folder) => join('files', folder))
  writeFileSync(join(home, 'ok'), JSON.stringify({ command: join('files', command), libraries }))
  say(`done in ${Math.round((performance.now() - start) / 1000)} s`)
}

/** Where the loader has to look for the libraries of unpacked packages; some keep a few in a folder of their own. */
function libraryFolders(files) {
  const paths = readdirSync(files, { recursive: true }).filter((path) => /\/lib[^/]*\.so(\.|$)/.test(path))
  return [...new Set(paths.map((path) => dirname(path)))]
}

/** Starts it, so that what is there but useless (a library lacks, a stub that asks for another installer) is told from what works. */
function versionOf(command, env) {
  return run(command, ['--version'], { env: { ...process.env, ...env } }).trim()
}

/** What a command prints. Its failure is told by its own complaints, after the first of a command before it. */
function run(command, args, { cwd, env, show = false, complaints = '' } = {}) {
  const stdio = ['ignore', show ? 2 : 'pipe', 'pipe']
  const { status, signal, error, stdout, stderr } = spawnSync(command, args, { cwd, env, stdio, encoding: 'utf8' })
  if (status === 0) return stdout ?? ''
  const told = [...linesOf(complaints).slice(0, 1), ...linesOf(stderr ?? '').slice(0, 3)].join(' ')
  throw new PartError(`${command} failed (${error?.code ?? (told || (signal ?? `exit code ${status}`))})`)
}

function linesOf(text) {
  return text.split('\n').filter((line) => line.trim() !== '')
}
