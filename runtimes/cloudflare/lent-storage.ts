/**
 * By which storage a request is served.
 *
 * @see https://developers.cloudflare.com/durable-objects/api/sqlite-storage-api/
 */
const storages = new WeakMap<Request, DurableObjectStorage>()

/** Notes by which storage a request is served. */
export function lendStorage(request: Request, storage: DurableObjectStorage): void {
  storages.set(request, storage)
}

/** The storage by which a request is served; none outside of sessions on Cloudflare. */
export function lentStorage(request: Request): DurableObjectStorage | undefined {
  return storages.get(request)
}
