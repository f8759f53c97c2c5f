// The entry `@politely/web-bot-auth/operator`: keys, their directory, and what an operator
// publishes. Experimental: it follows drafts.

export { OptionError } from '@politely/core'
export { checkDirectory } from './check-directory.ts'
export type { DnsResolver } from './check-dns.ts'
export { type CheckIdentityOptions, checkIdentity } from './check-identity.ts'
export { type DirectoryContent, type KeptKey, type SignedDirectory, signDirectory } from './directory.ts'
export { type DirectoryHandler, directoryHandler } from './directory-handler.ts'
export { IdentityFileError, KeyFileError } from './errors.ts'
export type { Finding, FindingCode } from './finding.ts'
export { type Identity, parseIdentity } from './identity.ts'
export { type IdentityFiles, type IdentityFilesOptions, identityFiles } from './identity-files.ts'
export type { IpRange } from './ip-range.ts'
export { createKey, keyText, type OwnKey, readKeyFile, rotateKey } from './key-file.ts'
