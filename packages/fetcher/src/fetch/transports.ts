// What requests for robots.txt use, and what decodes bodies. Loaded by the first that needs them.

export { decodersOf } from './body.ts'
export { whyOther } from './decoded-again.ts'
export { FetchTransport } from './fetch-transport.ts'
export { SocketTransports } from './sockets/socket-transports.ts'
