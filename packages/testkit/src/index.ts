export {
  type AdapterCase,
  type AdapterOutcome,
  type AdapterRow,
  type AdapterSettings,
  type AdapterUnderTest,
  adapterCases,
  adapterCasesFor,
  adapterRows,
  type Capability,
  playAdapter,
  type Visit,
} from './adapter-rows.ts'
export { type BodyExpectation, type BodyRow, bodyLimit, bodyRows } from './body-rows.ts'
export { slowWeb, waitAtGate } from './browser-end-rows.ts'
export { CRAWLER, errorOf, HOME, killRenderers, OTHER, openRoom, type Room, RULES, SLOW } from './browser-room.ts'
export { browserTestsFor } from './browser-rows.ts'
export type { BrowserUnderTest } from './browser-under-test.ts'
export { type Clock, startClock } from './clock.ts'
export {
  type Agreement,
  type ConformanceAnswer,
  type ConformanceCase,
  conformanceDir,
  judgeConformance,
  type OtherVector,
  otherVectorsIn,
  type Vector,
  vectorsIn,
} from './conformance.ts'
export { type DialectCase, dialectCases } from './dialect-cases.ts'
export { type Difference, differences } from './differences.ts'
export { type DocTable, withTables } from './doc-table.ts'
export { goodFiles, type LintCase, lintCases } from './lint-cases.ts'
export { lookupIn } from './lookup.ts'
export { type NaiveAnswer, readNaively } from './naive-reader.ts'
export { type PacerOutcome, type PacerRow, type PacerUnderTest, pacerRows, playPacer } from './pacer-rows.ts'
export { chromiumArguments, chromiumLaunch, findChromium, isMissing, type Part } from './parts.ts'
export { dice, octetsAsText, pick, randomPath, randomRobots } from './random-robots.ts'
export { type RawServer, startRawServer } from './raw-server.ts'
export { type ReadingCase, type RecordsCase, readingCases, recordsCases } from './records-cases.ts'
export { holdRefusingPort, type RefusingPort } from './refusing-port.ts'
export { askedPage, forbidsPage, type Meaning, type ReplyExpectation, type ReplyRow, replyRows } from './reply-rows.ts'
export { type DoorRow, doorRows, type RudeExpectation, type RudeRow, rudeRows } from './rude-rows.ts'
export { answerOf, type RulesCase, rulesCases } from './rules-cases.ts'
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
export { htmlPage, redirectTo, scriptOf } from './small-pages.ts'
export {
  type StoreAbility,
  type StoreHandle,
  type StoreKit,
  type StoreName,
  type StoreRow,
  storeAbilities,
  storeRows,
  storeRowsFor,
} from './store-contract.ts'
