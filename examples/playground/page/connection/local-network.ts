/**
 * Whether the browser lets this page reach the local network.
 *
 * @see https://wicg.github.io/local-network-access/
 */

/**
 * Returns the permission for a URL. It is `granted` where the browser does not ask: for public hosts, and in
 * browsers without this permission.
 */
export async function localNetworkPermission(url: string): Promise<PermissionState> {
  const isPublic =
    !/^(?:localhost|127\.|10\.|192\.168\.|172\.(?:1[6-9]|2\d|3[01])\.|169\.254\.|\[)|\.local(?:host)?$/.test(
      new URL(url).hostname,
    )
  if (isPublic || /^(?:localhost|127\.|\[::1\])/.test(location.hostname)) return 'granted'
  try {
    // TypeScript does not know the name yet
    const name = 'local-network-access' as PermissionName
    return (await navigator.permissions.query({ name })).state
  } catch {
    return 'granted'
  }
}
