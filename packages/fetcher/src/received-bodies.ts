// What the other packages use to see the bodies of pages as undici receives them. Runtimes without
// undici get edge/received-bodies.ts.
export { type BodyCheck, type CodingWatch, UNSEEN_CODING, watchCoding } from './fetch/coded-body.ts'
export { endsWithConnection, framingOf, isDecodedByFetch, problemOfConnection } from './fetch/framing.ts'
export { loadTransports } from './fetch/load-transports.ts'
