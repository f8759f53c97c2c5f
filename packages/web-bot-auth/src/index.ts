// The public API of `@politely/web-bot-auth`. Experimental: it follows drafts.

export { isPolitelyError, OptionError } from '@politely/core'
export type { RequestSigner, RequestToSign } from '@politely/fetcher'
export { SigningError } from './errors.ts'
export { signedInterceptor } from './interceptor.ts'
export { type DirectoryOptions, KeyDirectories } from './key-directories.ts'
export { type Jwk, jwkThumbprint } from './keys.ts'
export { type ProfileName, profiles } from './profiles.ts'
export type { SignedRequest } from './request-headers.ts'
export { signed } from './signed-fetch.ts'
export { type SignBytes, type Signer, type SignerOptions, signer } from './signer.ts'
export { type Verification, type VerifyOptions, verify } from './verify.ts'
