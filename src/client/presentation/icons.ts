/**
 * The icons of servers: which of them may be shown, and how to load an icon without trusting it.
 *
 * @see https://modelcontextprotocol.io/specification/2025-11-25/basic#icons
 */
import { readBytes } from '../../patterns/bounded-read.ts'
import { isOriginIn } from '../../patterns/origin.ts'
import { SdkError } from '../../protocol/errors.ts'
import type { Icon } from '../../protocol/types.ts'
import { isObject } from '../../protocol/validate.ts'
import { imageFacts } from './image-facts.ts'
import { parseUrl } from '../../patterns/url.ts'

/** Which icons are allowed. */
export interface IconPolicy {
  /** The endpoint of the server that the icon belongs to. */
  readonly serverUrl: string | URL
  /** Origins that icons may come from in addition to the server's own, such as `https://cdn.example`. */
  readonly allowedOrigins?: readonly string[]
}

/** Which icon is preferred. */
export interface IconPreferences extends IconPolicy {
  /** The background that the icon is shown on. */
  readonly theme?: 'light' | 'dark'
  /**
   * The width and height in pixels.
   *
   * @default 48
   */
  readonly size?: number
}

/** The limits for loading an icon. */
export interface IconLimits extends IconPolicy {
  /**
   * The maximum size in bytes.
   *
   * @default 1048576
   */
  readonly maxBytes?: number
  /**
   * The maximum width and height in pixels.
   *
   * @default 1024
   */
  readonly maxPixels?: number
  /**
   * Sends requests.
   *
   * @default fetch
   */
  readonly fetch?: (url: string, init: RequestInit) => Promise<Response>
}

/**
 * For each MIME type that an icon may declare, the type of its bytes. All other types are rejected,
 * including SVG, which can contain scripts.
 */
const IMAGE_TYPES: Readonly<Record<string, string>> = {
  'image/png': 'image/png',
  'image/jpeg': 'image/jpeg',
  'image/jpg': 'image/jpeg',
}
/** Matches a data URL. The groups are the MIME type and the Base64 data. */
const DATA_URL = /^data:(image\/[a-z]+);base64,([a-z\d+/]*={0,2})$/i

/**
 * Added to the distance of an icon for the other theme. It exceeds every difference in size, so that any
 * icon for the right theme is preferred.
 */
const WRONG_THEME_DISTANCE = 1_000_000
/** Scaling an icon up by one pixel is as bad as scaling it down by this many pixels. */
const UPSCALING_FACTOR = 100

/**
 * Selects the icon that best matches the theme and size. Icons are considered only if they are well
 * formed, come from an allowed origin, and are declared as PNG or JPEG or without a type. Returns
 * `undefined` if no icon is left.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic#icons
 */
export function selectIcon(icons: unknown, preferences: IconPreferences): Icon | undefined {
  const { theme, size = 48 } = preferences
  const usable = Array.isArray(icons) ? icons.filter((icon) => isUsable(icon, preferences)) : []
  /** How far an icon is from the preferences. */
  const distance = (icon: Icon): number =>
    (theme && icon.theme && icon.theme !== theme ? WRONG_THEME_DISTANCE : 0) +
    Math.min(...(icon.sizes ?? ['any']).map((available) => sizeDistance(available, size)))
  return usable.toSorted((a, b) => distance(a) - distance(b))[0]
}

/**
 * Loads an icon, without credentials and without following redirects, and checks its bytes.
 * Resolves with the bytes and their MIME type.
 *
 * @example
 * ```ts
 * import { connect, loadIcon, selectIcon } from 'edgewise/client'
 *
 * const serverUrl = 'https://example.com/mcp'
 * await using client = await connect(serverUrl)
 * const icon = selectIcon(client.serverInfo?.icons, { serverUrl, theme: 'dark', size: 32 })
 * const image = icon && (await loadIcon(icon, { serverUrl }))
 * ```
 *
 * @throws {SdkError} `INVALID_USE` if the icon may not be shown; `HTTP` if the response is not a
 *   200; `LIMIT_EXCEEDED` if it is too large; `INVALID_MESSAGE` if its bytes do not match its
 *   declared type.
 * @throws What `fetch` rejects with if there is no response.
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic#icons
 */
export async function loadIcon(
  icon: Icon,
  limits: IconLimits,
): Promise<{ mimeType: string; bytes: Uint8Array<ArrayBuffer> }> {
  const { maxBytes = 1_048_576, maxPixels = 1024 } = limits
  const { src } = icon
  if (!isUsable(icon, limits)) {
    throw new SdkError('INVALID_USE', `The icon "${src.slice(0, 200)}" may not be shown`)
  }
  const { type, bytes } = await readImage(src, maxBytes, limits)
  const mimeType = IMAGE_TYPES[type]
  const facts = imageFacts(bytes)
  const declaredType =
    icon.mimeType === undefined ? mimeType : IMAGE_TYPES[icon.mimeType.toLowerCase()]
  if (!facts || facts.type !== mimeType || declaredType !== mimeType || facts.frames > 1) {
    throw new SdkError('INVALID_MESSAGE', 'The icon is not an image of its MIME type')
  }
  if (Math.max(facts.width, facts.height) > maxPixels) throw tooLarge()
  return { mimeType, bytes }
}

function isUsable(icon: unknown, { serverUrl, allowedOrigins = [] }: IconPolicy): icon is Icon {
  if (!isObject(icon)) return false
  const { src, mimeType, sizes, theme } = icon
  if (typeof src !== 'string' || !parseUrl(src)) return false
  if (
    mimeType !== undefined &&
    (typeof mimeType !== 'string' || !IMAGE_TYPES[mimeType.toLowerCase()])
  ) {
    return false
  }
  const isSize = (size: unknown): boolean => /^(?:\d+x\d+|any)$/.test(String(size))
  if (sizes !== undefined && (!Array.isArray(sizes) || !sizes.every(isSize))) return false
  if (theme !== undefined && theme !== 'light' && theme !== 'dark') return false
  const { protocol, origin } = new URL(src)
  if (protocol === 'data:') return DATA_URL.test(src)
  if (protocol !== 'https:') return false
  return origin === new URL(serverUrl).origin || isOriginIn(allowedOrigins, origin)
}

/** How far a declared size is from the wanted size. Only widths are compared. */
function sizeDistance(size: string, wanted: number): number {
  // A scalable icon is better than any other size, but not better than the exact size
  if (size === 'any') return 0.5
  const [width = 0] = size.split('x').map(Number)
  return width >= wanted ? width - wanted : (wanted - width) * UPSCALING_FACTOR
}

async function readImage(
  src: string,
  maxBytes: number,
  { fetch = (url, init) => globalThis.fetch(url, init) }: IconLimits,
): Promise<{ type: string; bytes: Uint8Array<ArrayBuffer> }> {
  const [, type = '', data = ''] = DATA_URL.exec(src) ?? []
  if (type) {
    // Four characters of Base64 encode three bytes
    if ((data.length * 3) / 4 > maxBytes) throw tooLarge()
    const bytes = Uint8Array.from(atob(data), (character) => character.charCodeAt(0))
    return { type: type.toLowerCase(), bytes }
  }
  const withoutCredentials: RequestInit =
    'credentials' in Request.prototype ? { credentials: 'omit' } : {}
  const response = await fetch(src, {
    ...withoutCredentials,
    redirect: 'manual',
    referrerPolicy: 'no-referrer',
  })
  if (response.status !== 200 || response.redirected) {
    await response.body?.cancel()
    throw new SdkError('HTTP', 'The icon was not found', { data: { status: response.status } })
  }
  const [contentType = ''] = (response.headers.get('content-type') ?? '').split(';')
  const bytes = await readBytes(response.body, maxBytes)
  if (!bytes) throw tooLarge()
  return { type: contentType.trim().toLowerCase(), bytes: bytes.slice() }
}

function tooLarge(): SdkError {
  return new SdkError('LIMIT_EXCEEDED', 'The icon is too large')
}
