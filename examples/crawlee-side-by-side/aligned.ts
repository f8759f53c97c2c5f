// Lays two lists of findings beside each other: each keeps its own order, and the same path stands in one row where
// that is possible.
import type { Finding } from './findings.ts'

export type Row = readonly [left: Finding | undefined, right: Finding | undefined]

export function aligned(left: readonly Finding[], right: readonly Finding[]): readonly Row[] {
  const [askedLeft, askedRight] = [asked(left), asked(right)]
  const [missedLeft, missedRight] = [missed(left), missed(right)]
  const rows: Row[] = []
  while (askedLeft.length + askedRight.length > 0) {
    const [l, r] = [askedLeft[0], askedRight[0]]
    if (l?.path === r?.path) rows.push([askedLeft.shift(), askedRight.shift()])
    else if (l !== undefined && (!has(askedRight, l) || (r !== undefined && has(askedLeft, r))))
      rows.push([askedLeft.shift(), take(missedRight, l)])
    else if (r !== undefined) rows.push([take(missedLeft, r), askedRight.shift()])
  }
  for (const [path, finding] of missedLeft) rows.push([finding, missedRight.get(path)])
  return rows
}

function asked(findings: readonly Finding[]): Finding[] {
  return findings.filter(({ entry }) => entry !== undefined)
}

function missed(findings: readonly Finding[]): Map<string, Finding> {
  return new Map(findings.filter(({ entry }) => entry === undefined).map((finding) => [finding.path, finding]))
}

function has(findings: readonly Finding[], { path }: Finding): boolean {
  return findings.some((finding) => finding.path === path)
}

/** What was never asked for stands beside the first request of the other crawler for it, and there only. */
function take(findings: Map<string, Finding>, { path }: Finding): Finding | undefined {
  const finding = findings.get(path)
  findings.delete(path)
  return finding
}
