// The public API of `@politely/testing/cases`.

export type { CaseClock } from './case-clock.ts'
export { circuitCases } from './circuit-cases.ts'
export { type PacerAbility, type PacerCase, pacerCases } from './pacer-cases.ts'
export type { PacerKit } from './pacer-script.ts'
export { type PageStoreAbility, type PageStoreCase, type PageStoreKit, pageStoreCases } from './page-store-cases.ts'
export { type StoreAbility, type StoreCase, type StoreKit, storeCases, storeCasesFor } from './store-cases.ts'
