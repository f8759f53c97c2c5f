import { readdirSync, readFileSync } from 'node:fs'
import { expect, test } from 'vitest'

const FOLDER = '.github/workflows/'

const workflows = readdirSync(FOLDER).map((file) => {
  const text = readFileSync(FOLDER + file, 'utf8')
  const [head, jobs] = text.split(/^jobs:\n/m)
  return { file, text, head, jobs: jobs.split(/^(?= {2}\w+:\n)/m) }
})

test.for(workflows)('$file pins each action by a commit, and names its version', ({ text }) => {
  const uses = text.match(/\buses:.*/g)
  expect(uses.length).toBeGreaterThan(1)
  for (const use of uses) expect(use).toMatch(/^uses: [\w-]+\/[\w-]+@[\da-f]{40} # v\d+\.\d+\.\d+$/)
})

test('the version of an action belongs to one commit', () => {
  const pins = workflows.flatMap(({ text }) => text.match(/\S+@[\da-f]{40} # v[\d.]+/g))
  const names = new Set(pins.map((pin) => pin.replace(/@\w+/, '')))
  expect(new Set(pins).size).toBe(names.size)
})

test('only the job that publishes has an identity, and it runs no code of the repository', () => {
  for (const { file, head } of workflows) expect(head, file).not.toContain('write')
  const jobs = workflows.flatMap((workflow) => workflow.jobs).filter((job) => job.includes(': write'))
  expect(jobs).toHaveLength(1)
  const [publish] = jobs
  expect(publish).toContain('    permissions:\n      id-token: write\n    steps:')
  expect(publish).not.toMatch(/actions\/checkout|npm (run|test|install|ci|exec)|npx|pnpm|node /)
})
