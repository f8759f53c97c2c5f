// The OpenAPI document: it is valid, and says what the server does.
import { execFile } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import SwaggerParser from '@apidevtools/swagger-parser'
import { expect, onTestFinished, test } from 'vitest'
import { httpKit } from './kit.ts'

test('is valid by swagger-parser', async () => {
  const { call } = await httpKit({ fetch: true })
  const { body } = await call('/openapi.json')
  await SwaggerParser.validate(structuredClone(body))
  expect(Object.keys(body.paths)).toContain('/v1/fetch')
})

test('has no error and no warning by redocly', { tags: 'full' }, async () => {
  const { call } = await httpKit({ fetch: true })
  const folder = await mkdtemp(join(tmpdir(), 'openapi-'))
  onTestFinished(() => rm(folder, { recursive: true }))
  const file = join(folder, 'openapi.json')
  await writeFile(file, JSON.stringify((await call('/openapi.json')).body))
  const cli = join(dirname(createRequire(import.meta.url).resolve('@redocly/cli/package.json')), 'bin/cli.js')
  const env = { ...process.env, REDOCLY_TELEMETRY: 'off', REDOCLY_SUPPRESS_UPDATE_NOTICE: 'true' }
  const args = [cli, 'lint', '--format=json', '--extends=recommended', file]
  const { stdout } = await promisify(execFile)(process.execPath, args, { cwd: folder, env })
  expect(JSON.parse(stdout)).toMatchObject({ totals: { errors: 0, warnings: 0 } })
})

test('names the type of every answer', async () => {
  const { call, origin } = await httpKit({ fetch: true, allowPrivate: true })
  const { paths } = (await call('/openapi.json')).body
  const answers = [
    ['/v1/permits', 'application/json', JSON.stringify({ requests: [{ url: 'mailto:a@b' }] })],
    ['/v1/permits', 'application/json', '{}'],
    ['/v1/reports', 'application/json', JSON.stringify({ reports: [{ permit: 'x' }] })],
    ['/v1/renewals', 'application/json', JSON.stringify({ permits: ['x'] })],
    ['/v1/check', 'application/x-ndjson', '{"url":"mailto:a@b"}'],
    ['/v1/check', 'application/x-ndjson', 'x'],
    ['/v1/fetch', 'application/json', JSON.stringify({ url: 'mailto:a@b' })],
  ] as const
  for (const [path, type, body] of answers) {
    const response = await fetch(origin + path, { method: 'POST', headers: { 'content-type': type }, body })
    const { requestBody, responses } = paths[path].post
    const described = responses[response.status] ?? responses[`${Math.floor(response.status / 100)}XX`]
    expect(Object.keys(requestBody.content), path).toEqual([type])
    expect(Object.keys(described.content), path).toEqual([response.headers.get('content-type')?.split(';')[0]])
    await response.body?.cancel()
  }
})
