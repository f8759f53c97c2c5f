// `npm run parts`: fetches everything from outside that tests and checks need, so that nothing is
// missing later: the supported Nodes, what the lockfiles of the site and of the packed packages
// name, and programs that npm does not have. `npm run parts NAME…` fetches these programs only.
//
// The programs go into .tools/parts/<name>/, where packages/testkit/src/parts.ts finds them. Programs
// that this machine already has are used as they are.
//
// They are Debian packages, downloaded and unpacked but not installed, so root rights are not
// needed. To download them again, delete the folder. Tested on Debian 12, amd64. Ubuntu has
// Chromium as a snap only. There, and on systems without apt, the script prints what to do instead.

import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import {
  findChromium,
  findCurl,
  findGoWithPq,
  findHeadlessShell,
  findPgBouncer,
  findPostgres,
  findPrometheus,
  findPython,
  findRedis,
} from '../packages/testkit/src/parts.ts'
import { once } from './once.mjs'
import { fetchPacked } from './packed.mjs'
import { installNode, installSite, NODES, OLDER_NODES, SetupError } from './tools.mjs'

const PARTS = {
  chromium: {
    find: findChromium,
    packages: ['chromium'],
    command: 'usr/lib/chromium/chromium', // usr/bin/chromium is a script that works in /usr only
    isBrowser: true,
    orElse: 'install Chromium and set CHROME_BIN to its command',
  },
  'headless-shell': {
    find: findHeadlessShell,
    packages: ['chromium-headless-shell', 'chromium-common'],
    command: 'usr/lib/chromium/chromium-headless-shell',
    isBrowser: true,
    orElse: 'it is optional: the tests use Chromium instead',
  },
  curl: {
    find: findCurl,
    packages: ['curl'],
    command: 'usr/bin/curl',
    orElse: 'install curl 7.76 or newer',
  },
  go: {
    find: findGoWithPq,
    packages: ['golang-1.19-go', 'golang-1.19-src', 'golang-github-lib-pq-dev'],
    command: 'usr/lib/go-1.19/bin/go',
    versionArgument: 'version',
    orElse: 'install Go 1.19 or newer, so that go is on PATH, and golang-github-lib-pq-dev of Debian',
  },
  python: {
    find: () => findPython('scrapy', 'psycopg2', 'pip', 'setuptools', 'wheel'),
    // Python looks for its modules in its own folder, so the part contains all of them.
    packages: [
      'python3-scrapy',
      'python3-psycopg2',
      'python3-pip',
      'python3-setuptools',
      'python3-wheel',
      'python3.11-minimal',
      'libpython3.11-minimal',
      'libpython3.11-stdlib',
    ],
    command: 'usr/bin/python3.11',
    orElse:
      'install the packages python3-scrapy, python3-requests, python3-psycopg2, python3-pip and python3-wheel of Debian 12',
  },
  redis: {
    find: findRedis,
    packages: ['redis-server'],
    command: 'usr/bin/redis-server', // a link to redis-check-rdb, which acts by the name of its command
    orElse: 'install Redis 7 or Valkey, so that redis-server or valkey-server is on PATH',
  },
  postgres: {
    find: findPostgres,
    packages: ['postgresql-15', 'postgresql-client-15'],
    command: 'usr/lib/postgresql/15/bin/postgres', // initdb, psql and pg_dump are in the same folder
    orElse: 'install PostgreSQL 15 or newer, so that postgres and initdb are in one folder on PATH',
  },
  pgbouncer: {
    find: findPgBouncer,
    packages: ['pgbouncer'],
    command: 'usr/sbin/pgbouncer',
    orElse: 'install PgBouncer 1.18 or newer, so that pgbouncer is on PATH',
  },
  prometheus: {
    find: findPrometheus,
    packages: ['prometheus'],
    command: 'usr/bin/prometheus', // promtool is in the same folder
    orElse: 'install Prometheus 2.42 or newer, so that prometheus and promtool are on PATH',
  },
}

class PartError extends Error {}

/** The folder of the package lists, once a part needs them, and what `apt-get update` said. */
let lists
let updateErrors

const names = process.argv.slice(2)
if (names.length === 0) {
  installPackages()
  Object.keys(PARTS).forEach(provide)
} else if (names.every((name) => Object.hasOwn(PARTS, name))) names.forEach(provide)
else {
  console.error(`usage: npm run parts [${Object.keys(PARTS).join('|')}]`)
  process.exitCode = 2
}

/** Fetches what comes from the npm registry. The launcher has installed the dependencies already. */
function installPackages() {
  const others = [...OLDER_NODES, ...NODES].filter((version) => version !== process.versions.node)
  const why = 'tests and packages run on each of them'
  for (const fetch of [...others.map((version) => () => installNode(version, { why })), installSite, fetchPacked]) {
    try {
      fetch()
    } catch (error) {
      if (!(error instanceof SetupError)) throw error
      console.error(`[parts] ${error.message}`)
      process.exitCode = 1
    }
  }
}

function provide(name) {
  const part = PARTS[name]
  const log = (line) => console.error(`[parts] ${name}: ${line}`)
  try {
    const home = join('.tools', 'parts', name)
    const isDone = () => part.find() !== undefined
    once(isDone, () => unpack(part, home, log))
    const { command, env } = part.find()
    const version = versionOf(command, env, part.versionArgument)
    if (part.isBrowser) openPage(command, env)
    log(`${version}, ${command}`)
  } catch (error) {
    if (!(error instanceof PartError)) throw error
    log(`${error.message}. Alternative: ${part.orElse}`)
    process.exitCode = 1
  }
}

/**
 * Downloads and unpacks the packages of a part, with all dependencies that this machine does not
 * have.
 */
function unpack({ packages, command }, home, log) {
  if (spawnSync('apt-get', ['--version']).status !== 0) throw new PartError('apt-get is not installed')
  const apt = join(process.cwd(), home, 'apt')
  const files = join(home, 'files')
  rmSync(home, { recursive: true, force: true })
  mkdirSync(join(apt, 'archives/partial'), { recursive: true })
  mkdirSync(files)

  // Uses its own lists and cache, because the system's lists and cache belong to root and may be
  // empty or outdated. It does not write to the system's files, so it does not need their locks,
  // and apt need not switch from root to a user who cannot write here.
  const areNew = lists === undefined
  if (areNew) {
    lists = mkdtempSync(join(tmpdir(), 'politely-apt-'))
    mkdirSync(join(lists, 'partial'))
    process.once('exit', () => rmSync(lists, { recursive: true }))
  }
  const own = [`Dir::State::lists=${lists}`, `Dir::Cache=${apt}`, 'Debug::NoLocking=1', 'APT::Sandbox::User=root']
  const options = own.flatMap((option) => ['-o', option])

  const start = performance.now()
  if (areNew) {
    log('downloading the package lists')
    // `update` fails if one of many sources fails. Only the next command shows whether the
    // downloaded lists contain the packages.
    updateErrors = spawnSync('apt-get', [...options, 'update'], { encoding: 'utf8' }).stderr
  }
  // `--reinstall` lists a package that the system has already, too: chromium-headless-shell finds
  // the files of chromium-common only beside itself. Libraries of the system are found where they
  // are.
  const install = ['install', '--reinstall', '--print-uris', '--yes', '--no-install-recommends', ...packages]
  const plan = run('apt-get', [...options, ...install], { earlierErrors: updateErrors })
  // 'http://…/libogg0_1.3.5-3_amd64.deb' libogg0_1.3.5-3_amd64.deb 23364 MD5Sum:…
  const debs = Array.from(plan.matchAll(/^'.*' (\S+)\.deb (\d+) /gm), ([, id, bytes]) => ({ id, bytes: Number(bytes) }))
  if (debs.length === 0)
    throw new PartError(`${packages.join(', ')} is installed, but not in a place where tests look for it`)

  const megabytes = Math.ceil(debs.reduce((sum, { bytes }) => sum + bytes, 0) / 1e6)
  log(`downloading ${debs.length} packages, ${megabytes} MB`)
  const versions = debs.map(({ id }) => {
    const [name, version, arch] = decodeURIComponent(id).split('_') // apt encodes the colon of a version
    return `${name}${arch === 'all' ? '' : `:${arch}`}=${version}`
  })
  // apt prints its progress, and verifies every package against the signed lists.
  run('apt-get', [...options, 'download', ...versions], { cwd: join(apt, 'archives'), show: true })

  log(`unpacking them into ${files}`)
  for (const file of readdirSync(join(apt, 'archives')).filter((file) => file.endsWith('.deb'))) {
    run('dpkg', ['-x', join(apt, 'archives', file), files])
  }
  rmSync(apt, { recursive: true })
  // Written last: without this file, the part counts as incomplete and is installed again. Paths
  // are relative, because the clone may be moved.
  const libraries = libraryFolders(files).map((folder) => join('files', folder))
  writeFileSync(join(home, 'ok'), JSON.stringify({ command: join('files', command), libraries }))
  log(`done in ${Math.round((performance.now() - start) / 1000)} s`)
}

/**
 * Returns the folders with shared libraries, for the loader. Some packages have their own folder
 * for them.
 */
function libraryFolders(files) {
  const paths = readdirSync(files, { recursive: true }).filter((path) => /\/lib[^/]*\.so(\.|$)/.test(path))
  return [...new Set(paths.map((path) => dirname(path)))]
}

/**
 * Runs the program. That fails if it is unusable, because a library is missing or it is only a stub
 * of another installer.
 */
function versionOf(command, env, argument = '--version') {
  const [first] = linesOf(run(command, [argument], { env: { ...process.env, ...env } }))
  return first?.trim()
}

/**
 * Opens an empty page. A browser without its data files prints its version, and fails only when it
 * opens a page.
 */
function openPage(command, env) {
  const profile = mkdtempSync(join(tmpdir(), 'politely-parts-'))
  const switches = ['--no-sandbox', '--disable-gpu', '--headless', `--user-data-dir=${profile}`]
  try {
    const page = run(command, [...switches, '--dump-dom', 'about:blank'], { env: { ...process.env, ...env } })
    if (!page.includes('<html')) throw new PartError(`${command} opened no page`)
  } finally {
    rmSync(profile, { recursive: true, force: true, maxRetries: 5 })
  }
}

/**
 * Returns the output of a command. If it fails, the error contains its own messages, after the
 * first of an earlier command.
 */
function run(command, args, { cwd, env, show = false, earlierErrors = '' } = {}) {
  const stdio = ['ignore', show ? 2 : 'pipe', 'pipe']
  const { status, signal, error, stdout, stderr } = spawnSync(command, args, { cwd, env, stdio, encoding: 'utf8' })
  if (status === 0) return stdout ?? ''
  const messages = [...linesOf(earlierErrors).slice(0, 1), ...linesOf(stderr ?? '').slice(0, 3)].join(' ')
  throw new PartError(`${command} failed (${error?.code ?? (messages || (signal ?? `exit code ${status}`))})`)
}

function linesOf(text) {
  return text.split('\n').filter((line) => line.trim() !== '')
}
