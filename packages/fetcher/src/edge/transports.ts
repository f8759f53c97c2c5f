// Replaces transports.ts in runtimes without sockets.
export { FetchTransport } from '../fetch/fetch-transport.ts'
export { SocketTransports } from './socket-transports.ts'

export function decodersOf(): undefined {}
