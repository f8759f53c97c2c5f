// The default of a flag is in its description only: the help prints it, and the command reads it.
import { expect, test } from 'vitest'
import { parseCommand } from '../src/command-line.ts'
import { commands } from '../src/commands.ts'
import { commandHelp } from '../src/help.ts'

const flags = commands.flatMap((spec) => spec.flags.map((flag) => ({ spec, flag })))

test('a flag that is not given has the default of the help', () => {
  const defaults = flags.filter(({ flag }) => flag.byDefault !== undefined)
  expect(defaults.length).toBeGreaterThan(30)
  for (const { spec, flag } of defaults) {
    const args = parseCommand(spec, [], commands)
    expect([args.all(flag.name), args.has(flag.name)]).toEqual([[flag.byDefault].flat(), false])
    expect(commandHelp(spec).replaceAll(/\s+/g, ' ')).toContain(`default ${[flag.byDefault].flat().join(', ')}`)
  }
})

test('a default is a value that the flag accepts', () => {
  for (const { spec, flag } of flags)
    for (const value of [flag.byDefault ?? []].flat())
      expect(parseCommand(spec, [`--${flag.name}`, value], commands).get(flag.name)).toBe(value)
})

test('--json stands for --format; the last of the two counts', () => {
  for (const { spec, flag } of flags.filter(({ flag }) => flag.name === 'json')) {
    const format = flag.text.split(' ').at(-1)
    const other = spec.flags.find(({ name }) => name === 'format')?.choices?.find((each) => each !== format) as string
    const formatOf = (...args: string[]) => parseCommand(spec, args, commands).get('format')
    expect([formatOf('--json'), formatOf('--json', '--format', other), formatOf('--format', other, '--json')]).toEqual([
      format,
      other,
      format,
    ])
  }
})
