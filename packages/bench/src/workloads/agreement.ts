// How often do other libraries give another answer? Speeds are comparable only with this figure: a library that implements less of the
// standard does less work.
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
    const asked = sum(prepared.of.map(({ urls }) => urls.length))
    let differing = 0
    let differingFiles = 0
    for (const [i, { rules, urls }] of prepared.of.entries()) {
      const own = verdicts.of[i]?.rules
      const otherwise = urls.filter((url) => library.isAllowed(rules, url) !== ours.isAllowed(own, url)).length
      differing += otherwise
      if (otherwise > 0) differingFiles++
    }
    const { failedFiles, failedQuestions } = prepared
    const cells = [
      (100 * differing) / asked,
      (100 * differingFiles) / sites.length,
      asked,
      failedFiles,
      failedQuestions,
    ]
    rows.push({ name: library.name, cells })
  }
  return {
    workload: 'agreement',
    over,
    title: `agreement: how often the verdict is not ours, over ${sites.length} files`,
    columns: [
      { name: 'answers', unit: '%' },
      { name: 'files with one', unit: '%' },
      { name: 'asked', unit: 'questions' },
      { name: 'throws at', unit: 'files' },
      { name: 'throws at', unit: 'questions' },
    ],
    rows,
    findings: [],
    asides: [],
  }
}
