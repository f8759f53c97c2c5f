// The check of the version of Node, which is the first import of every published entry point, except of
// packages for older Nodes.
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, expect, it } from 'vitest'

const { versions } = process

afterEach(() => {
  Object.defineProperty(process, 'versions', { value: versions })
})

/** Loads another copy of the module in a process with these versions. */
function load(some: Readonly<Record<string, string>>): Promise<unknown> {
  Object.defineProperty(process, 'versions', { value: some })
  return import(`../src/runtime/node-version.ts?${encodeURIComponent(JSON.stringify(some))}`)
}

it.each(['20.20.2', '18.0.0', '22.18.9'])('throws on Node %s', async (node) => {
  await expect(load({ node })).rejects.toMatchObject({
    name: 'OldNodeError',
    code: 'ERR_POLITELY_NODE',
    message: `politely needs Node 22.19 or later; this is ${node}`,
  })
})

it.each([
  { node: '22.19.0' },
  { node: '24.0.0' },
  { node: '100.1.0' },
  { node: '20.11.1', deno: '2.0.0' },
  { node: '18.15.0', bun: '1.0.0' },
  {}, // process of a bundler for web pages
])('accepts %j', async (some) => {
  await expect(load(some)).resolves.toBeDefined()
})

it('asks for the Node that the packages name, except those that run on Node 20', () => {
  const packages = join(import.meta.dirname, '../..')
  const manifests = readdirSync(packages).map((name) =>
    JSON.parse(readFileSync(join(packages, name, 'package.json'), 'utf8')),
  )
  const namesFor = (node: string) =>
    manifests.filter(({ private: isPrivate, engines }) => !isPrivate && engines.node === node).map(({ name }) => name)
  expect(namesFor('>=20')).toEqual(['@politely/core', '@politely/robots-parser'])
  expect(namesFor('>=22.19.0')).toHaveLength(manifests.filter((manifest) => !manifest.private).length - 2)
})
