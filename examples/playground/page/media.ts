/**
 * Shows images and sounds, and explains why one cannot be shown.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/server/tools#image-content
 */
import { el } from './dom.ts'

/** Bytes of a media type, as base64. */
export interface Bytes {
  data: string
  mimeType: string
}

/** Creates an image with its type and size; an explanation in its place if the browser cannot show it. */
export function picture(bytes: Bytes): HTMLElement {
  const image = el('img', { src: dataUrl(bytes), alt: 'Image from the server', class: 'picture' })
  const caption = el('figcaption', {}, describe(bytes))
  const figure = el('figure', { class: 'media' }, image, caption)
  image.addEventListener('load', () => {
    const { naturalWidth, naturalHeight } = image
    if (naturalWidth > 0) caption.prepend(`${naturalWidth} × ${naturalHeight}, `)
  })
  image.addEventListener('error', () => figure.replaceChildren(...broken('image', bytes)))
  return figure
}

/** Creates a player with the type and size of a sound. */
export function sound(bytes: Bytes): HTMLElement {
  const player = el('audio', { src: dataUrl(bytes), controls: true, 'aria-label': 'Sound' })
  const figure = el('figure', { class: 'media' }, player, el('figcaption', {}, describe(bytes)))
  player.addEventListener('error', () => figure.replaceChildren(...broken('sound', bytes)))
  return figure
}

/** Creates a link that downloads bytes. */
export function download(bytes: Bytes): HTMLElement {
  const href = dataUrl({ ...bytes, mimeType: 'application/octet-stream' })
  return el('a', { class: 'button', href, download: '' }, `Download ${sizeOf(bytes)}`)
}

function broken(kind: 'image' | 'sound', bytes: Bytes): Node[] {
  const { data, mimeType } = bytes
  const reason = faultOf(kind, bytes)
  return [
    el('p', { class: 'fault' }, `This ${kind} cannot be ${kind === 'image' ? 'shown' : 'played'}`),
    el('p', { class: 'note' }, `${reason}. The server sent ${sizeOf(bytes)} as “${mimeType}”.`),
    ...(isBase64(data) ? [download(bytes)] : []),
  ]
}

function faultOf(kind: 'image' | 'sound', { data, mimeType }: Bytes): string {
  if (!isBase64(data)) return 'Its data is not valid base64'
  if (data === '') return 'Its data is empty'
  const expected = kind === 'image' ? 'image/' : 'audio/'
  if (!mimeType.startsWith(expected)) return `Its media type does not begin with “${expected}”`
  if (kind === 'sound' && el('audio').canPlayType(mimeType) === '') {
    return 'This browser does not support its media type'
  }
  return 'Its data is damaged, or of another media type'
}

function isBase64(data: string): boolean {
  return data.length % 4 === 0 && /^[A-Za-z0-9+/]*={0,2}$/.test(data)
}

function describe(bytes: Bytes): string {
  return `${bytes.mimeType}, ${sizeOf(bytes)}`
}

/** The size of the bytes, such as `3.2 KB`. */
function sizeOf({ data }: Bytes): string {
  const padding = /={0,2}$/.exec(data.slice(-2))?.[0].length ?? 0
  const bytes = Math.floor(((data.length - padding) * 3) / 4)
  if (bytes < 1_000) return `${bytes} bytes`
  return bytes < 1_000_000 ? `${(bytes / 1_000).toFixed(1)} KB` : `${(bytes / 1e6).toFixed(1)} MB`
}

/** Creates a data URL of bytes. It contains only the plain media type, so the page never runs the data. */
function dataUrl({ data, mimeType }: Bytes): string {
  const plain = /^[\w.+-]+\/[\w.+-]+$/.test(mimeType) ? mimeType : 'application/octet-stream'
  return `data:${plain};base64,${data}`
}
