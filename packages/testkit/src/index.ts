export {
  type Agreement,
  type ConformanceAnswer,
  type ConformanceCase,
  conformanceDir,
  judgeConformance,
} from './conformance.ts'
export { type DialectCase, dialectCases } from './dialect-cases.ts'
export { type DocTable, withTables } from './doc-table.ts'
export { goodFiles, type LintCase, lintCases } from './lint-cases.ts'
export { type NaiveAnswer, readNaively } from './naive-reader.ts'
export { dice, octetsAsText, randomPath, randomRobots } from './random-robots.ts'
export { type ReadingCase, type RecordsCase, readingCases, recordsCases } from './records-cases.ts'
export { type RulesCase, rulesCases } from './rules-cases.ts'
