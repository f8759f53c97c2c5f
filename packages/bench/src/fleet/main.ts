// `npm run simulate`: simulates a fleet of crawlers. docs/scale.md describes it and has the figures
// of a full run.
import { readFileSync, writeFileSync } from 'node:fs'
import { parseArgs } from 'node:util'
import { type FleetRecord, type Size, simulateFleet, writeRecord } from './record.ts'
import { SCALE_PAGE, scalePage, tablesOf } from './scale-page.ts'

const DEFAULTS: Size = { origins: 10_000_000, urls: 100_000_000, workers: 200, seed: 1 }

const USAGE = `usage: npm run simulate -- [options]

  --origins N   default ${DEFAULTS.origins}
  --urls N      default ${DEFAULTS.urls}; met to within a percent
  --workers N   default ${DEFAULTS.workers}; at least 2, at most 32767
  --seed N      default ${DEFAULTS.seed}; the same seed gives the same figures
  --json        print the record as JSON
  --record      write the figures to packages/bench/record/fleet and docs/scale.md
`

class UsageError extends Error {}

try {
  main(process.argv.slice(2))
} catch (error) {
  if (!(error instanceof UsageError)) throw error
  process.stderr.write(`${error.message}\n\n${USAGE}`)
  process.exitCode = 2
}

function main(args: readonly string[]): void {
  const { json = false, record: isRecorded = false, ...sizes } = parsed(args)
  const size: Size = {
    origins: numberOf('origins', sizes.origins, 100),
    urls: numberOf('urls', sizes.urls, 100),
    workers: numberOf('workers', sizes.workers, 2, 32_767),
    seed: numberOf('seed', sizes.seed, 0),
  }
  if (size.urls < size.origins)
    throw new UsageError('--urls is smaller than --origins; each origin has at least one URL')
  if (isRecorded && Object.keys(sizes).length > 0) {
    throw new UsageError('--record writes a run with the default sizes; leave out the other options')
  }
  const record = simulateFleet(size, (line) => process.stderr.write(`${line}\n`))
  process.stdout.write(json ? `${JSON.stringify(record, undefined, 2)}\n` : textOf(record))
  if (!isRecorded) return
  writeRecord(record)
  writeFileSync(SCALE_PAGE, scalePage(readFileSync(SCALE_PAGE, 'utf8'), record))
}

function parsed(args: readonly string[]) {
  const number = { type: 'string' } as const
  const flag = { type: 'boolean' } as const
  try {
    const options = { origins: number, urls: number, workers: number, seed: number, json: flag, record: flag }
    return parseArgs({ args: [...args], options }).values
  } catch (error) {
    throw new UsageError(error instanceof Error ? error.message : String(error))
  }
}

function numberOf(name: keyof Size, text: string | undefined, min: number, max = 1_000_000_000): number {
  if (text === undefined) return DEFAULTS[name]
  const value = Number(text)
  if (Number.isInteger(value) && value >= min && value <= max) return value
  throw new UsageError(`--${name} ${text} is invalid; expected a whole number from ${min} to ${max}`)
}

/** Returns the tables as text. */
function textOf(record: FleetRecord): string {
  return tablesOf(record)
    .map(({ head, rows }) => {
      const lines = [head, ...rows]
      const widths = head.map((_, column) => Math.max(...lines.map((cells) => (cells[column] ?? '').length)))
      return lines
        .map((cells) =>
          cells
            .map((cell, i) => cell.padEnd(widths[i] as number))
            .join('  ')
            .trimEnd(),
        )
        .join('\n')
    })
    .join('\n\n')
    .concat('\n')
}
