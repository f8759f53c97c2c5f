// The flags of the command. `politely serve` of the package `politely` has the same.
import { ALLOW_ADDRESS, type Flag, MIN_DELAY, USER_AGENT } from '@politely/core/flags'

export const SERVE_FLAGS: readonly Flag[] = [
  USER_AGENT,
  { name: 'port', value: 'NUMBER', text: 'the TCP port', byDefault: '7420' },
  {
    name: 'host',
    value: 'ADDRESS',
    text: 'the address to listen at; any other than loopback needs --tokens, and --tls-cert or --behind-tls',
    byDefault: '127.0.0.1',
  },
  { name: 'socket', value: 'PATH', text: 'listen at a UNIX socket, which only your user may open, instead of TCP' },
  { name: 'tokens', value: 'FILE', text: 'the tokens of callers, one on each line; read again on SIGHUP' },
  { name: 'tls-cert', value: 'FILE', text: 'the certificate of the server, in PEM' },
  { name: 'tls-key', value: 'FILE', text: 'the private key of the certificate' },
  { name: 'behind-tls', text: 'a proxy in front of the server ends TLS' },
  { name: 'host-name', value: 'NAME', text: 'a name of the server, for the Host header', isRepeatable: true },
  {
    name: 'key',
    value: 'FILE',
    text: 'the key of permits, so that they stay valid after a restart and at other servers with the same key; created if necessary. The first of several signs, all are read',
    isRepeatable: true,
  },
  {
    name: 'max-lease',
    value: 'SECONDS',
    text: 'how long after its grant a permit counts at most, however often it is renewed',
    byDefault: '600',
  },
  { name: 'allow-private', text: 'callers over TCP may ask for private hosts too' },
  ALLOW_ADDRESS,
  MIN_DELAY,
  { name: 'max-delay', value: 'SECONDS', text: 'the longest crawl-delay that counts', defaultText: 'no limit' },
  { name: 'max-per-site', value: 'NUMBER', text: 'how many requests to one site may be under way', byDefault: '1' },
  { name: 'max-requests', value: 'NUMBER', text: 'how many requests may be under way in all', byDefault: '10000' },
  {
    name: 'store',
    value: 'NAME',
    text: 'where robots.txt is kept: redis or postgres, shared by several servers; none; or an SQLite file, which needs the package @politely/sqlite',
    defaultText: 'where --pacer keeps the pace',
  },
  {
    name: 'pacer',
    value: 'NAME',
    text: 'who keeps the pace; with redis or postgres, several servers share it. Needs the packages @politely/redis and ioredis, or @politely/postgres and pg',
    choices: ['local', 'redis', 'postgres'],
    byDefault: 'local',
  },
  { name: 'redis', value: 'URL', text: 'the Redis of --pacer and --store', byDefault: 'redis://127.0.0.1:6379' },
  {
    name: 'postgres',
    value: 'URL',
    text: 'the database of --pacer and --store, with the schema that migrate has made',
    defaultText: 'none',
  },
  { name: 'fetch', text: 'callers may let the server request pages: POST /v1/fetch' },
]
