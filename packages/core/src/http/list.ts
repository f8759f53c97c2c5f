// Splits header values that are lists.

/** Splits a list at its commas, except those inside quotes. RFC 9110 §5.6.1. */
export function membersOf(value: string): readonly string[] {
  return value.match(/(?:[^,"]|"[^"]*"?)+/g) ?? []
}
