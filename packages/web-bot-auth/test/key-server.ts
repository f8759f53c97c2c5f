// A local https server with a key set for tests, and a signer whose key is in it.
import { generateKeyPairSync } from 'node:crypto'
import { lookupIn } from '@politely/testkit/servers/lookup'
import { selfSigned } from '@politely/testkit/servers/self-signed'
import { type Sites, startSites } from '@politely/testkit/servers/sites'
import { onTestFinished, vi } from 'vitest'
import { type Jwk, KeyDirectories, type Signer, type SignerOptions, signer } from '../src/index.ts'
import type { DirectoryOptions } from '../src/key-directories.ts'
import { DIRECTORY_PATH } from '../src/profiles.ts'

export const KEYS_URL: string = `https://bot.test:PORT${DIRECTORY_PATH}`

export function newKey(): { readonly privateKey: Jwk; readonly publicKey: Jwk } {
  const { privateKey, publicKey } = generateKeyPairSync('ed25519')
  return {
    privateKey: privateKey.export({ format: 'jwk' }) as Jwk,
    publicKey: publicKey.export({ format: 'jwk' }) as Jwk,
  }
}

/**
 * Returns other text for the same 32 bytes: the last digit of their base64url has two unused bits.
 */
export function otherSpelling(x: string): string {
  const digits = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_'
  return x.slice(0, -1) + digits[digits.indexOf(x.at(-1) as string) ^ 1]
}

export interface KeyServer {
  readonly sites: Sites
  readonly key: ReturnType<typeof newKey>
  /** Serves these keys from now on. */
  serve(keys: readonly Jwk[], headers?: Readonly<Record<string, string>>): void
  signer(options?: Partial<SignerOptions>): Signer
  directories(options?: DirectoryOptions): KeyDirectories
}

/** Starts a server that is closed when the test ends. Certificates are not checked meanwhile. */
export async function startKeyServer(): Promise<KeyServer> {
  vi.stubEnv('NODE_TLS_REJECT_UNAUTHORIZED', '0')
  onTestFinished(() => void vi.unstubAllEnvs())
  const sites = await startSites({ certificate: selfSigned('bot.test') })
  onTestFinished(() => sites.close())
  const key = newKey()
  const serve: KeyServer['serve'] = (keys, headers = {}) =>
    sites.respond(KEYS_URL, { status: 200, headers, body: JSON.stringify({ keys }) })
  serve([key.publicKey])
  return {
    sites,
    key,
    serve,
    signer: (options) =>
      signer({ key: key.privateKey, agent: sites.withPort('https://bot.test:PORT'), profile: 'ietf-01', ...options }),
    directories: (options) => new KeyDirectories({ lookup: lookupIn(), allowAddresses: ['127.0.0.0/8'], ...options }),
  }
}
