// What the other packages use to see the bodies of pages as undici receives them. Runtimes without
// undici get edge/received-bodies.ts.
export { decodersOf, isDecodedByFetch } from './fetch/body.ts'
export { endsWithConnection, problemOfConnection } from './fetch/body-end.ts'
export { type BodyCheck, type CodingWatch, UNSEEN_CODING, watchCoding } from './fetch/coded-body.ts'
export { framingOf } from './fetch/request-observer.ts'
