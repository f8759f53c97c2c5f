/**
 * Returns the message of what was thrown, which may be no Error. An AggregateError of Node has
 * none: it stands for a failure of each address of a host.
 */
export function messageOf(thrown: unknown): string {
  if (!(thrown instanceof Error)) return String(thrown)
  if (thrown.message !== '') return thrown.message
  return thrown instanceof AggregateError ? thrown.errors.map(messageOf).join('; ') : thrown.name
}
