export { type BodyRow, bodyLimit, bodyRows } from './body-rows.ts'
export { type Clock, startClock } from './clock.ts'
export {
  type Agreement,
  type ConformanceAnswer,
  type ConformanceCase,
  conformanceDir,
  judgeConformance,
} from './conformance.ts'
export { lookupIn } from './lookup.ts'
export { holdRefusingPort, type RefusingPort } from './refusing-port.ts'
export { askedPage, forbidsPage, type ReplyExpectation, type ReplyRow, replyRows } from './reply-rows.ts'
export { type RudeRow, rudeRows, type UnreachableBecause } from './rude-rows.ts'
export { type RulesCase, rulesCases } from './rules-cases.ts'
export { type Certificate, selfSigned } from './self-signed.ts'
export {
  type Answer,
  type Behaviour,
  type Reply,
  type SeenRequest,
  type Sites,
  type SitesOptions,
  startSites,
} from './sites.ts'
