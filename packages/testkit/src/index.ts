export {
  type Agreement,
  type ConformanceAnswer,
  type ConformanceCase,
  conformanceDir,
  judgeConformance,
} from './conformance.ts'
export { type NaiveAnswer, readNaively } from './naive-reader.ts'
export { dice, octetsAsText, randomPath, randomRobots } from './random-robots.ts'
export { type RulesCase, rulesCases } from './rules-cases.ts'
