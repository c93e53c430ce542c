/**
 * Icons that servers name: which of them may be shown, and how to get one without trusting it.
 *
 * @see https://modelcontextprotocol.io/specification/2025-11-25/basic#icons
 */
import { readBytes } from '../../patterns/bounded-read.ts'
import { isOriginIn } from '../../patterns/origin.ts'
import { McpError } from '../../protocol/errors.ts'
import type { Icon } from '../../protocol/types.ts'
import { isObject } from '../../protocol/validate.ts'
import { imageFacts } from './image-facts.ts'

/** What an icon may be. */
export interface IconPolicy {
  /** The endpoint of the server that names the icon. */
  readonly serverUrl: string | URL
  /** The origins that icons may come from beside the server's own, such as `https://cdn.example`. */
  readonly allowedOrigins?: readonly string[]
}

/** Which icon is wanted. */
export interface IconPreferences extends IconPolicy {
  /** The background that it is for. */
  readonly theme?: 'light' | 'dark'
  /** Its width and height in pixels; 48 by default. */
  readonly size?: number
}

/** How an icon is fetched. */
export interface IconLimits extends IconPolicy {
  /** The most bytes; 1 MiB by default. */
  readonly maxBytes?: number
  /** The most pixels in width and in height; 1024 by default. */
  readonly maxPixels?: number
  /** Sends requests. Default: the global `fetch`. */
  readonly fetch?: (url: string, init: RequestInit) => Promise<Response>
}

/** Types by what is said of images; all else is refused, SVG too, as it can hold programs. */
const TYPES: Readonly<Record<string, string>> = {
  'image/png': 'image/png',
  'image/jpeg': 'image/jpeg',
  'image/jpg': 'image/jpeg',
}
const DATA = /^data:(image\/[a-z]+);base64,([a-z\d+/]*={0,2})$/i

/**
 * The icon to show: of those that are well-formed, PNG or JPEG as far as they say, and from an
 * origin that is allowed, the one for the theme and nearest in size.
 */
export function selectIcon(icons: unknown, wish: IconPreferences): Icon | undefined {
  const { theme, size = 48 } = wish
  const usable = Array.isArray(icons) ? icons.filter((icon) => isUsable(icon, wish)) : []
  const distance = (icon: Icon): number =>
    (theme && icon.theme && icon.theme !== theme ? 1e6 : 0) +
    Math.min(...(icon.sizes ?? ['any']).map((one) => sizeDistance(one, size)))
  return usable.toSorted((a, b) => distance(a) - distance(b))[0]
}

/**
 * Gets an icon, without credentials and without following it elsewhere, and looks at what it is.
 *
 * @throws {McpError} `INVALID_USE` when the icon may not be shown; `HTTP` when it is not there;
 *   `LIMIT_EXCEEDED` when it is too large; `INVALID_MESSAGE` when it is not what it says.
 */
export async function loadIcon(
  icon: Icon,
  limits: IconLimits,
): Promise<{ mimeType: string; bytes: Uint8Array<ArrayBuffer> }> {
  const { maxBytes = 1_048_576, maxPixels = 1024 } = limits
  const { src } = icon
  if (!isUsable(icon, limits)) {
    throw new McpError('INVALID_USE', `The icon "${src.slice(0, 200)}" may not be shown`)
  }
  const { type, bytes } = await read(src, maxBytes, limits)
  const mimeType = TYPES[type]
  const facts = imageFacts(bytes)
  const said = icon.mimeType === undefined ? mimeType : TYPES[icon.mimeType.toLowerCase()]
  if (!facts || facts.type !== mimeType || said !== mimeType || facts.frames > 1) {
    throw new McpError('INVALID_MESSAGE', 'The icon is not the image that it says')
  }
  if (Math.max(facts.width, facts.height) > maxPixels) throw tooLarge()
  return { mimeType, bytes }
}

function isUsable(icon: unknown, { serverUrl, allowedOrigins = [] }: IconPolicy): icon is Icon {
  if (!isObject(icon)) return false
  const { src, mimeType, sizes, theme } = icon
  if (typeof src !== 'string' || !URL.canParse(src)) return false
  if (mimeType !== undefined && !(typeof mimeType === 'string' && TYPES[mimeType.toLowerCase()])) {
    return false
  }
  const isSize = (size: unknown): boolean => /^(?:\d+x\d+|any)$/.test(String(size))
  if (sizes !== undefined && !(Array.isArray(sizes) && sizes.every(isSize))) return false
  if (theme !== undefined && theme !== 'light' && theme !== 'dark') return false
  const { protocol, origin } = new URL(src)
  if (protocol === 'data:') return DATA.test(src)
  if (protocol !== 'https:') return false
  return origin === new URL(serverUrl).origin || isOriginIn(allowedOrigins, origin)
}

function sizeDistance(size: string, wanted: number): number {
  if (size === 'any') return 0.5
  const [width = 0] = size.split('x').map(Number)
  // Better to make a large one smaller than a small one larger
  return width >= wanted ? width - wanted : (wanted - width) * 100
}

async function read(
  src: string,
  maxBytes: number,
  { fetch = (url, init) => globalThis.fetch(url, init) }: IconLimits,
): Promise<{ type: string; bytes: Uint8Array<ArrayBuffer> }> {
  const [, type = '', data = ''] = DATA.exec(src) ?? []
  if (type) {
    if (data.length * 0.75 > maxBytes) throw tooLarge()
    const bytes = Uint8Array.from(atob(data), (character) => character.charCodeAt(0))
    return { type: type.toLowerCase(), bytes }
  }
  const quiet: RequestInit = 'credentials' in Request.prototype ? { credentials: 'omit' } : {}
  const response = await fetch(src, { ...quiet, redirect: 'manual', referrerPolicy: 'no-referrer' })
  if (response.status !== 200 || response.redirected) {
    await response.body?.cancel()
    throw new McpError('HTTP', 'The icon is not there', { data: { status: response.status } })
  }
  const [named = ''] = (response.headers.get('content-type') ?? '').split(';')
  const bytes = await readBytes(response.body, maxBytes)
  if (!bytes) throw tooLarge()
  return { type: named.trim().toLowerCase(), bytes: bytes.slice() }
}

function tooLarge(): McpError {
  return new McpError('LIMIT_EXCEEDED', 'The icon is too large')
}
