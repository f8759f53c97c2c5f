// Aligns two lists of findings in rows. Each list keeps its own order, and the same path shares a
// row where possible.
import type { Finding } from './findings.ts'

export type Row = readonly [left: Finding | undefined, right: Finding | undefined]

export function alignFindings(left: readonly Finding[], right: readonly Finding[]): readonly Row[] {
  const [requestedLeft, requestedRight] = [requested(left), requested(right)]
  const [restLeft, restRight] = [neverRequested(left), neverRequested(right)]
  const rows: Row[] = []
  while (requestedLeft.length + requestedRight.length > 0) {
    const [l, r] = [requestedLeft[0], requestedRight[0]]
    // The right's next path was not requested on the left, and either the left's next path comes
    // later on the right, or the right's path does not occur on the left at all.
    const rightGoesFirst =
      l === undefined ||
      (r !== undefined && !has(requestedLeft, r) && (has(requestedRight, l) || !restLeft.has(r.path)))
    if (l?.path === r?.path) rows.push([requestedLeft.shift(), requestedRight.shift()])
    else if (rightGoesFirst) rows.push([take(restLeft, r), requestedRight.shift()])
    else rows.push([requestedLeft.shift(), take(restRight, l)])
  }
  for (const [path, finding] of restLeft) rows.push([finding, restRight.get(path)])
  return rows
}

function requested(findings: readonly Finding[]): Finding[] {
  return findings.filter(({ entry }) => entry !== undefined)
}

function neverRequested(findings: readonly Finding[]): Map<string, Finding> {
  return new Map(findings.filter(({ entry }) => entry === undefined).map((finding) => [finding.path, finding]))
}

function has(findings: readonly Finding[], { path }: Finding): boolean {
  return findings.some((finding) => finding.path === path)
}

/**
 * Removes and returns the finding of a path that was never requested, to show it beside the other
 * crawler's first request for that path.
 */
function take(findings: Map<string, Finding>, beside: Finding | undefined): Finding | undefined {
  const finding = findings.get(beside?.path ?? '')
  if (finding !== undefined) findings.delete(finding.path)
  return finding
}
