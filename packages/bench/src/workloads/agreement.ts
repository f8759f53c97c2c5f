// Counts how often the verdicts of other libraries differ from ours. Read speeds together with this
// figure: a library that implements less of the standard does less work.
import { ours } from '../libraries/libraries.ts'
import { prepare, type Site } from '../libraries/prepared.ts'
import { sum } from '../median.ts'
import type { Row, Sheet } from '../sheet.ts'
import type { Plan } from './plan.ts'

export async function agreement(plan: Plan, sites: readonly Site[], over: Sheet['over']): Promise<Sheet> {
  const verdicts = await prepare(ours, sites)
  const rows: Row[] = []
  for (const library of plan.libraries) {
    if (library === ours) continue
    const prepared = await prepare(library, sites)
    const checkCount = sum(prepared.sites.map(({ urls }) => urls.length))
    let differing = 0
    let differingFiles = 0
    for (const [i, { rules, urls }] of prepared.sites.entries()) {
      const own = verdicts.sites[i]?.rules
      const different = urls.filter((url) => library.isAllowed(rules, url) !== ours.isAllowed(own, url)).length
      differing += different
      if (different > 0) differingFiles++
    }
    const { failedFiles, failedChecks } = prepared
    const cells = [
      (100 * differing) / checkCount,
      (100 * differingFiles) / sites.length,
      checkCount,
      failedFiles,
      failedChecks,
    ]
    rows.push({ name: library.name, cells })
  }
  return {
    workload: 'agreement',
    over,
    title: `agreement: how often verdicts differ from ours, on ${sites.length} files`,
    columns: [
      { name: 'different verdicts', unit: '%' },
      { name: 'files with one', unit: '%' },
      { name: 'of', unit: 'checks' },
      { name: 'throws at', unit: 'files' },
      { name: 'throws at', unit: 'checks' },
    ],
    rows,
    findings: [],
    notes: [],
  }
}
