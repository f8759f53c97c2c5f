// What the package uses of node:querystring, in runtimes without it.
export function stringify(query: Readonly<Record<string, string>>): string {
  return new URLSearchParams(query).toString()
}
