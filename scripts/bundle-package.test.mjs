// @module-tag full
// A program that passes gates, clients, responses, rules and errors between the entry points of the
// built packages. Each module must exist once, or the other entry point does not know the object.
import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build } from 'rolldown'
import { expect, onTestFinished, test, vi } from 'vitest'

const PROGRAM = `
import assert from 'node:assert/strict'
import { createServer } from 'node:http'
import * as core from '@politely/core'
import * as engine from '@politely/core/engine'
import * as usage from '@politely/core/usage'
import * as fetcher from '@politely/fetcher'
import * as gates from '@politely/gate'
import * as timelines from '@politely/timeline'
import * as agents from '@politely/gate/undici'
import * as whole from 'politely'

// A name that two entry points export is one value.
const values = new Map()
for (const entry of [core, engine, fetcher, gates, timelines, agents, whole])
  for (const [name, value] of Object.entries(entry)) {
    assert.equal(values.get(name) ?? value, value, name)
    values.set(name, value)
  }

const site = createServer(({ url }, response) => {
  if (url !== '/robots.txt') return response.setHeader('content-type', 'text/html').end('<!doctype html><meta name=robots content=noindex>')
  response.end('User-agent: *\\nDisallow: /cart\\nContent-Signal: ai-train=no\\n')
}).listen(0, '127.0.0.1')
await new Promise((resolve) => site.once('listening', resolve))
const origin = 'http://127.0.0.1:' + site.address().port

// The client is of one package, the gate of another, and the fetch of a third.
const robots = new fetcher.RobotsClient({ userAgent: 'ExampleBot/1.0' })
const gate = new gates.PoliteGate({ robots, minDelayMs: 0 })
const fetch = whole.politely(globalThis.fetch, { gate, onDisallowed: 'response' })
const refused = await fetch(origin + '/cart')
assert.ok(gates.refusalOf(refused) instanceof whole.RobotsDisallowedError)
assert.equal(whole.refusalOf(refused), gates.refusalOf(refused))
const page = await fetch(origin + '/page')
const { purposes } = await gates.usageOf(page)
assert.deepEqual([purposes.index.answer, purposes['train-ai'].answer], ['disallowed', 'disallowed'])
assert.equal((await whole.usageOf(page)).url, origin + '/page')

// The agent of another entry point takes the same gate.
const agent = agents.politeAgent({ gate })
assert.equal(agent.gate, gate)
const error = await agent.request({ origin, path: '/cart', method: 'GET' }).catch((reason) => reason)
assert.ok(error instanceof gates.RobotsDisallowedError && whole.isPolitelyError(error), String(error))

// Rules that one entry point of core has parsed, and another reads.
const rules = whole.parseRobots('User-agent: *\\nContent-Signal: ai-train=no')
const stated = usage.usageOf({ url: origin + '/page', tokens: 'ExampleBot', robots: rules })
assert.equal(stated.purposes['train-ai'].answer, 'disallowed')
assert.throws(() => agents.politeAgent({ gate: 1 }), whole.OptionError)

await Promise.all([agent.close(), gate.close(), robots.close()])
site.close()
console.log('done')
`
const cli = fileURLToPath(new URL('../packages/cli/', import.meta.url))
const printed = { status: 0, stdout: 'done\n', stderr: '' }

function run(args) {
  const { status, stdout, stderr } = spawnSync(process.execPath, args, { cwd: cli, encoding: 'utf8' })
  return { status, stdout, stderr }
}

test('entry points of the built packages share classes, gates and responses', () => {
  expect(run(['--input-type=module', '--eval', PROGRAM])).toEqual(printed)
})

test('they do so in a minified bundle of a program too', async () => {
  const folder = mkdtempSync(join(cli, 'bundled-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  const entry = join(folder, 'program.mjs')
  writeFileSync(entry, PROGRAM)
  const out = join(folder, 'out')
  await build({
    input: entry,
    platform: 'node',
    output: { dir: out, entryFileNames: 'main.mjs', minify: true },
    logLevel: 'silent',
  })
  expect(run([join(out, 'main.mjs')])).toEqual(printed)
})

const TWO_FORMS = `
import assert from 'node:assert/strict'
import { createRequire } from 'node:module'

const require = createRequire(process.cwd() + '/program.mjs')
for (const entry of ['core', 'core/engine', 'core/usage', 'core/crawlers', 'core/match', 'core/revisit']) {
  const [imported, required] = [await import('@politely/' + entry), require('@politely/' + entry)]
  for (const [name, value] of Object.entries(imported)) assert.equal(required[name], value, entry + ' ' + name)
}
const { parseRobots } = require('../core/dist/index.cjs')
const { usageOf } = require('../core/dist/usage/index.cjs')
assert.notEqual(parseRobots, require('@politely/core').parseRobots)
const robots = parseRobots('User-agent: *\\nContent-Signal: ai-train=no')
assert.equal(usageOf({ url: 'https://site.example/', tokens: 'ExampleBot', robots }).purposes['train-ai'].answer, 'disallowed')
console.log('done')
`

test('require and import give one copy of core, and its CommonJS build is one copy too', () => {
  expect(run(['--input-type=module', '--eval', TWO_FORMS])).toEqual(printed)
})

const IN_WORKERS = `
import assert from 'node:assert/strict'
import { createServer } from 'node:http'
import { edgeModules } from '../../scripts/bundle-edge.mjs'
import { politely } from 'politely'

// Bundles of an earlier build don't count as modules.
process.chdir('../fetcher')
assert.ok(edgeModules().has('tldts.js'))
assert.ok(!edgeModules().has('index.js'))

const site = createServer((_, response) => response.end('')).listen(0, '127.0.0.1')
await new Promise((resolve) => site.once('listening', resolve))
const fetch = politely(globalThis.fetch, { userAgent: 'ExampleBot/1.0', minDelayMs: 0, maxWaitMs: 5_000 })
globalThis.fetch = fetch // the client's requests for robots.txt must not wait for themselves
assert.equal((await globalThis.fetch('http://127.0.0.1:' + site.address().port + '/page')).status, 200)
await fetch.close()
site.close()
console.log('done')
`

test('so they do in a bundle whose conditions leave out `module`, as those of Wrangler do', async () => {
  const folder = mkdtempSync(join(cli, 'bundled-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  writeFileSync(join(folder, 'required.cjs'), "exports.parseRobots = require('@politely/core').parseRobots\n")
  const entry = join(folder, 'program.mjs')
  writeFileSync(
    entry,
    "import { parseRobots } from '@politely/core'\nimport required from './required.cjs'\nconsole.log(parseRobots === required.parseRobots ? 'done' : 'two copies')\n",
  )
  const out = join(folder, 'out')
  const conditionNames = ['workerd', 'worker', 'browser']
  await build({
    input: entry,
    platform: 'neutral',
    resolve: { conditionNames, mainFields: ['module', 'main'] },
    output: { dir: out, entryFileNames: 'main.mjs' },
    logLevel: 'silent',
  })
  expect(run([join(out, 'main.mjs')])).toEqual(printed)
})

test('a global fetch that is polite does not wait for itself in the build for workers', () => {
  expect(run(['--conditions=workerd', '--input-type=module', '--eval', IN_WORKERS])).toEqual(printed)
})

test('a runtime whose timers are numbers, and without FinalizationRegistry, gets what the packages call', async () => {
  const stopped = []
  vi.stubGlobal('setTimeout', () => 7)
  vi.stubGlobal('clearTimeout', (id) => stopped.push(id))
  vi.stubGlobal('FinalizationRegistry', undefined)
  const globals = await import(`./edge-globals.mjs?timers=${performance.now()}`).finally(() => vi.unstubAllGlobals())
  stopped.length = 0 // the runner may have stopped its timers meanwhile
  const timer = globals.setTimeout(() => {}, 1_000)
  globals.clearTimeout(timer.unref().ref())
  globals.clearTimeout(undefined)
  expect(stopped).toEqual([7, undefined])
  const registry = new globals.FinalizationRegistry(() => {})
  registry.register({}, timer)
  registry.unregister(timer)
})

test('a warning is printed where the runtime has `emitWarning`, and nothing listens', async () => {
  const shown = []
  let listeners = 0
  const emitWarning = (text) => shown.push(`event ${text}`)
  vi.stubGlobal('process', { emitWarning, listenerCount: () => listeners })
  const globals = await import(`./edge-globals.mjs?emitting=${performance.now()}`).finally(() => vi.unstubAllGlobals())
  const printing = vi.spyOn(console, 'warn').mockImplementation((text) => shown.push(`printed ${text}`))
  onTestFinished(() => printing.mockRestore())
  globals.process.emitWarning('a', { code: 'A' })
  listeners = 1
  globals.process.emitWarning('b', { code: 'B' })
  expect(shown).toEqual(['printed [A] a', 'event b'])
})
