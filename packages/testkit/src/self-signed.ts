// Creates a self-signed certificate while the test runs, without files, tools or an expiry date.
import { generateKeyPairSync, sign } from 'node:crypto'

export interface Certificate {
  /** PEM. */
  readonly key: string
  /** PEM. */
  readonly cert: string
}

/** X.509 v1 (RFC 5280 §4.1 without extensions) with a P-256 key (RFC 5480): Chromium does not support Ed25519. */
export function selfSigned(host: string, until = '99991231235959Z'): Certificate {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const name = sequence(element(SET, sequence(COMMON_NAME, element(UTF8_STRING, Buffer.from(host)))))
  const toBeSigned = sequence(
    element(INTEGER, Buffer.of(1)), // serial number
    ECDSA_SHA256,
    name, // issuer
    sequence(time('20000101000000Z'), time(until)), // validity
    name, // subject
    publicKey.export({ type: 'spki', format: 'der' }),
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
const OBJECT_IDENTIFIER = 0x06
const UTF8_STRING = 0x0c
const GENERALIZED_TIME = 0x18
const SEQUENCE = 0x30
const SET = 0x31

const COMMON_NAME = element(OBJECT_IDENTIFIER, Buffer.of(0x55, 4, 3)) // 2.5.4.3
const ECDSA_SHA256 = sequence(element(OBJECT_IDENTIFIER, Buffer.of(0x2a, 0x86, 0x48, 0xce, 0x3d, 4, 3, 2))) // 1.2.840.10045.4.3.2

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
