import { startTcpProxy, type TcpProxy } from '@politely/testkit/servers/tcp-proxy'

export type RedisProxy = TcpProxy & { readonly url: string }

/** Starts a proxy in front of a Redis server. It ends with its test. */
export async function startRedisProxy(port: number): Promise<RedisProxy> {
  const proxy = await startTcpProxy(port)
  return Object.assign(proxy, { url: `redis://${proxy.host}` })
}
