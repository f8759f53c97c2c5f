// The public API of `@politely/web-bot-auth`. Experimental: it follows drafts.

export { isPolitelyError, OptionError } from '@politely/core'
export type { RequestSigner, RequestToSign } from '@politely/fetcher'
export { SigningError } from './errors.ts'
export { type SignedInterceptor, signedInterceptor } from './interceptor.ts'
export { type DirectoryOptions, KeyDirectories } from './key-directories.ts'
export { type Jwk, jwkThumbprint } from './keys.ts'
export { type Profile, type ProfileName, profiles } from './profiles.ts'
export type { HeadersLike, SignedRequest } from './request-headers.ts'
export { signed } from './signed-fetch.ts'
export { type SignBytes, type Signer, type SignerOptions, signer } from './signer.ts'
export { type InvalidReason, type UnverifiedReason, type Verification, type VerifyOptions, verify } from './verify.ts'
