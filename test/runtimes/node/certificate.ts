import { createPrivateKey, generateKeyPairSync, sign, X509Certificate } from 'node:crypto'

/** A value in DER. */
function der(tag: number, ...parts: readonly Uint8Array[]): Buffer {
  const content = Buffer.concat(parts)
  const { length } = content
  const long = length < 256 ? [0x81, length] : [0x82, length >> 8, length & 255]
  const size = length < 128 ? [length] : long
  return Buffer.concat([Buffer.from([tag, ...size]), content])
}

const sequence = (...parts: readonly Uint8Array[]): Buffer => der(0x30, ...parts)
const object = (hex: string): Buffer => der(0x06, Buffer.from(hex, 'hex'))
const utcTime = (year: number): Buffer => der(0x17, Buffer.from(`${year % 100}0101000000Z`))

/**
 * Makes a certificate for `localhost` that is signed with its own key.
 *
 * @see https://www.rfc-editor.org/rfc/rfc5280#section-4.1
 */
export function selfSigned(): { cert: string; key: string } {
  const { privateKey, publicKey } = generateKeyPairSync('ec', {
    namedCurve: 'P-256',
    privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
    publicKeyEncoding: { type: 'spki', format: 'der' },
  })
  const ecdsaWithSha256 = sequence(object('2a8648ce3d040302'))
  const name = sequence(der(0x31, sequence(object('550403'), der(0x0c, Buffer.from('localhost')))))
  const alternativeNames = sequence(der(0x82, Buffer.from('localhost')))
  const year = new Date().getUTCFullYear()
  const signed = sequence(
    der(0xa0, der(0x02, Buffer.from([2]))), // Version 3
    der(0x02, Buffer.from([1])),
    ecdsaWithSha256,
    name,
    sequence(utcTime(year - 1), utcTime(year + 2)),
    name,
    publicKey,
    der(0xa3, sequence(sequence(object('551d11'), der(0x04, alternativeNames)))),
  )
  const signature = sign('sha256', signed, createPrivateKey(privateKey))
  const raw = sequence(signed, ecdsaWithSha256, der(0x03, Buffer.from([0]), signature))
  return { cert: new X509Certificate(raw).toString(), key: privateKey }
}
