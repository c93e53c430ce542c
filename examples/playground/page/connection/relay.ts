/**
 * The relay of `edgewise inspect`, which serves this page and forwards its requests to a server.
 *
 * @see https://fetch.spec.whatwg.org/#http-cors-protocol
 */

/** Returns the URL of the server that this page is served with. */
export const ownServer = (): string => new URL('mcp', document.baseURI).href

/** Returns the URL of the server to which requests for a URL are forwarded; `undefined` if they are not. */
export function relayedUrl(url: string): string | undefined {
  if (url !== ownServer()) return undefined
  return document.querySelector<HTMLMetaElement>('meta[name=relayed-server]')?.content
}
