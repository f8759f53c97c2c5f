// @module-tag slow
// @module-tag full
// pip and go install the clients, which have the version of the API.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { cp, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { text } from 'node:stream/consumers'
import { RobotsClient } from '@politely/fetcher'
import { PoliteGate } from '@politely/gate'
import { PolitelyServer } from '@politely/server'
import { findGo, findPython, isMissing, type Part } from '@politely/testkit/parts'
import { expect, onTestFinished, test } from 'vitest'

const CLIENTS = join(import.meta.dirname, '..')
const FOLDER = 'examples/clients/go'
const python = findPython('scrapy', 'pip', 'setuptools', 'wheel')
const go = findGo()
const WHOLE = { timeout: 120_000 }

test.skipIf(isMissing('python', python))('pip installs the clients for requests and Scrapy', WHOLE, async () => {
  const folder = await temporaryFolder()
  const source = join(folder, 'source')
  const target = join(folder, 'target')
  await cp(join(CLIENTS, 'python'), source, { recursive: true })
  const offline = ['--no-index', '--no-build-isolation', '--no-deps', '--disable-pip-version-check', '--quiet']
  const env = { PIP_CONFIG_FILE: '/dev/null', PIP_ROOT_USER_ACTION: 'ignore' }
  await run(python, ['-m', 'pip', 'install', ...offline, '--target', target, source], env)

  const installed = { PYTHONPATH: [target, python?.env.PYTHONPATH ?? ''].join(delimiter) }
  const versions = `
import importlib.metadata, politely_client, politely_requests, politely_scrapy
print(importlib.metadata.version("politely-client"), politely_client.API_VERSION, end="")`
  const version = await versionOfApi()
  expect(await run(python, ['-c', versions], installed)).toBe(`${version} ${version}`)

  const adapting = `
from politely_client import StartWithin
start = StartWithin()
told = [start.ms]
for _ in range(5): start.is_late(start.ms, 1001); told.append(start.ms)
start.is_late(100, 101); told.append(start.ms)  # of a call before these
for _ in range(4):
    for _ in range(20): start.is_late(start.ms, 10)
    told.append(start.ms)
for _ in range(40): start.is_late(100, 60)
print(told + [start.ms], end="")`
  expect(await run(python, ['-c', adapting], installed)).toBe(
    `[${[100, 200, 400, 800, 1000, 1000, 1000, 500, 250, 125, 100, 100].join(', ')}]`,
  )

  const asking = `
import sys, requests
from politely_requests import PoliteAdapter
session = requests.Session()
session.mount("http://", PoliteAdapter(sys.argv[1]))
try: session.get("http://site.example/")
except Exception as error: print(type(error).__name__, error, end="")`
  expect(await run(python, ['-c', asking, await startLaterServer()], installed)).toMatch(
    /^WrongVersion the server http:\S+ speaks version 2\.0\.0 of the API, and this politely-client 1\./,
  )
})

test.skipIf(isMissing('go', go))('go builds a program with the module, whose path is its folder', WHOLE, async () => {
  const { repository } = JSON.parse(await readFile(join(CLIENTS, '../../packages/server/package.json'), 'utf8'))
  const path = `${repository.url.replace(/^git\+https:\/\/|\.git$/g, '')}/${FOLDER}`
  const folder = await temporaryFolder()
  await mkdir(join(folder, 'tmp'))
  await writeFile(
    join(folder, 'go.mod'),
    `module example\n\ngo 1.19\n\nrequire ${path} v1.0.0\n\nreplace ${path} => ${join(CLIENTS, 'go')}\n`,
  )
  const program = `package main

import (
	"fmt"
	"net/http"
	"os"

	politely "${path}"
)

func main() {
	transport := &politely.Transport{Server: os.Args[1], StartWithinMs: 100, LeaseMs: 60000, Base: http.DefaultTransport}
	_, err := (&http.Client{Transport: transport}).Get("http://site.example/")
	fmt.Print(politely.APIVersion, " ", err)
}
`
  await writeFile(join(folder, 'main.go'), program)
  const cache = join(CLIENTS, 'node_modules/.cache/go')
  const env = { GOPROXY: 'off', GOFLAGS: '-mod=mod', GOCACHE: cache, CGO_ENABLED: '0', GOTMPDIR: join(folder, 'tmp') }
  await run(go, ['vet', '.'], env, folder)
  await run(go, ['vet', '.'], env, join(CLIENTS, 'go'))
  expect(await run(go, ['test', '.'], env, join(CLIENTS, 'go'))).toMatch(/^ok/)
  const printed = await run(go, ['run', '.', await startLaterServer()], env, folder)
  expect(printed.split(' ')[0]).toBe(await versionOfApi())
  expect(printed).toMatch(/: the server http:\S+ speaks version 2\.0\.0 of the API, and this module 1\./)
})

async function temporaryFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'politely-install-'))
  onTestFinished(() => rm(folder, { recursive: true, force: true }))
  return folder
}

/** Returns the version in /openapi.json. */
async function versionOfApi(): Promise<string> {
  await using robots = new RobotsClient({ userAgent: 'ExampleBot/1.0' })
  await using gate = new PoliteGate({ robots })
  await using server = new PolitelyServer({ gate })
  const { info } = (await (await fetch(`${await server.listen({ port: 0 })}/openapi.json`)).json()) as {
    readonly info: { readonly version: string }
  }
  return info.version
}

/** Starts a server with the next version of the API, which knows no path of this version. */
async function startLaterServer(): Promise<string> {
  const server = createServer((_, response) => response.writeHead(404, { 'politely-api': '2.0.0' }).end('{}'))
  onTestFinished(() => void server.close())
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

/** Runs a program, and returns what it prints. */
async function run(part: Part | undefined, args: readonly string[], env: NodeJS.ProcessEnv, cwd?: string) {
  const { command = '', env: own } = part ?? {}
  const child = spawn(command, args, { cwd, env: { ...process.env, ...own, PYTHONDONTWRITEBYTECODE: '1', ...env } })
  const ended = once(child, 'close')
  const [printed, errors] = await Promise.all([text(child.stdout), text(child.stderr)])
  const [status] = await ended
  if (status !== 0) throw new Error(`${command} ${args.join(' ')} ended with ${status}: ${printed}${errors}`)
  return printed
}
