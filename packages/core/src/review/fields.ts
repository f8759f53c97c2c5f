// Every field of a file with its group: for what shows or searches the lines of a robots.txt.
import { textOf } from '../bytes.ts'
import type { ParsedField, ParsedGroup } from '../parse/records.ts'
import type { Robots } from '../robots.ts'

/** The fields and groups of a file. Text is decoded from UTF-8; offsets are in bytes. */
export interface FieldsOfFile {
  readonly fields: readonly ParsedField[]
  readonly groups: readonly Pick<ParsedGroup, 'agents' | 'line'>[]
}

/** Returns the fields as the dialect of the file reads them. */
export function fieldsOf(robots: Robots): FieldsOfFile {
  const { fields, groups } = robots.fields()
  return {
    fields: fields.map((field) => ({ ...field, key: textOf(field.key), value: textOf(field.value) })),
    groups: groups.map(({ agents, line }) => ({ agents: agents.map(textOf), line })),
  }
}
