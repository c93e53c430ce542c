/**
 * Recognizes hosts that are not on the public Internet, so that a URL from a peer cannot make a
 * server or client send requests into its own network.
 *
 * @see https://www.iana.org/assignments/iana-ipv4-special-registry
 * @see https://www.iana.org/assignments/iana-ipv6-special-registry
 */

/**
 * Addresses that are not on the public Internet: loopback, private, link-local, reserved, test and
 * other special-purpose addresses, the metadata services and private endpoints of clouds that have
 * public-looking addresses, and IPv6 addresses that embed other addresses or are not global.
 *
 * @see https://www.iana.org/assignments/iana-ipv4-special-registry
 * @see https://www.iana.org/assignments/iana-ipv6-special-registry
 */
const PRIVATE_ADDRESS =
  /^(?:(?:0|10|127|169\.254|192\.168|172\.(?:1[6-9]|2\d|3[01])|100\.(?:6[4-9]|[7-9]\d|1[01]\d|12[0-7])|192\.(?:0\.[02]|31\.196|52\.193|80\.8(?=\.124$)|88\.99|175\.48)|161\.26|166\.(?:[89]|1[01])|168\.63\.129(?=\.16$)|198\.1[89]|198\.51\.100|203\.0\.113|22[4-9]|2[3-5]\d)\.[\d.]+|\[(?:(?![23][\da-f]{3}:)|2001:(?::|1?[\da-f]{1,2}:|db8:)|2002:|2620:4f:8000:|3fff:).*)$/

/** Local names, and names without a dot. */
const PRIVATE_NAME =
  /^(?:[^.[]+\.?|.*\.(?:localhost|local|localdomain|internal|intranet|private|home\.arpa|home|lan|corp|svc)\.?)$/

/**
 * Whether a host, as normalized by `URL`, is not on the public Internet. The normalization gives each address
 * a single form. Names are not resolved.
 */
export function isPrivateHost(hostname: string): boolean {
  return PRIVATE_ADDRESS.test(hostname) || PRIVATE_NAME.test(hostname)
}

/** Whether a host, as normalized by `URL`, is a public name, and not an address. */
export function isPublicName(hostname: string): boolean {
  return !PRIVATE_NAME.test(hostname) && !/^\[|^[\d.]+$/.test(hostname)
}
