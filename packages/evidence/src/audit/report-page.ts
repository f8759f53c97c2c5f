export function reportPage(facts: unknown, maxRows: number): string {
  return `${facts}${maxRows}`
}
