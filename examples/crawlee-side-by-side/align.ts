// Lays two lists of findings beside each other: each keeps its own order, and the same path stands in one row where
// that is possible.
import type { Finding } from './findings.ts'

export type Row = readonly [left: Finding | undefined, right: Finding | undefined]

export function alignFindings(left: readonly Finding[], right: readonly Finding[]): readonly Row[] {
  const [askedLeft, askedRight] = [asked(left), asked(right)]
  const [missedLeft, missedRight] = [missed(left), missed(right)]
  const rows: Row[] = []
  while (askedLeft.length + askedRight.length > 0) {
    const [l, r] = [askedLeft[0], askedRight[0]]
    // Nothing on the left will stand beside the right's next, or the left's next has to wait for its like.
    const rightGoesFirst =
      l === undefined || (r !== undefined && !has(askedLeft, r) && (has(askedRight, l) || !missedLeft.has(r.path)))
    if (l?.path === r?.path) rows.push([askedLeft.shift(), askedRight.shift()])
    else if (rightGoesFirst) rows.push([take(missedLeft, r), askedRight.shift()])
    else rows.push([askedLeft.shift(), take(missedRight, l)])
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
function take(findings: Map<string, Finding>, beside: Finding | undefined): Finding | undefined {
  const finding = findings.get(beside?.path ?? '')
  if (finding !== undefined) findings.delete(finding.path)
  return finding
}
