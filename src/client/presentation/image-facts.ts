/**
 * Reads the type, dimensions and number of frames of an image from its bytes. A client must check these
 * before it decodes an icon, and no platform has an API that reads them without decoding.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic#icons
 * @see https://www.w3.org/TR/png-3/#5Chunk-layout
 */

/** The properties of an image, read from its bytes. */
export interface ImageFacts {
  readonly type: 'image/png' | 'image/jpeg'
  /** Width in pixels. */
  readonly width: number
  /** Height in pixels. */
  readonly height: number
  readonly frames: number
}

/** The bytes of a PNG chunk in addition to its data: its length, type and checksum. */
const CHUNK_OVERHEAD = 12
const PNG_SIGNATURE = [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]

/** Reads the header of a PNG or JPEG; undefined if the bytes are neither. */
export function imageFacts(bytes: Uint8Array<ArrayBuffer>): ImageFacts | undefined {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  try {
    if (PNG_SIGNATURE.every((byte, at) => bytes[at] === byte)) return pngFacts(view)
    return bytes[0] === 0xff && bytes[1] === 0xd8 ? jpegFacts(view) : undefined
  } catch {
    // The header is truncated
    return undefined
  }
}

function pngFacts(view: DataView): ImageFacts | undefined {
  const chunkType = (at: number): string =>
    String.fromCharCode(...[4, 5, 6, 7].map((offset) => view.getUint8(at + offset)))
  if (chunkType(8) !== 'IHDR') return undefined
  let frames = 1
  // The chunk `acTL`, which describes an animation, comes before the first image data
  for (let at = 8; chunkType(at) !== 'IDAT'; at += CHUNK_OVERHEAD + view.getUint32(at)) {
    if (chunkType(at) === 'acTL') frames = view.getUint32(at + 8)
  }
  // The data of the first chunk begins at 16, with the width and the height
  return { type: 'image/png', width: view.getUint32(16), height: view.getUint32(20), frames }
}

function jpegFacts(view: DataView): ImageFacts | undefined {
  // Each segment begins with a marker of two bytes and a length, which includes its own two bytes
  for (let at = 2; view.getUint8(at) === 0xff; at += 2 + view.getUint16(at + 2)) {
    const marker = view.getUint8(at + 1)
    // C0 to CF begin a frame header, except C4 and CC, which begin tables, and C8, which is reserved
    if (marker >= 0xc0 && marker <= 0xcf && ![0xc4, 0xc8, 0xcc].includes(marker)) {
      const [height, width] = [view.getUint16(at + 5), view.getUint16(at + 7)]
      return { type: 'image/jpeg', width, height, frames: 1 }
    }
  }
  return undefined
}
