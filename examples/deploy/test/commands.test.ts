// @module-tag full
// The command lines of the files start servers, as a user without privileges.
import { execFileSync, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { chownSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { get } from 'node:http'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { text } from 'node:stream/consumers'
import { findPrometheus, isMissing } from '@politely/testkit/parts'
import { noRedisServer, startRedis } from '@politely/testkit/servers/redis'
import { onFreePort } from '@politely/testkit/servers/supervised'
import { beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { DEPLOY, execForm, readDockerfile, readManifests, readText, readUnit, readYaml } from './deploy-files.ts'

/** What `politely` is in the image. */
const POLITELY = join(DEPLOY, '../../packages/cli/bundle/main.js')
/** The port of the files, which another server may use here. */
const PORT = /\b7420\b/g
/** A user to whom no file belongs. */
const NOBODY = { uid: 65_534, gid: 65_534 }
/** Root runs the commands as this user, if the files of Node and of the repository are open to others. */
const isOpen = process.getuid?.() === 0 && spawnSync(process.execPath, ['--check', POLITELY], NOBODY).status === 0
const USER: Partial<typeof NOBODY> = isOpen ? NOBODY : {}

describe.skipIf(process.platform === 'win32')('the Dockerfile', () => {
  test('copies files that exist, and that each user may read', () => {
    const folder = emptyFolder()
    const sources = readDockerfile().filter(({ name, args }) => name === 'COPY' && !args.startsWith('--from='))
    expect(sources.map(({ args }) => args)).toEqual(['image ./'])
    for (const { args } of sources) {
      const [source = ''] = args.split(' ')
      execFileSync('cp', ['-r', join(DEPLOY, source), folder], USER)
    }
    const { dependencies } = JSON.parse(readFileSync(join(folder, 'image/package.json'), 'utf8'))
    expect(Object.keys(dependencies)).toEqual(expect.arrayContaining(['politely', '@politely/server', 'ioredis', 'pg']))
    expect(readText('.dockerignore').split('\n')).toContain('!image')
  })

  test('prints the flags if it has none', () => {
    const [command, ...args] = inImage([...execForm('ENTRYPOINT'), ...execForm('CMD')])
    const { status, stdout } = spawnSync(command, args, { ...USER, encoding: 'utf8' })
    expect(stdout).toContain('Usage: politely serve --user-agent NAME')
    expect(status).toBe(0)
  })
})

describe.skipIf(process.platform === 'win32' || noRedisServer())('a server', () => {
  let redis: string
  beforeAll(async () => {
    const { command } = readYaml('compose.yaml').services.redis
    const server = await startRedis({ args: command.slice(1) })
    redis = server.url
    return () => server.stop()
  })

  test('of compose.yaml is healthy until SIGTERM ends it, and Prometheus may read its metrics', async () => {
    const secrets = makeSecrets()
    const settings: Record<string, string> = { POLITELY_USER_AGENT: 'ExampleBot/1.0 (+https://example.com/bot)' }
    const { command } = readYaml('compose.yaml').services['server-1']
    const flags = command.map((flag: string) =>
      flag
        .replace(/\$\{(\w+):[?-]([^}]*)\}/, (_, name, otherwise) => settings[name] ?? otherwise)
        .replace('redis://redis:6379', redis)
        .replace('/run/secrets', secrets.folder),
    )
    const server = await start([...execForm('ENTRYPOINT'), ...flags])
    await expectHealthy(server)
    const isHealthy = (port: number) => {
      const [healthCheck, ...args] = inImage(execForm('HEALTHCHECK').map((word) => word.replace(PORT, `${port}`)))
      return spawnSync(healthCheck, args, USER).status
    }
    expect(isHealthy(server.port)).toBe(0)

    const metrics = { host: 'server-1:7420', authorization: `Bearer ${secrets.token}` }
    expect((await call(server, '/metrics', metrics)).body).toContain('politely_server_leases')
    expect((await call(server, '/metrics', { ...metrics, authorization: 'Bearer other' })).status).toBe(401)
    expect(await server.end()).toBe(0)
    expect(isHealthy(server.port)).toBe(1)
  })

  test('of kubernetes.yaml is alive and ready, and Prometheus may read the metrics of each pod', async () => {
    const secrets = makeSecrets()
    const [container] = readManifests()[0].spec.template.spec.containers
    const [{ mountPath }] = container.volumeMounts
    const flags = container.args.map((flag: string) =>
      flag.replace('$(REDIS_URL)', redis).replace('$(POD_IP)', '10.1.2.3').replace(mountPath, secrets.folder),
    )
    const server = await start([...execForm('ENTRYPOINT'), ...flags])
    await expectHealthy(server)
    const metrics = { host: '10.1.2.3:7420', authorization: `Bearer ${secrets.token}` }
    expect((await call(server, '/metrics', metrics)).status).toBe(200)
    expect(await server.end()).toBe(0)
  })

  test('of politely.service keeps its state in its folder, and reads the tokens again', async () => {
    const secrets = makeSecrets()
    const settings: Record<string, string> = {
      USER_AGENT: 'ExampleBot/1.0 (+https://example.com/bot)',
      STATE_DIRECTORY: secrets.folder,
    }
    const unit = readUnit('Service')
    const words = `${unit.get('ExecStart')}`.split(' ').flatMap((word) => {
      if (word === '$FLAGS') return ['--pacer', 'redis', '--redis', redis]
      return word
        .replace('/opt/politely/node_modules/.bin/', '')
        .replace('/etc/politely', secrets.folder)
        .replace(/\$\{(\w+)\}/, (_, name) => settings[name] ?? '')
    })
    rmSync(join(secrets.folder, 'permits.key'))
    const server = await start(words)
    await expectHealthy(server)
    expect(['permits.key', 'robots.sqlite'].filter((file) => !existsSync(join(secrets.folder, file)))).toEqual([])

    const [reload, ...args] = `${unit.get('ExecReload')}`.replace('$MAINPID', `${server.pid}`).split(' ')
    execFileSync(reload as string, args, USER)
    await expect.poll(() => server.log()).toContain(`has read ${secrets.folder}/tokens again`)
    expect(await server.end()).toBe(0)
  })
})

const prometheus = findPrometheus()
test.skipIf(isMissing('prometheus', prometheus))('promtool accepts the configuration of Prometheus', () => {
  const { command = '', env } = prometheus ?? {}
  const folder = emptyFolder()
  const rules = readText('../../packages/otel/prometheus/politely.rules.yml')
  writeFileSync(join(folder, 'politely.rules.yml'), rules)
  writeFileSync(join(folder, 'metrics-token'), 'token')
  writeFileSync(join(folder, 'prometheus.yml'), readText('prometheus/prometheus.yml').replace('/run/secrets', folder))
  const args = ['check', 'config', join(folder, 'prometheus.yml')]
  const { stdout, stderr, status } = spawnSync(join(dirname(command), 'promtool'), args, {
    env: { ...process.env, ...env },
    encoding: 'utf8',
  })
  expect(stdout + stderr).toContain('SUCCESS')
  expect(status).toBe(0)
})

interface Server {
  readonly port: number
  readonly pid: number | undefined
  /** What the server has written. */
  log(): string
  /** Ends the server with SIGTERM. Resolves to its exit code. */
  end(): Promise<number | null>
}

/** Returns a command of the image as a command of this machine. */
function inImage([program = '', ...args]: readonly string[]): [string, ...string[]] {
  if (program === 'politely') return [process.execPath, POLITELY, ...args]
  return [program === 'node' ? process.execPath : program, ...args]
}

/** Starts a server on a free port, and waits until it listens. */
async function start(words: readonly string[]): Promise<Server> {
  return onFreePort(async (port) => {
    const [command, ...args] = inImage([...words, `--port=${port}`])
    const child = spawn(command, args, { ...USER, stdio: ['ignore', 'inherit', 'pipe'] })
    onTestFinished(() => void child.kill('SIGKILL'))
    let log = ''
    const listening = new Promise<void>((resolve) => {
      child.stderr.on('data', (chunk) => {
        log += chunk
        if (log.includes('listens at')) resolve()
      })
    })
    await Promise.race([listening, once(child, 'exit')])
    if (child.exitCode !== null) throw new Error(log.replace('EADDRINUSE', 'Address already in use'))
    const end = async () => {
      child.kill('SIGTERM')
      const [status] = await once(child, 'exit')
      return status
    }
    return { port, pid: child.pid, log: () => log, end }
  })
}

async function expectHealthy(server: Server): Promise<void> {
  expect(await call(server, '/livez')).toEqual({ status: 200, body: '{"status":"ok"}' })
  await expect.poll(async () => (await call(server, '/readyz')).status).toBe(200)
}

/** The headers may have a Host, which fetch would not send. */
async function call(
  { port }: Server,
  path: string,
  headers = {},
): Promise<{ status: number | undefined; body: string }> {
  const [response] = await once(get({ port, path, headers, agent: false }), 'response')
  return { status: response.statusCode, body: await text(response) }
}

/** Runs make-secrets.sh. Returns the folder with the secrets, and the token of Prometheus. */
function makeSecrets(): { readonly folder: string; readonly token: string } {
  const folder = emptyFolder()
  const POLITELY = inImage(execForm('ENTRYPOINT')).join(' ')
  const env = { ...process.env, POLITELY }
  execFileSync(join(DEPLOY, 'make-secrets.sh'), { ...USER, cwd: folder, env, stdio: 'pipe' })
  expect(readFileSync(join(folder, '.env'), 'utf8')).toMatch(/^POLITELY_USER=[1-9]\d*:\d+\n$/)
  const token = readFileSync(join(folder, 'secrets/metrics-token'), 'utf8').trim()
  return { folder: join(folder, 'secrets'), token }
}

/** Returns a new folder for the user of the commands. */
function emptyFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'politely-deploy-'))
  if (isOpen) chownSync(folder, NOBODY.uid, NOBODY.gid)
  onTestFinished(() => rmSync(folder, { recursive: true }))
  return folder
}
