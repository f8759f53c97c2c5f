export {
  type Agreement,
  type ConformanceAnswer,
  type ConformanceCase,
  conformanceDir,
  judgeConformance,
} from './conformance.ts'
export { type RulesCase, rulesCases } from './rules-cases.ts'
