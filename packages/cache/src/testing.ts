// The contract of a store of pages as test cases, for stores of others.
export {
  type PageStoreAbility,
  type PageStoreCase,
  type PageStoreKit,
  pageStoreCases,
} from './page-store-cases.ts'
