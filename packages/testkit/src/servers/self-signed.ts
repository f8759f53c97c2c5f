// Creates certificates for one host while the test runs, without files, tools or an expiry date.
import { generateKeyPairSync, sign } from 'node:crypto'

export interface Certificate {
  /** PEM. */
  readonly key: string
  /** PEM. */
  readonly cert: string
}

/**
 * X.509 v1 (RFC 5280 §4.1 without extensions) with a P-256 key (RFC 5480): Chromium does not
 * support Ed25519.
 */
export function selfSigned(host: string, until = '99991231235959Z'): Certificate {
  return createCertificate(host, host, until)
}

/**
 * Creates a certificate whose issuer is missing. It names a URL where a client can get the issuer's
 * certificate (RFC 5280 §4.2.2.1, `caIssuers`).
 */
export function withoutIssuer(host: string, issuerUrl: string): Certificate {
  const location = element(URI, Buffer.from(issuerUrl))
  const access = element(OCTET_STRING, sequence(sequence(CA_ISSUERS, location)))
  const extensions = element(EXTENSIONS, sequence(sequence(AUTHORITY_INFO_ACCESS, access)))
  return createCertificate(host, 'Missing Issuer', '99991231235959Z', extensions)
}

function createCertificate(host: string, issuer: string, until: string, extensions?: Buffer): Certificate {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const toBeSigned = sequence(
    ...(extensions === undefined ? [] : [element(VERSION, element(INTEGER, Buffer.of(2)))]), // v3
    element(INTEGER, Buffer.of(1)), // serial number
    ECDSA_SHA256,
    nameOf(issuer),
    sequence(time('20000101000000Z'), time(until)), // validity
    nameOf(host), // subject
    publicKey.export({ type: 'spki', format: 'der' }),
    ...(extensions === undefined ? [] : [extensions]),
  )
  const signature = element(BIT_STRING, Buffer.of(0), sign('sha256', toBeSigned, privateKey))
  const lines =
    sequence(toBeSigned, ECDSA_SHA256, signature)
      .toString('base64')
      .match(/.{1,64}/g) ?? []
  return {
    key: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
    cert: ['-----BEGIN CERTIFICATE-----', ...lines, '-----END CERTIFICATE-----', ''].join('\n'),
  }
}

// The parts of DER (X.690) that the certificate needs.
const INTEGER = 0x02
const BIT_STRING = 0x03
const OCTET_STRING = 0x04
const OBJECT_IDENTIFIER = 0x06
const UTF8_STRING = 0x0c
const GENERALIZED_TIME = 0x18
const SEQUENCE = 0x30
const SET = 0x31
/** Tags of fields of a certificate (RFC 5280 §4.1), and of a URI in a `GeneralName` (§4.2.1.6). */
const VERSION = 0xa0
const EXTENSIONS = 0xa3
const URI = 0x86

const COMMON_NAME = element(OBJECT_IDENTIFIER, Buffer.of(0x55, 4, 3)) // 2.5.4.3
const ECDSA_SHA256 = sequence(element(OBJECT_IDENTIFIER, Buffer.of(0x2a, 0x86, 0x48, 0xce, 0x3d, 4, 3, 2))) // 1.2.840.10045.4.3.2
// 1.3.6.1.5.5.7.1.1 and 1.3.6.1.5.5.7.48.2
const AUTHORITY_INFO_ACCESS = element(OBJECT_IDENTIFIER, Buffer.of(0x2b, 6, 1, 5, 5, 7, 1, 1))
const CA_ISSUERS = element(OBJECT_IDENTIFIER, Buffer.of(0x2b, 6, 1, 5, 5, 7, 48, 2))

function nameOf(commonName: string): Buffer {
  return sequence(element(SET, sequence(COMMON_NAME, element(UTF8_STRING, Buffer.from(commonName)))))
}

function element(tag: number, ...parts: readonly Buffer[]): Buffer {
  const { length } = Buffer.concat(parts)
  const size = length < 0x80 ? [length] : length < 0x100 ? [0x81, length] : [0x82, length >> 8, length & 0xff]
  return Buffer.concat([Buffer.of(tag, ...size), ...parts])
}

function sequence(...parts: readonly Buffer[]): Buffer {
  return element(SEQUENCE, ...parts)
}

function time(generalized: string): Buffer {
  return element(GENERALIZED_TIME, Buffer.from(generalized))
}
