// The public API of `@politely/core/usage`: what may be done with a page, from all channels.

export type { ResponseHeaders } from './header-lines.ts'
export { type Answer, type Channel, type Purpose, purposes, type Statement, type UsageSource } from './purpose.ts'
export { headReader, type PageHead, type Usage, usageOf } from './stub.ts'
export {
  parseTdmrep,
  reservationIn,
  type TdmrepAnswer,
  type TdmrepFields,
  type TdmrepFile,
  type TdmrepPlaces,
  type TdmrepProblem,
  type TdmrepRule,
  type TdmrepSource,
  tdmrepOf,
  tdmrepTerms,
} from './tdmrep.ts'
